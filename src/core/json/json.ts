/** JSON values, and the one place where foreign values are read: once, copied, and frozen. */

import type { JsonObject, JsonValue } from './json-value.ts';
import { AlliumError, oneLine } from '../contract/errors.ts';

/**
 * Deepest nesting a snapshot accepts. Recursion stays far from the end of the stack at this depth.
 */
export const MAX_JSON_DEPTH = 512;

/**
 * Says why a value is not JSON, and where in it. The offending value itself is never in the
 * message.
 */
export function notJson(path: string, problem: string): AlliumError {
  // Member names come from outside: as text of an error they must not forge a line in a log.
  const where = oneLine(path);
  return new AlliumError('ERR_NOT_JSON', `${path === '' ? 'the value' : where} ${problem}`, {
    path: where,
  });
}

/**
 * Gives back what it is given, so that a class on top of it puts its private member on that very
 * object.
 */
export const Same = function (value: object): object {
  return value;
} as unknown as new (
  value: object,
) => object; // A function that returns an object can be constructed on.

/**
 * The mark of what this module froze itself: seeing one again costs a look instead of a copy. It is
 * a private member of the value: nobody can see, copy or forge it, a frozen value can bear it, and
 * it dies with its value. A weak set would say the same and cost more than the copy of a small
 * object, because the collector looks at each of its entries again and again.
 */
class Mark extends Same {
  #text: string | null = null;

  static isOn(value: object): boolean {
    return #text in value;
  }

  static textOn(value: object): string | null {
    return #text in value ? value.#text : null;
  }

  static keepText(value: object, text: string): void {
    if (#text in value) value.#text = text;
  }
}

/**
 * Puts the mark on a value that is frozen in depth. After freezing: on a list that is about to be
 * frozen it costs twice as much.
 */
function mark(value: object): void {
  new Mark(value);
}

/**
 * True only for values that are frozen in depth and can be shared and cached by identity. Not for
 * all that are.
 */
export const isSnapshot = (value: object): boolean => Mark.isOn(value);

/** The text that was kept with a snapshot, or `null`. */
export const keptText = (value: object): string | null => Mark.textOn(value);

/**
 * Keeps a text with a snapshot; does nothing with any other value, which may change under the same
 * identity.
 */
export const keepText = (value: object, text: string): void => Mark.keepText(value, text);

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Copies a foreign value into frozen JSON, reading every property once, so that a getter or a proxy
 * cannot show one value to a check and another to the tool. Dates become ISO strings, an inherited
 * `toJSON` is asked, `undefined` members are left out. Throws `ERR_NOT_JSON` for everything JSON
 * cannot say; it does not guess. `maxValues` is for what a stranger made: an object that holds
 * another one twice, which holds a third one twice, is small and has no end.
 */
export function snapshot(value: unknown, maxValues = Number.POSITIVE_INFINITY): JsonValue {
  // What was copied before is JSON already, and most results of a layer are.
  const isKnown = typeof value === 'object' && value !== null && Mark.isOn(value);
  if (isKnown && maxValues === Number.POSITIVE_INFINITY) return value as JsonValue;
  return copy(value, { steps: [], open: [], isMarked: true, left: maxValues });
}

/** Whether an error is the one for a value that holds too many. */
export const isTooWide = (error: unknown): boolean =>
  error instanceof AlliumError && error.details.reason === TOO_WIDE;

const TOO_WIDE = 'too_many_values';

const tooWide = (): AlliumError =>
  new AlliumError('ERR_NOT_JSON', 'the value holds too many values', { reason: TOO_WIDE });

/**
 * A copy like a snapshot that nobody will ask for by identity: for what goes into a record and is
 * taken apart there.
 */
export function frozenCopy(value: unknown): JsonObject {
  const copied = copy(value, {
    steps: [],
    open: [],
    isMarked: false,
    left: Number.POSITIVE_INFINITY,
  });
  if (!isObject(copied)) throw notJson('', 'is not an object');
  return copied;
}

/** `snapshot` for values that must be objects. */
export function snapshotObject(value: unknown): JsonObject {
  const copied = snapshot(value);
  if (!isObject(copied)) throw notJson('', 'is not an object');
  return copied;
}

/**
 * Freezes in place what `JSON.parse` has just made and nobody else holds. Depth must have been
 * checked before.
 */
export function freezeParsed<T extends JsonValue>(value: T): T {
  if (typeof value !== 'object' || value === null || Mark.isOn(value)) return value;
  for (const item of Object.values(value)) freezeParsed(item);
  Object.freeze(value);
  mark(value);
  return value;
}

const isNode = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * Whether a value nests too deep, or holds too many values, itself included. Iterative:
 * `JSON.parse` accepts a depth that no recursion survives. Depth first: level by level, a value
 * that contains itself twice would double with every level. It ends with the bounds.
 */
export function excessOf(
  value: unknown,
  maxDepth: number,
  maxValues: number,
): 'deep' | 'wide' | null {
  let values = 1;
  const pending: { readonly node: object; readonly depth: number }[] = isNode(value)
    ? [{ node: value, depth: 1 }]
    : [];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.depth > maxDepth) return 'deep';
    const items = Object.values<unknown>(next.node as Record<string, unknown>);
    values += items.length;
    if (values > maxValues) return 'wide';
    for (const item of items) if (isNode(item)) pending.push({ node: item, depth: next.depth + 1 });
  }
  return null;
}

