/**
 * Anthropic's strict subset: optional properties may stay out, but no recursion and hardly a
 * constraint is enforced.
 */

import type { JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { AlliumError, oneLine } from '../../core/contract/errors.ts';
import { isSchemaObject, mapIn, omit, pointerTokens } from '../parameters/local-ref.ts';
import { strictSchema, type StrictRules } from './strict-schema.ts';

const FORMATS: ReadonlySet<JsonValue> = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
]);

const RULES: StrictRules = {
  keeps: (keyword, value) => {
    if (keyword === 'format') return FORMATS.has(value);
    if (keyword === 'minItems') return value === 0 || value === 1;
    return keyword === 'const' || keyword === 'enum';
  },
  members: (properties, required) => ({
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
  }),
};

/**
 * The schema as Anthropic takes it with `strict: true`. Throws `ERR_SCHEMA_UNSUPPORTED` naming the
 * rule that cannot be met.
 */
export function toAnthropicStrict(schema: JsonSchema, toolName: string): JsonSchema {
  const refuse = (rule: string): AlliumError =>
    new AlliumError(
      'ERR_SCHEMA_UNSUPPORTED',
      `tool "${oneLine(toolName)}" cannot be strict for anthropic: ${rule}`,
      { toolName },
    );
  const strict = strictSchema(schema, RULES, refuse);
  if (isRecursive(strict)) throw refuse('a schema must not refer back to itself');
  return strict;
}

/**
 * Takes away definitions that use no other, again and again: what is left over goes round in a
 * circle.
 */
function isRecursive(schema: JsonSchema): boolean {
  const uses = new Map(
    Object.entries(mapIn(schema, '$defs')).map(([name, definition]) => [name, usedBy(definition)]),
  );
  if ([usedBy(omit(schema, '$defs')), ...uses.values()].some((used) => used.has(ROOT))) return true;
  const users = new Map<string, string[]>([...uses.keys()].map((name) => [name, []]));
  for (const [name, used] of uses) for (const other of used) users.get(other)?.push(name);
  const waiting = new Map([...uses].map(([name, used]) => [name, used.size]));
  const done = [...uses.keys()].filter((name) => waiting.get(name) === 0);
  // The list grows while it is read.
  for (const name of done) {
    for (const user of users.get(name) ?? []) {
      const left = (waiting.get(user) ?? 0) - 1;
      waiting.set(user, left);
      if (left === 0) done.push(user);
    }
  }
  return done.length < uses.size;
}

const ROOT = '';

/**
 * The definitions a schema refers to. `$ref` is a string only where it is a reference: a property
 * of that name is a schema.
 */
function usedBy(schema: JsonValue): ReadonlySet<string> {
  const used = new Set<string>();
  const queue: JsonValue[] = [schema];
  for (const node of queue) {
    if (isSchemaObject(node) && typeof node.$ref === 'string')
      used.add(pointerTokens(node.$ref)?.[1] ?? ROOT);
    if (typeof node !== 'object' || node === null) continue;
    for (const inner of Object.values(node)) queue.push(inner);
  }
  return used;
}
