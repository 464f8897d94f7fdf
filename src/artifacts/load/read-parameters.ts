/** The parameters of a tool, in the order of the file, as an input schema. */

import type { JsonSchema } from '../../core/contract/call.ts';
import { closest } from '../../core/contract/closest.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { checkSchema } from '../../tools/schema/check-schema.ts';
import { SCHEMA_KEYWORDS, VALUE_KEYWORDS } from '../../tools/schema/keywords.ts';
import type { Parameter, Position } from '../artifact.ts';
import { ExcessError, type Member } from './frontmatter.ts';
import { type FileScope, quoted } from './scope.ts';
import { words } from '../../system/words.ts';

/** What a parameter can be. Further types of JSON Schema may stand deeper. */
const PARAMETER_TYPES = ['string', 'number', 'boolean', 'object', 'array'] as const;
/** Providers take these, and JavaScript keeps the order of names that are no numbers. */
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
const MAX_DEPTH = 32;

const ANNOTATIONS = words(`
  title description default examples deprecated readOnly writeOnly $comment
`);
const KEYWORDS = [
  'type',
  'description',
  'required',
  ...SCHEMA_KEYWORDS.keys(),
  ...VALUE_KEYWORDS.keys(),
  ...ANNOTATIONS,
];
const KNOWN: ReadonlySet<string> = new Set(KEYWORDS);

/** Reads them all; what is wrong with one is reported, and the others are read on. */
export function readParameters(
  scope: FileScope,
  owner: string,
  member: Member,
): readonly Parameter[] {
  const members = scope.frontmatter.membersOf(member.value);
  if (members === null) {
    scope.report(member.at, `${owner} parameters must be names, each with its type`);
    return [];
  }
  return members.flatMap((each) => readParameter(scope, owner, each) ?? []);
}

function readParameter(scope: FileScope, owner: string, member: Member): Parameter | null {
  const who = `${owner} parameter ${quoted(member.key)}`;
  if (!NAME.test(member.key)) {
    scope.report(
      member.keyAt,
      `${who} must be called by a letter or "_", then up to 63 letters, digits, "_", "." or "-"`,
    );
    return null;
  }
  const members = scope.frontmatter.membersOf(member.value);
  if (members === null) {
    scope.report(member.at, `${who} must have keys, such as "type: string"`);
    return null;
  }
  const hasType = checkType(scope, who, member, members);
  const { schema, required } = schemaFrom(scope, who, members, 0);
  // Of a type that is none it need not be said twice.
  return hasType && isUsable(scope, who, member.at, schema)
    ? Object.freeze({ name: member.key, required, schema })
    : null;
}

function checkType(
  scope: FileScope,
  who: string,
  { keyAt }: Member,
  members: readonly Member[],
): boolean {
  const type = members.find(({ key }) => key === 'type');
  if (type === undefined || type.value === null) {
    scope.report(keyAt, `${who} needs a type: one of ${PARAMETER_TYPES.join(', ')}`);
    return false;
  }
  const value = scope.frontmatter.dataOf(type.value);
  if (PARAMETER_TYPES.some((known) => known === value) || (scope.lenient && value === 'integer'))
    return true;
  const hint = value === 'integer' ? '; write "type: number" and "multipleOf: 1"' : '';
  scope.report(type.at, `${who} type must be one of ${PARAMETER_TYPES.join(', ')}${hint}`);
  return false;
}

/**
 * `required: true` says that a member must be there; JSON Schema has a list for that in what holds
 * the member.
 */
interface ReadSchema {
  readonly schema: JsonSchema;
  readonly required: boolean;
}

function schemaFrom(
  scope: FileScope,
  who: string,
  members: readonly Member[],
  depth: number,
): ReadSchema {
  // Aliases can make a schema part of itself.
  if (depth > MAX_DEPTH)
    throw new ExcessError(`a parameter nests deeper than ${MAX_DEPTH} schemas`);
  const schema = new Map<string, unknown>();
  const demanded: string[] = [];
  let required = false;
  for (const { key, value, at, keyAt } of members) {
    const data = scope.frontmatter.dataOf(value);
    if (key === 'required' && typeof data === 'boolean') required = data;
    else if (!KNOWN.has(key))
      scope.report(
        keyAt,
        `${who} has no ${quoted(key)}; ${hintFor(key)}`,
        'unknown-key',
        scope.lenient ? 'warning' : 'error',
      );
    else if (key === 'description' && typeof data !== 'string')
      scope.report(at, `${who} description must be text`);
    else schema.set(key, heldIn(scope, who, key, value, depth, demanded) ?? data);
  }
  const listed = schema.get('required');
  if (demanded.length > 0)
    schema.set('required', [
      ...new Set([...(Array.isArray(listed) ? (listed as unknown[]) : []), ...demanded]),
    ]);
  // What keywords hold is checked as a whole right after this.
  return { schema: Object.fromEntries(schema) as JsonSchema, required };
}

function hintFor(key: string): string {
  const guess = closest(key, KEYWORDS);
  return guess === undefined
    ? 'it takes type, description, required and the keywords of JSON Schema'
    : `did you mean "${guess}"?`;
}

/**
 * The schemas that a keyword holds, read like the one around them. `undefined` where it holds none,
 * or something else than it should.
 */
function heldIn(
  scope: FileScope,
  who: string,
  key: string,
  value: unknown,
  depth: number,
  demanded: string[],
): unknown {
  const holds = SCHEMA_KEYWORDS.get(key)?.holds;
  const { membersOf, itemsOf } = scope.frontmatter;
  const one = (node: unknown): ReadSchema | undefined => {
    const members = membersOf(node);
    return members === null ? undefined : schemaFrom(scope, who, members, depth + 1);
  };
  if (holds === 'one' || holds === 'one-or-list') {
    const read = one(value);
    if (read !== undefined) return read.schema;
  }
  if (holds === 'list' || holds === 'one-or-list')
    return itemsOf(value)?.map(
      (item) => one(item.value)?.schema ?? scope.frontmatter.dataOf(item.value),
    );
  if (holds !== 'map') return undefined;
  const entries = membersOf(value)?.map((member) => {
    const read = one(member.value);
    if (read?.required === true && key === 'properties') demanded.push(member.key);
    return [member.key, read?.schema ?? scope.frontmatter.dataOf(member.value)] as const;
  });
  return entries === undefined ? undefined : Object.fromEntries(entries);
}

/** Held to what the compiler of schemas takes, one by one: what is wrong belongs to one of them. */
function isUsable(scope: FileScope, who: string, at: Position, schema: JsonSchema): boolean {
  try {
    checkSchema(schema, who);
    return true;
  } catch (thrown) {
    if (!isAlliumError(thrown)) throw thrown;
    scope.report(at, thrown.message, 'schema');
    return false;
  }
}

/** The whole schema. Whoever writes `extra: pass` gets arguments that are not declared. */
export function inputSchemaOf(
  parameters: readonly Parameter[],
  extra: 'refuse' | 'pass',
): JsonSchema {
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: extra === 'pass',
  };
}