/** Whether a value nests deeper than `limit`. */
export const isDeeperThan = (value: unknown, limit: number): boolean =>
  excessOf(value, limit, Number.POSITIVE_INFINITY) === 'deep';

/** Where a copy is. One for the whole of it: a path is worked out only for an error. */
interface Place {
  readonly steps: (string | number)[];
  /** The objects around the one being copied. */
  readonly open: object[];
  /** Whether the copy and its parts can be asked for by identity. */
  readonly isMarked: boolean;
  /** How many more values it may hold. */
  left: number;
}

function pathOf({ steps }: Place): string {
  return steps
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
}

function copy(value: unknown, at: Place): JsonValue {
  at.left -= 1;
  if (at.left < 0) throw tooWide();
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw notJson(pathOf(at), 'is not a finite number');
      return value;
    case 'object':
      return value === null ? null : copyObject(value, at);
    case 'undefined':
      throw notJson(pathOf(at), 'is undefined');
    case 'bigint':
    case 'function':
    case 'symbol':
      throw notJson(pathOf(at), `is a ${typeof value}`);
  }
}

function copyObject(value: object, at: Place): JsonValue {
  // Only values made here are marked, so this is JSON already.
  if (Mark.isOn(value)) return counted(value, at);
  if (at.open.length >= MAX_JSON_DEPTH)
    throw notJson(pathOf(at), `nests deeper than ${MAX_JSON_DEPTH}`);
  // Few are open at a time: looking through them costs less than a set.
  if (at.open.includes(value)) throw notJson(pathOf(at), 'contains itself');
  const plain = plainForm(value, at);
  at.open.push(value);
  const copied = plain === value ? copyContainer(value, at) : copy(plain, at);
  at.open.pop();
  return copied;
}

/** A snapshot is not copied again, but many of them can make one value that is too wide. */
function counted(value: object, at: Place): JsonValue {
  if (at.left < Number.POSITIVE_INFINITY) {
    const pending: object[] = [value];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const items = Object.values<unknown>(next as Record<string, unknown>);
      at.left -= items.length;
      if (at.left < 0) throw tooWide();
      for (const item of items) if (isNode(item)) pending.push(item);
    }
  }
  return value as JsonValue; // Only JSON is marked.
}

function copyContainer(value: object, at: Place): JsonValue {
  const copied = Array.isArray(value) ? copyArray(value, at) : copyMembers(value, at);
  Object.freeze(copied);
  if (at.isMarked) mark(copied);
  return copied;
}

/**
 * What the value wants to be as JSON. An own `toJSON` is data somebody sent, never a method to
 * call.
 */
function plainForm(value: object, at: Place): unknown {
  if (Array.isArray(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return value;
  if (value instanceof Map || value instanceof Set || value instanceof Promise) {
    throw notJson(pathOf(at), `is a ${value.constructor.name}`);
  }
  if (Object.hasOwn(value, 'toJSON')) return value;
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON !== 'function' && !isPlainEnough(value))
    throw notJson(pathOf(at), 'is an object whose content JSON cannot hold');
  if (typeof toJSON !== 'function') return value;
  const plain: unknown = Reflect.apply(toJSON, value, []);
  if (plain === value) throw notJson(pathOf(at), 'has a toJSON that answers itself');
  return plain;
}

/**
 * Errors, streams and responses have no members and a tag of their own: as `{}` their content would
 * be lost. Typed arrays have their elements as members, and are no lists to JSON.
 */
const isPlainEnough = (value: object): boolean =>
  (Object.keys(value).length > 0 && !ArrayBuffer.isView(value)) ||
  Object.prototype.toString.call(value) === '[object Object]';

function copyArray(value: readonly unknown[], at: Place): JsonValue[] {
  if (value.length > at.left) throw tooWide();
  const copied: JsonValue[] = [];
  for (let index = 0; index < value.length; index += 1) {
    at.steps.push(index);
    copied.push(copy(value[index], at));
    at.steps.pop();
  }
  return copied;
}

function copyMembers(value: object, at: Place): Record<string, JsonValue> {
  const copied: Record<string, JsonValue> = {};
  const keys = Object.keys(value);
  if (keys.length > at.left) throw tooWide();
  for (const key of keys) {
    const member: unknown = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    at.steps.push(key);
    const item = copy(member, at);
    at.steps.pop();
    // Assigning `__proto__` would set the prototype instead of a member.
    if (key === '__proto__') Object.defineProperty(copied, key, { value: item, enumerable: true });
    else copied[key] = item;
  }
  return copied;
}
