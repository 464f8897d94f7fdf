// Values on the border of the language: JSON in and out, and a module's values made immutable when
// it is complete.

import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { decodeText, encodeText } from './bytes.ts';
import { StarlarkError } from './errors.ts';
import { dictSet } from './keys.ts';
import { OBJECT_BYTES, SLOT_BYTES, type Thread } from './thread.ts';
import { Builtin, Dict, Float, List, StarlarkFunction, Tuple, type Value } from './values.ts';
import { typeName } from './kinds.ts';

/** Deeper values are refused both ways: reading them would overflow the JavaScript stack. */
const MAX_DEPTH = 500;

/** A JSON value as a new Starlark value, accounted. A whole number is an int, any other a float. */
export function toStarlark(json: unknown, thread: Thread): Value {
  return read(json, thread, 0);
}

function read(json: unknown, thread: Thread, depth: number): Value {
  if (depth > MAX_DEPTH) throw new StarlarkError('value is nested too deeply');
  if (json === null || typeof json === 'boolean') return json;
  if (typeof json === 'number') return Number.isSafeInteger(json) ? json + 0 : new Float(json);
  if (typeof json === 'string') return readText(json, thread);
  if (Array.isArray(json)) {
    thread.account(OBJECT_BYTES + json.length * SLOT_BYTES);
    return new List(json.map((item) => read(item, thread, depth + 1)));
  }
  if (typeof json !== 'object') throw new StarlarkError(`not a JSON value: ${typeof json}`);
  return readObject(json, thread, depth);
}

function readText(text: string, thread: Thread): string {
  thread.account(text.length);
  return encodeText(text);
}

function readObject(json: object, thread: Thread, depth: number): Dict {
  thread.account(OBJECT_BYTES);
  const dict = new Dict();
  for (const [key, value] of Object.entries(json))
    dictSet(thread, dict, readText(key, thread), read(value, thread, depth + 1));
  return dict;
}

/**
 * A value as JSON. A tuple is an array; a float is a number, whole or not. Throws for what has no
 * JSON form: functions, NaN and infinities, ints that a number cannot hold, dicts with keys that
 * are no strings, values inside themselves.
 */
export function fromStarlark(value: Value): JsonValue {
  return write(value, []);
}

function write(value: Value, path: readonly Value[]): JsonValue {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
  if (typeof value === 'string') return decodeText(value);
  if (typeof value === 'bigint') throw new StarlarkError('int too large for JSON');
  if (value instanceof Float) {
    if (!Number.isFinite(value.value))
      throw new StarlarkError('float has no JSON form: it is not finite');
    return value.value + 0;
  }
  if (path.includes(value))
    throw new StarlarkError(`${typeName(value)} has no JSON form: it contains itself`);
  if (path.length > MAX_DEPTH) throw new StarlarkError('value is nested too deeply');
  const inner = [...path, value];
  if (value instanceof List || value instanceof Tuple)
    return value.items.map((item) => write(item, inner));
  if (value instanceof Dict) return writeDict(value, inner);
  throw new StarlarkError(`${typeName(value)} has no JSON form`);
}

function writeDict(dict: Dict, path: readonly Value[]): JsonObject {
  const entries = [...dict.map].map(([key, value]): [string, JsonValue] => {
    const original = dict.original(key);
    if (typeof original !== 'string')
      throw new StarlarkError(`dict has no JSON form: a key is ${typeName(original)}, not string`);
    return [decodeText(original), write(value, path)];
  });
  // `fromEntries` defines properties, so that a key `__proto__` is only a key.
  return Object.fromEntries(entries);
}

/**
 * Freezes values and all that they hold. Does not recurse: values can be nested deeper than the
 * JavaScript stack.
 */
export function freeze(values: Iterable<Value>): void {
  const open = [...values];
  const seen = new Set<Value>();
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    push(open, held(value));
  }
}

/** What a value holds that can change; nothing when it is frozen already. */
function held(
  value: Exclude<Value, string | number | bigint | boolean | null>,
): Iterable<Value | undefined> {
  if (value instanceof List || value instanceof Dict) {
    if (value.frozen) return [];
    value.frozen = true;
    return value instanceof List ? value.items : value.map.values();
  }
  if (value instanceof Tuple) return value.items;
  if (value instanceof StarlarkFunction)
    return [...value.defaults, ...value.cells.map((cell) => cell.value)];
  if (value instanceof Builtin) return [value.receiver];
  return [];
}

function push(open: Value[], values: Iterable<Value | undefined>): void {
  for (const value of values) if (value !== undefined) open.push(value);
}
