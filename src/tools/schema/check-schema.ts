/** Decides at registration whether a foreign schema can be used, without compiling it. */

import type { JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { describeThrown } from '../../core/contract/errors.ts';
import { isObject, MAX_JSON_DEPTH, snapshotObject } from '../../core/json/json.ts';
import { readSchema, type SchemaGraph, type SchemaNode } from './schema-graph.ts';
import { at, unsupported } from './unsupported.ts';

const MAX_BYTES = 262_144;
/**
 * Most values in a schema of that size. Counted before anything is copied, with sharing written
 * out.
 */
const MAX_VALUES = 50_000;

/** What is asked of a schema beside being usable. */
export interface CheckSchemaOptions {
  /**
   * Refuses a root that no object can fit by its `type`, as for the arguments of a tool.
   * @default false
   */
  readonly objectRoot?: boolean;
}

const checked = new WeakSet<object>();

/**
 * Takes a frozen copy of a foreign schema, or throws `ERR_SCHEMA_UNSUPPORTED` naming `where` and
 * the place in it: too large, too deep, too costly, another document, a pattern that cannot run in
 * linear time, or a keyword with a value it cannot have. Unknown keywords and formats are
 * annotation. It does not say whether any value can fit.
 */
export function checkSchema(
  schema: unknown,
  where: string,
  options: CheckSchemaOptions = {},
): JsonSchema {
  const copy = copySchema(schema, where);
  if (!checked.has(copy)) {
    if (Buffer.byteLength(JSON.stringify(copy)) > MAX_BYTES)
      throw unsupported(where, null, `is larger than ${MAX_BYTES / 1024} KiB`);
    checkCost(readSchema(copy, where), where);
    checked.add(copy);
  }
  if (options.objectRoot === true && !allowsObjects(copy['type']))
    throw unsupported(where, at(null, 'type'), 'must allow an object');
  return copy;
}

function copySchema(schema: unknown, where: string): JsonSchema {
  if (!isObject(schema)) throw unsupported(where, null, 'must be an object');
  // Only copies made here are in the set.
  if (checked.has(schema)) return schema as JsonSchema;
  let excess: string | undefined;
  try {
    excess = excessOf(schema);
    if (excess === undefined) return snapshotObject(schema);
  } catch (thrown) {
    throw unsupported(where, null, `is not JSON: ${describeThrown(thrown)}`);
  }
  throw unsupported(where, null, excess);
}

const isNode = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * Lists, object literals and what `JSON.parse` made, of any realm. The members of another object
 * are not what it means: a schema of a library, read as JSON Schema, accepts everything. An object
 * with `toJSON` says itself what it means.
 */
function isPlain(node: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(node);
  if (Array.isArray(node) || !isNode(prototype) || Object.getPrototypeOf(prototype) === null)
    return true;
  return 'toJSON' in node && typeof node.toJSON === 'function';
}

/**
 * Counts before the copy is made: a list of a million values, or a few that share each other, would
 * take long to copy.
 */
function excessOf(schema: object): string | undefined {
  let left = MAX_VALUES;
  let level = [schema];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_JSON_DEPTH)
      return `nests deeper than ${MAX_JSON_DEPTH} values, or contains itself`;
    const next: object[] = [];
    for (const node of level) {
      if (!isPlain(node))
        return 'holds an object that is not plain JSON, such as a schema of a library inside a JSON Schema';
      left -= Array.isArray(node) ? node.length : Object.keys(node).length;
      if (left < 0) return `holds more than ${MAX_VALUES} values`;
      const values: unknown[] = Object.values(node);
      for (const value of values) if (isNode(value)) next.push(value);
    }
    level = next;
  }
  return undefined;
}

function allowsObjects(type: JsonValue | undefined): boolean {
  return (
    type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))
  );
}

/** Most subschemas a schema may come to when every reference is written out. */
const MAX_COST = 20_000;
/**
 * Deepest nesting with references written out, so that neither this file nor ajv runs out of stack.
 */
const MAX_HEIGHT = 256;

interface Cost {
  readonly total: number;
  readonly height: number;
}

/**
 * Refuses doubling references and references that lead back to the same value. Recursion into
 * members and items is allowed and counted once; what it costs depends on the value and is metered
 * when values are checked.
 */
function checkCost({ root, nodes }: SchemaGraph, where: string): void {
  checkLoops(nodes.values(), where);
  measure(root, 1, { where, known: new Map(), open: new Set() });
}

interface Measuring {
  readonly where: string;
  readonly known: Map<SchemaNode, Cost>;
  readonly open: Set<SchemaNode>;
}

const ONCE: Cost = { total: 1, height: 1 };

function measure(node: SchemaNode, depth: number, measuring: Measuring): Cost {
  const { where, known, open } = measuring;
  if (open.has(node)) return ONCE;
  const cost = known.get(node) ?? measureParts(node, depth, measuring);
  if (cost.total > MAX_COST)
    throw unsupported(
      where,
      node.place,
      `comes to more than ${MAX_COST} subschemas with its references written out`,
    );
  if (depth + cost.height > MAX_HEIGHT)
    throw unsupported(
      where,
      node.place,
      `nests deeper than ${MAX_HEIGHT} with its references written out`,
    );
  known.set(node, cost);
  return cost;
}

function measureParts(node: SchemaNode, depth: number, measuring: Measuring): Cost {
  if (depth > MAX_HEIGHT) return { total: 1, height: MAX_HEIGHT };
  let total = 1;
  let height = 0;
  measuring.open.add(node);
  for (const child of [...node.sameValue, ...node.parts]) {
    const cost = measure(child, depth + 1, measuring);
    total += cost.total;
    height = Math.max(height, cost.height);
  }
  measuring.open.delete(node);
  return { total, height: height + 1 };
}

/**
 * A schema that applies itself to the same value again would never end. Peels off what ends; what
 * stays is a loop.
 */
function checkLoops(nodes: Iterable<SchemaNode>, where: string): void {
  const waiting = new Map<SchemaNode, number>();
  for (const node of nodes) waiting.set(node, 0);
  for (const node of waiting.keys())
    for (const next of node.sameValue) waiting.set(next, (waiting.get(next) ?? 0) + 1);
  const free = [...waiting.keys()].filter((node) => waiting.get(node) === 0);
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    waiting.delete(node);
    for (const next of node.sameValue) {
      const left = (waiting.get(next) ?? 0) - 1;
      waiting.set(next, left);
      if (left === 0) free.push(next);
    }
  }
  const [loop] = waiting.keys();
  if (loop !== undefined)
    throw unsupported(where, loop.place, 'refers to itself without going into a member or an item');
}
