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
 * a private member of the value: other code cannot read, copy or forge it, a frozen value can bear
 * it, and it dies with its value. A weak set would say the same and cost more than the copy of a
 * small object, because the collector looks at each of its entries again and again.
 */
class Mark extends Same {
  #known: Known | null = null;

  /**
   * True only for values that are frozen in depth and can be shared and cached by identity. Not for
   * all that are.
   */
  static readonly isSnapshot = (value: object): boolean => #known in value;

  /**
   * What is known about a snapshot, to be read and added to; `null` for any other value, which may
   * change under the same identity.
   */
  static readonly knownOf = (value: object): Known | null => {
    if (!(#known in value)) return null;
    return (value.#known ??= { text: null, hash: '', hasher: null });
  };
}

/** What was worked out about a snapshot, kept with it. */
interface Known {
  /** Its canonical text; `null` where that is not known, or too long to be kept. */
  text: string | null;
  /** Its hash by `hasher`, the last one that was asked. */
  hash: string;
  hasher: ((value: JsonValue) => string) | null;
}

/** What this module knows of a value by its identity. */
export const { isSnapshot, knownOf } = Mark;

/** The hash of a value by `hasher`. That of a snapshot is kept with it. */
export function hashBy(hasher: (value: JsonValue) => string, value: JsonValue): string {
  const known = typeof value === 'object' && value !== null ? knownOf(value) : null;
  if (known?.hasher === hasher) return known.hash;
  const hash = hasher(value);
  if (known !== null) {
    known.hash = hash;
    known.hasher = hasher;
  }
  return hash;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Copies a foreign value into frozen JSON, reading every property once, so that a getter or a proxy
 * cannot show one value to a check and another to the tool. Dates become ISO strings, an inherited
 * `toJSON` is asked, `undefined` members are left out. Throws `ERR_NOT_JSON` for everything JSON
 * cannot say; it does not guess. The limits are for what a stranger made: an object that holds
 * another one twice, which holds a third one twice, is small and has no end.
 */
export function snapshot(
  value: unknown,
  maxValues = Number.POSITIVE_INFINITY,
  maxDepth = MAX_JSON_DEPTH,
): JsonValue {
  const left = maxValues === Number.POSITIVE_INFINITY ? null : maxValues;
  const isBounded = left !== null || maxDepth !== MAX_JSON_DEPTH;
  return copy(value, isBounded ? { isMarked: true, left, maxDepth } : UNBOUNDED, opened);
}

/** Which limit of a snapshot a value is beyond, by the error that it gave. */
export function excessBehind(error: unknown): 'deep' | 'wide' | null {
  if (!(error instanceof AlliumError)) return null;
  const { reason } = error.details;
  if (reason === TOO_DEEP) return 'deep';
  return reason === TOO_WIDE ? 'wide' : null;
}

const TOO_WIDE = 'too_many_values';
const TOO_DEEP = 'too_deep';

const tooWide = (): AlliumError =>
  new AlliumError('ERR_NOT_JSON', 'the value holds too many values', { reason: TOO_WIDE });

const tooDeep = (maxDepth: number): AlliumError =>
  new AlliumError('ERR_NOT_JSON', `the value nests deeper than ${maxDepth}`, { reason: TOO_DEEP });

/**
 * A copy like a snapshot, without the mark and with an outermost object that is not frozen: for
 * what goes into a record and is taken apart there.
 */
export function openCopy(value: unknown): JsonObject {
  const made = copy(value, UNMARKED, opened);
  if (!isObject(made)) throw notJson('', 'is not an object');
  return made;
}

/** `snapshot` for values that must be objects. */
export function snapshotObject(value: unknown, maxValues?: number, maxDepth?: number): JsonObject {
  const copy = snapshot(value, maxValues, maxDepth);
  if (!isObject(copy)) throw notJson('', 'is not an object');
  return copy;
}

/**
 * Makes a snapshot in place of JSON that the caller has just made or parsed, and that no other code
 * holds. Depth must have been checked before.
 */
export function freezeParsed<T extends JsonValue>(value: T): T {
  if (typeof value !== 'object' || value === null || isSnapshot(value)) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) freezeParsed(value[index] as JsonValue);
  } else {
    const members = value as JsonObject; // Neither a list nor anything simple.
    for (const name in members)
      if (Object.hasOwn(members, name)) freezeParsed(members[name] ?? null);
  }
  new Mark(Object.freeze(value));
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

/** One walk over a foreign value. */
interface Walk {
  /** Whether the copy and its parts can be asked for by identity. */
  readonly isMarked: boolean;
  /** How many more values the copy may hold; `null` for any number. */
  left: number | null;
  readonly maxDepth: number;
}

const UNMARKED: Walk = { isMarked: false, left: null, maxDepth: MAX_JSON_DEPTH };
const UNBOUNDED: Walk = { ...UNMARKED, isMarked: true };

/**
 * How many objects are open: those around the one being copied, and those of a copy that is under
 * way while a getter in its value asks for another one.
 */
let opened = 0;
/** They, and the way to each for the path in an error. Not cut back: to grow again costs more. */
const open: (object | null)[] = [];
/** `null` where an object is written in the form that its `toJSON` gave. */
const steps: (string | number | null)[] = [];

const refuse = (problem: string, outside: number): AlliumError =>
  notJson(
    steps
      .slice(outside, opened)
      .map((step) => (typeof step === 'number' ? `[${step}]` : step === null ? '' : `.${step}`))
      .join('')
      .replace(/^\./, ''),
    problem,
  );

/** `outside` is how many objects are open that belong to another copy. */
function copy(value: unknown, walk: Walk, outside: number): JsonValue {
  if (walk.left !== null) {
    walk.left -= 1;
    if (walk.left < 0) throw tooWide();
  }
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw refuse('is not a finite number', outside);
      return value;
    case 'object':
      return value === null ? null : copyObject(value, walk, outside);
    case 'undefined':
      throw refuse('is undefined', outside);
    case 'bigint':
    case 'function':
    case 'symbol':
      throw refuse(`is a ${typeof value}`, outside);
  }
}

function copyObject(value: object, walk: Walk, outside: number): JsonValue {
  const at = opened;
  const depth = at - outside;
  // Only values made here are marked, so this is JSON already.
  if (isSnapshot(value)) {
    if (walk.left !== null) walk.left = roomBeside(value, walk.left, depth, walk.maxDepth);
    return value as JsonValue;
  }
  if (depth >= walk.maxDepth)
    throw depth >= MAX_JSON_DEPTH
      ? refuse(`nests deeper than ${MAX_JSON_DEPTH}`, outside)
      : tooDeep(walk.maxDepth);
  // Few are open at a time: looking through them costs less than a set.
  for (let outer = outside; outer < at; outer += 1)
    if (open[outer] === value) throw refuse('contains itself', outside);
  const isList = Array.isArray(value);
  const prototype: unknown = isList ? null : Object.getPrototypeOf(value);
  const isPlain = prototype === null || prototype === Object.prototype;
  const plain = isPlain ? value : plainForm(value, outside);
  opened = at + 1;
  open[at] = value;
  steps[at] = null;
  try {
    if (plain !== value) return copy(plain, walk, outside);
    const made = isList
      ? copyArray(value, at, walk, outside)
      : copyMembers(value, at, walk, outside);
    if (walk.isMarked || depth > 0) Object.freeze(made);
    // After freezing: on a list that is about to be frozen the mark costs twice as much.
    if (walk.isMarked) new Mark(made);
    return made;
  } finally {
    opened = at;
    open[at] = null;
    steps[at] = null;
  }
}

/**
 * How many values may still stand beside a snapshot. It is not copied again, but it can make the
 * value around it too wide or too deep.
 */
function roomBeside(value: object, room: number, outerDepth: number, maxDepth: number): number {
  let left = room;
  const pending = [{ node: value, depth: outerDepth + 1 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, depth } = next;
    if (depth > maxDepth) throw tooDeep(maxDepth);
    const items = Object.values<unknown>(node as Record<string, unknown>);
    left -= items.length;
    if (left < 0) throw tooWide();
    for (const item of items) if (isNode(item)) pending.push({ node: item, depth: depth + 1 });
  }
  return left;
}

/**
 * What an object that is neither a list nor a plain one wants to be as JSON. An own `toJSON` is
 * data that was sent, never a method to call.
 */
function plainForm(value: object, outside: number): unknown {
  if (value instanceof Map || value instanceof Set || value instanceof Promise) {
    throw refuse(`is a ${value.constructor.name}`, outside);
  }
  if (Object.hasOwn(value, 'toJSON')) return value;
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON !== 'function' && !isPlainEnough(value))
    throw refuse('is an object whose content JSON cannot hold', outside);
  if (typeof toJSON !== 'function') return value;
  const plain: unknown = Reflect.apply(toJSON, value, []);
  if (plain === value) throw refuse('has a toJSON that answers itself', outside);
  return plain;
}

/**
 * Errors, streams and responses have no members and a tag of their own: as `{}` their content would
 * be lost. Typed arrays have their elements as members, and are no lists to JSON.
 */
const isPlainEnough = (value: object): boolean =>
  (Object.keys(value).length > 0 && !ArrayBuffer.isView(value)) ||
  Object.prototype.toString.call(value) === '[object Object]';

function copyArray(
  value: readonly unknown[],
  at: number,
  walk: Walk,
  outside: number,
): JsonValue[] {
  const { length } = value;
  if (walk.left !== null && length > walk.left) throw tooWide();
  const list = new Array<JsonValue>(length);
  for (let index = 0; index < length; index += 1) {
    steps[at] = index;
    list[index] = copy(value[index], walk, outside);
  }
  return list;
}

function copyMembers(
  value: object,
  at: number,
  walk: Walk,
  outside: number,
): Record<string, JsonValue> {
  const members: Record<string, JsonValue> = {};
  // A list of the names would be garbage at once.
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const member: unknown = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    steps[at] = key;
    const item = copy(member, walk, outside);
    // Assigning `__proto__` would set the prototype instead of a member.
    if (key === '__proto__') Object.defineProperty(members, key, { value: item, enumerable: true });
    else members[key] = item;
  }
  return members;
}
