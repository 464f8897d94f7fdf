/** The way back from OpenAI's strict subset, where a model writes null for what it leaves out. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { snapshotObject } from '../../core/json/json.ts';
import type { ToolSpec } from '../../core/contract/layer.ts';
import {
  isSchemaObject,
  listIn,
  mapIn,
  ownMember,
  resolveLocalRef,
} from '../parameters/local-ref.ts';

/**
 * The arguments without the nulls that stand for "left out": those of properties which the tool's
 * schema declares optional and not nullable. Every other null is the model's own and stays. Without
 * any the same object comes back.
 */
export function fromProviderArgs(spec: ToolSpec, args: JsonObject): JsonObject {
  const undone = undo(args, [spec.inputSchema], spec.inputSchema);
  return undone === args ? args : snapshotObject(undone);
}

type Schemas = readonly JsonValue[];

function undo(value: JsonValue, schemas: Schemas, root: JsonSchema): JsonValue {
  if (schemas.length === 0 || typeof value !== 'object' || value === null) return value;
  const parts = partsOf(schemas, root);
  if (isSchemaObject(value)) return undoMembers(value, schemas, parts, root);
  const items = listIn({ value }, 'value');
  const undone = items.map((item, index) =>
    undo(
      item,
      parts.flatMap((part) => itemSchemas(part, index)),
      root,
    ),
  );
  return undone.some((item, index) => item !== items[index]) ? undone : value;
}

function undoMembers(
  value: JsonObject,
  schemas: Schemas,
  parts: readonly JsonObject[],
  root: JsonSchema,
): JsonObject {
  const entries = Object.entries(value);
  const kept = entries
    .filter(([name, member]) => member !== null || !standsForAbsent(name, schemas, root))
    .map(
      ([name, member]) =>
        [
          name,
          undo(
            member,
            parts.flatMap((part) => ownMember(mapIn(part, 'properties'), name) ?? []),
            root,
          ),
        ] as const,
    );
  const same =
    kept.length === entries.length && kept.every(([name, member]) => member === value[name]);
  return same ? value : Object.fromEntries(kept);
}

function standsForAbsent(name: string, schemas: Schemas, root: JsonSchema): boolean {
  const nullFits = (schema: JsonValue) =>
    holds(schema, root, (part) => {
      if (!allowsType(part, 'object')) return false;
      const property = ownMember(mapIn(part, 'properties'), name);
      return property === undefined || holds(property, root, acceptsNull);
    });
  const mayBeAbsent = (schema: JsonValue) =>
    holds(
      schema,
      root,
      (part) => allowsType(part, 'object') && !listIn(part, 'required').includes(name),
    );
  return !schemas.some(nullFits) && schemas.some(mayBeAbsent);
}

function allowsType(part: JsonObject, wanted: string): boolean {
  const type = ownMember(part, 'type');
  return type === undefined || type === wanted || listIn(part, 'type').includes(wanted);
}

function acceptsNull(part: JsonObject): boolean {
  const values = listIn(part, 'enum');
  return (
    allowsType(part, 'null') &&
    (values.length === 0 || values.includes(null)) &&
    (ownMember(part, 'const') ?? null) === null
  );
}

/**
 * Asks a question of a schema and everything it is made of; the answers count as the keywords say.
 */
function holds(
  schema: JsonValue | undefined,
  root: JsonSchema,
  ask: (part: JsonObject) => boolean,
  known = new Map<JsonValue, boolean>(),
): boolean {
  if (!isSchemaObject(schema)) return schema !== false;
  const answered = known.get(schema);
  if (answered !== undefined) return answered;
  // A schema that contains itself adds nothing by that; asking each part once keeps doubling
  // references cheap.
  known.set(schema, true);
  const inner = (part: JsonValue) => holds(part, root, ask, known);
  const one = (keyword: string) =>
    listIn(schema, keyword).length === 0 || listIn(schema, keyword).some(inner);
  const target = typeof schema.$ref === 'string' ? resolveLocalRef(root, schema.$ref) : undefined;
  const answer =
    ask(schema) &&
    holds(target, root, ask, known) &&
    listIn(schema, 'allOf').every(inner) &&
    one('anyOf') &&
    one('oneOf');
  known.set(schema, answer);
  return answer;
}

/** The schemas and everything in them that speaks about the same value. */
function partsOf(schemas: Schemas, root: JsonSchema): readonly JsonObject[] {
  const parts = new Set<JsonObject>();
  const queue: (JsonValue | undefined)[] = [...schemas];
  // The list grows while it is read.
  for (const schema of queue) {
    if (!isSchemaObject(schema) || parts.has(schema)) continue;
    parts.add(schema);
    queue.push(...['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => listIn(schema, keyword)));
    if (typeof schema.$ref === 'string') queue.push(resolveLocalRef(root, schema.$ref));
  }
  return [...parts];
}

function itemSchemas(part: JsonObject, index: number): Schemas {
  const tuple = Object.hasOwn(part, 'prefixItems')
    ? listIn(part, 'prefixItems')
    : listIn(part, 'items');
  const rest = ownMember(part, Array.isArray(part.items) ? 'additionalItems' : 'items');
  const schema = tuple[index] ?? rest;
  return schema === undefined ? [] : [schema];
}
