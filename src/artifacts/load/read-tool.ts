/** A tool from the members of a file, or from an entry of a list of them. */

import type { Position, ToolArtifact } from '../artifact.ts';
import type { Member } from './frontmatter.ts';
import { inputSchemaOf, readParameters } from './read-parameters.ts';
import { readScript } from './read-script.ts';
import { readAnnotations, readGrants } from './read-settings.ts';
import { checkSchema } from '../../tools/schema/check-schema.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { checkToolName } from '../../tools/names.ts';
import { type FileScope, kinds, quoted, readKeys, readValue } from './scope.ts';

/** What a tool is called, and where that is said. */
export interface Naming {
  readonly name: string;
  readonly at: Position;
  /** In a list every entry says its own name and description. */
  readonly isEntry: boolean;
  /** What is left of the file. */
  readonly body: string;
}

type Changing = { -readonly [Key in keyof ToolArtifact]?: ToolArtifact[Key] };

/** Keys of the ancestor's that people look for here. */
const FILE_HINTS = {
  name: 'a tool is called like its file',
  description: 'the body of the file is the description',
};

/**
 * Whatever can be read of it: what is wrong has been reported, and nothing is made of it in the
 * end.
 */
export function readTool(
  scope: FileScope,
  members: readonly Member[],
  { name, at, isEntry, body }: Naming,
): ToolArtifact {
  const owner = `tool ${quoted(name)}`;
  checkName(scope, name, at);
  const found: Changing = {};
  let described = body;
  const ofEntry = {
    name: () => {},
    description: (member: Member) =>
      void (described = textOr(readValue(scope, owner, member, kinds.text))),
  };
  readKeys(
    scope,
    owner,
    members,
    {
      ...(isEntry ? ofEntry : {}),
      parameters: (member) => void (found.parameters = readParameters(scope, owner, member)),
      script: (member) => assign(found, 'script', readScript(scope, owner, member)),
      timeout_ms: (member) => assign(found, 'timeoutMs', readTimeout(scope, owner, member)),
      async: (member) => void (found.async = readValue(scope, owner, member, kinds.flag) === true),
      extra: (member) =>
        void (found.extra =
          readValue(scope, owner, member, kinds.oneOf(['refuse', 'pass'])) === 'pass'
            ? 'pass'
            : 'refuse'),
      annotations: (member) => void (found.annotations = readAnnotations(scope, owner, member)),
      grants: (member) => void (found.grants = readGrants(scope, owner, member)),
    },
    isEntry ? {} : FILE_HINTS,
  );
  const { parameters = [], extra = 'refuse', annotations = {}, grants = {}, async = false } = found;
  return Object.freeze({
    kind: 'tool',
    name,
    file: scope.file,
    ...at,
    description: described.trim() === '' ? name : described.trim(),
    body: described.trim(),
    parameters,
    inputSchema: wholeSchema(scope, owner, parameters, extra, members, at),
    async,
    extra,
    annotations,
    grants,
    ...(found.script === undefined ? {} : { script: found.script }),
    ...(found.timeoutMs === undefined ? {} : { timeoutMs: found.timeoutMs }),
  });
}

const textOr = (value: unknown): string => (typeof value === 'string' ? value : '');

function assign<Key extends keyof Changing>(found: Changing, key: Key, value: Changing[Key]): void {
  if (value !== undefined) found[key] = value;
}

function checkName(scope: FileScope, name: string, at: Position): void {
  try {
    checkToolName(name, scope.lenient ? 'mcp' : 'portable');
  } catch (thrown) {
    if (!isAlliumError(thrown)) throw thrown;
    scope.report(at, `tool ${quoted(name)}: ${thrown.message}`, 'name');
  }
}

/** 0 means no limit of its own, as if it had not been said. */
function readTimeout(scope: FileScope, owner: string, member: Member): number | undefined {
  const value = scope.frontmatter.dataOf(member.value);
  if (typeof value === 'number' && value < 0)
    scope.report(member.at, `${owner} timeout_ms must be >= 0`);
  else if (!Number.isSafeInteger(value))
    scope.report(member.at, `${owner} timeout_ms must be a whole number of milliseconds`);
  else if (value !== 0) return Number(value);
  return undefined;
}

function wholeSchema(
  scope: FileScope,
  owner: string,
  parameters: ToolArtifact['parameters'],
  extra: ToolArtifact['extra'],
  members: readonly Member[],
  at: Position,
): ToolArtifact['inputSchema'] {
  const schema = inputSchemaOf(parameters, extra);
  try {
    return checkSchema(schema, owner, { objectRoot: true });
  } catch (thrown) {
    if (!isAlliumError(thrown)) throw thrown;
    scope.report(
      members.find(({ key }) => key === 'parameters')?.keyAt ?? at,
      thrown.message,
      'schema',
    );
    return schema;
  }
}
