// Which values can be dict keys, and what they are in the Map.

import { StarlarkError } from './errors.ts';
import { OBJECT_BYTES, SLOT_BYTES, type Thread } from './thread.ts';
import {
  Builtin,
  type Dict,
  Float,
  type Key,
  List,
  Module,
  Range,
  StarlarkFunction,
  Tuple,
  type Value,
} from './values.ts';
import { typeName } from './kinds.ts';

/** No byte string starts with this, so no tuple's text can be mistaken for a string. */
const TUPLE_MARK = '\u0100';
/**
 * A tuple of tuples of the same tuple doubles with each level: the text of a key must end
 * somewhere.
 */
const MAX_KEY_LENGTH = 1 << 20;

/** A value's form as a key: equal values have the same. Throws for a value that cannot be a key. */
export function keyOf(value: Value): Key {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Float) return floatKey(value.value);
  if (value instanceof Tuple) return tupleKey(value);
  if (value instanceof StarlarkFunction || value instanceof Builtin) return value;
  const text = value instanceof List || isDict(value) ? 'unhashable type' : 'unhashable';
  throw new StarlarkError(`${text}: ${typeName(value)}`);
}

function isDict(value: Value): boolean {
  return !(value instanceof Range || value instanceof Module) && typeName(value) === 'dict';
}

function floatKey(value: number): Key {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  return BigInt(value);
}

function tupleKey(tuple: Tuple): string {
  if (tuple.key !== undefined) return tuple.key;
  // Innermost first, without recursion: tuples can be nested deeper than the JavaScript stack.
  const open: Tuple[] = [tuple];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const inner = top.items.find(
      (item): item is Tuple => item instanceof Tuple && item.key === undefined,
    );
    if (inner !== undefined) open.push(inner);
    else {
      top.key = TUPLE_MARK + top.items.map(partOfKey).join('');
      if (top.key.length > MAX_KEY_LENGTH)
        throw new StarlarkError('tuple is too large to be a key');
      open.pop();
    }
  }
  return tuple.key ?? '';
}

function partOfKey(item: Value): string {
  const key = keyOf(item);
  const text = typeof key === 'object' && key !== null ? `#${identityOf(key)}` : String(key);
  return `${typeof key}${text.length}:${text}`;
}

const identities = new WeakMap<object, number>();
let lastIdentity = 0;

function identityOf(value: object): number {
  const known = identities.get(value);
  if (known !== undefined) return known;
  identities.set(value, ++lastIdentity);
  return lastIdentity;
}

/** The value under a key, or undefined. Throws for a key that cannot be one. */
export function dictGet(dict: Dict, key: Value): Value | undefined {
  return dict.map.get(typeof key === 'string' ? key : keyOf(key));
}

/**
 * Sets an entry, accounted; throws for a key that cannot be one and for a dict that must not
 * change.
 */
export function dictSet(thread: Thread, dict: Dict, key: Value, value: Value): void {
  thread.account(2 * SLOT_BYTES + OBJECT_BYTES);
  // That the dict must not change is told before what is wrong with the key.
  if (typeof key !== 'string') dict.checkMutable('insert into');
  dict.put(typeof key === 'string' ? key : keyOf(key), key, value);
}
