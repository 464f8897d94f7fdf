/**
 * Files that hold several tools and hooks: bundles, and `harness.md`, which may also say what its
 * ancestor's did of model and tools. The model is not ours: it is checked, and nothing is done with
 * it.
 */

import { matchesTool } from '../../core/contract/layer.ts';
import type { HookArtifact, ToolArtifact } from '../artifact.ts';
import type { Member } from './frontmatter.ts';
import { readHook } from './read-hook.ts';
import { readTool } from './read-tool.ts';
import { type FileScope, kinds, quoted, readKeys, readValue } from './scope.ts';

export interface Bundle {
  readonly tools: readonly ToolArtifact[];
  readonly hooks: readonly HookArtifact[];
  readonly policy: ToolsPolicy | null;
}

/**
 * `isHarness`: the file may also say what its ancestor's did of model and tools; the body is for
 * people.
 */
export function readBundle(scope: FileScope, isHarness: boolean): Bundle {
  let tools: readonly ToolArtifact[] = [];
  let hooks: readonly HookArtifact[] = [];
  let policy: ToolsPolicy | null = null;
  const owner = isHarness ? 'harness.md' : 'a bundle';
  const text = (member: Member): void => void readValue(scope, owner, member, kinds.text);
  readKeys(scope, owner, scope.frontmatter.members, {
    tools: (member) =>
      void (tools = entriesOf(scope, member, 'tools').flatMap((entry) => toolFrom(scope, entry))),
    hooks: (member) =>
      void (hooks = entriesOf(scope, member, 'hooks').flatMap((entry) => hookFrom(scope, entry))),
    name: text,
    description: text,
    ...(isHarness
      ? {
          model: (member: Member) => readModel(scope, member),
          tools_policy: (member: Member) => void (policy = readToolsPolicy(scope, member)),
        }
      : {}),
  });
  return { tools, hooks, policy };
}

interface Entry {
  readonly index: number;
  readonly members: readonly Member[];
  readonly at: Member['at'];
  readonly name: string | null;
  readonly nameAt: Member['at'];
}

function entriesOf(
  scope: FileScope,
  { value, at }: Member,
  list: 'tools' | 'hooks',
): readonly Entry[] {
  const items = scope.frontmatter.itemsOf(value);
  if (items === null) scope.report(at, `${list} must be a list`);
  return (items ?? []).flatMap((item, index) => {
    const members = scope.frontmatter.membersOf(item.value);
    if (members === null) {
      scope.report(item.at, `${list}[${index}] must be keys with values`);
      return [];
    }
    const given = members.find(({ key }) => key === 'name');
    const name = given === undefined ? null : scope.frontmatter.dataOf(given.value);
    const isNamed = typeof name === 'string' && name.trim() !== '';
    if (!isNamed)
      scope.report(
        given?.at ?? item.at,
        `${list}[${index}].name ${name === null || name === '' || typeof name === 'string' ? 'cannot be empty' : 'must be text'}`,
      );
    return [
      { index, members, at: item.at, name: isNamed ? name : null, nameAt: given?.at ?? item.at },
    ];
  });
}

/** What has no name is still read, so that its other mistakes are told. */
function toolFrom(
  scope: FileScope,
  { index, members, name, nameAt }: Entry,
): readonly ToolArtifact[] {
  const read = readTool(scope, members, {
    name: name ?? `tools_${index}`,
    at: nameAt,
    isEntry: true,
    body: '',
  });
  return name === null ? [] : [read];
}

function hookFrom(
  scope: FileScope,
  { index, members, name, nameAt }: Entry,
): readonly HookArtifact[] {
  const read = readHook(
    scope,
    members,
    { name: name ?? `hooks_${index}`, at: nameAt, isEntry: true, body: '' },
    index,
  );
  return name === null || read === null ? [] : [read];
}

/** Which tools of a project there are. A refused one is not even shown. */
export interface ToolsPolicy {
  readonly mode: 'allowlist' | 'denylist';
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** A refusal always wins; an allowlist that is empty allows nothing. */
export const isPermitted = ({ mode, allow, deny }: ToolsPolicy, name: string): boolean =>
  !matchesTool(deny, name) && (mode === 'denylist' || matchesTool(allow, name));

/** What is wrong with it is reported; what came of it permits no more than what was meant. */
function readToolsPolicy(scope: FileScope, member: Member): ToolsPolicy {
  let mode: ToolsPolicy['mode'] | undefined;
  let allow: readonly string[] = [];
  let deny: readonly string[] = [];
  const members = scope.frontmatter.membersOf(member.value);
  if (members === null) scope.report(member.at, 'tools_policy must be keys with values');
  readKeys(scope, 'tools_policy', members ?? [], {
    mode: (given) => {
      const value = scope.frontmatter.dataOf(given.value);
      if (value === 'allowlist' || value === 'denylist') mode = value;
      else
        scope.report(
          given.at,
          `tools_policy.mode ${quoted(typeof value === 'string' ? value : JSON.stringify(value))} must be allowlist|denylist`,
        );
    },
    allow: (given) => void (allow = readPatterns(scope, given)),
    deny: (given) => void (deny = readPatterns(scope, given)),
  });
  return Object.freeze({
    mode: mode ?? (allow.length > 0 ? 'allowlist' : 'denylist'),
    allow,
    deny,
  });
}

function readPatterns(scope: FileScope, { key, value, at }: Member): readonly string[] {
  const items = scope.frontmatter.itemsOf(value);
  if (items === null) scope.report(at, `tools_policy.${key} must be a list`);
  return (items ?? []).flatMap((item, index) => {
    const pattern = scope.frontmatter.dataOf(item.value);
    if (pattern === null || (typeof pattern === 'string' && pattern.trim() === ''))
      scope.report(item.at, `tools_policy.${key}[${index}] is empty`);
    // Other signs of globs would be compared as they stand, and a refusal that refuses nothing
    // helps nobody.
    else if (typeof pattern !== 'string' || !/^[A-Za-z0-9_.*-]+$/.test(pattern))
      scope.report(
        item.at,
        `tools_policy.${key}[${index}] must be the name of a tool, with "*" for any run of characters`,
      );
    else return [pattern];
    return [];
  });
}

/** Only numbers that cannot be meant are refused. */
function readModel(scope: FileScope, { value, at }: Member): void {
  const { membersOf, dataOf } = scope.frontmatter;
  const members = membersOf(value);
  // A model may be named in one word.
  if (members === null && typeof dataOf(value) !== 'string')
    scope.report(at, 'model must be keys with values, or a name');
  for (const member of members ?? []) {
    const number = Number(dataOf(member.value));
    if (member.key === 'temperature' && !(number >= 0 && number <= 2))
      scope.report(member.at, 'model.temperature must be between 0 and 2');
    if (member.key === 'max_tokens' && !(number > 0))
      scope.report(member.at, 'model.max_tokens must be greater than 0');
  }
}
