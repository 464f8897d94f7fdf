/** A hook from the members of a file, or from an entry of a list of them. */

import { closest } from '../../core/contract/closest.ts';
import type { FileGrants, HookArtifact, ScriptText } from '../artifact.ts';
import type { Member } from './frontmatter.ts';
import { readScript } from './read-script.ts';
import { readGrants } from './read-settings.ts';
import type { Naming } from './read-tool.ts';
import { type FileScope, kinds, quoted, readKeys, readValue } from './scope.ts';
import { words } from '../../system/words.ts';

/** Everything a hook can be for. `custom.<name>` and `meta.<name>` are there, too. */
export const HOOK_EVENTS: readonly string[] = words(`
  session.start session.end turn.start turn.end tool.pre tool.post completion.pre
  completion.post delegate.pre delegate.post delegation.pre delegation.post
  delegation.post_verify agent.stop error
`);

const OWN_EVENT = /^(?:custom|meta)\.[A-Za-z0-9_.-]{1,100}$/;

const FILE_HINTS = {
  name: 'a hook is called like its file',
  handler: 'a hook is called like its file',
  description: 'the body of the file is for people',
};
const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,127}$/;

/** `null` where it has no script: that was reported. `index` is its place in its list. */
export function readHook(
  scope: FileScope,
  members: readonly Member[],
  { name, at, isEntry }: Naming,
  index: number,
): HookArtifact | null {
  const owner = `hook ${quoted(name)}`;
  checkName(scope, name, at);
  let event: string | undefined;
  let priority = 0;
  let when: ScriptText | undefined;
  let script: ScriptText | undefined;
  let grants: FileGrants = {};
  let isSaid = false;
  readKeys(
    scope,
    owner,
    members,
    {
      ...(isEntry
        ? {
            name: () => {},
            description: (member: Member) => void readValue(scope, owner, member, kinds.text),
          }
        : {}),
      event: (member) => {
        isSaid = true;
        event = readEvent(scope, member, index);
      },
      priority: (member) => void (priority = readPriority(scope, owner, member)),
      when: (member) => void (when = readScript(scope, owner, member)),
      script: (member) => void (script = readScript(scope, owner, member)),
      grants: (member) => void (grants = readGrants(scope, owner, member)),
    },
    isEntry ? {} : FILE_HINTS,
  );
  if (!isSaid) scope.report(at, `${owner}: event field is required in frontmatter`);
  if (!members.some(({ key, value }) => key === 'script' && value !== null))
    scope.report(at, `${owner} needs a script with handle(event, payload)`);
  if (script === undefined) return null;
  return Object.freeze({
    kind: 'hook',
    name,
    file: scope.file,
    ...at,
    // A wrong event was reported, and nothing runs on the empty one; the script is still checked.
    event: event ?? '',
    priority,
    script,
    grants,
    ...(when === undefined ? {} : { when }),
  });
}

function checkName(scope: FileScope, name: string, at: Naming['at']): void {
  if (NAME.test(name)) return;
  scope.report(
    at,
    `hook ${quoted(name)} must be called by a letter, then up to 127 letters, digits, "_", "." or "-"`,
    'name',
  );
}

function readEvent(scope: FileScope, member: Member, index: number): string | undefined {
  const value = scope.frontmatter.dataOf(member.value);
  if (typeof value === 'string' && (HOOK_EVENTS.includes(value) || OWN_EVENT.test(value)))
    return value;
  const shown =
    typeof value === 'string' ? value : (scope.frontmatter.scalarOf(member.value)?.source ?? '');
  const guess = closest(shown, HOOK_EVENTS);
  scope.report(
    member.at,
    `hooks[${index}].event ${quoted(shown)} is invalid${guess === undefined ? '' : `; did you mean "${guess}"?`}`,
  );
  return undefined;
}

function readPriority(scope: FileScope, owner: string, member: Member): number {
  const value = scope.frontmatter.dataOf(member.value);
  if (Number.isSafeInteger(value)) return Number(value);
  scope.report(member.at, `${owner} priority must be a whole number`);
  return 0;
}
