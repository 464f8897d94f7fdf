// `x[i]`, `x[i] = v` and `x[a:b:c]`.

import { StarlarkError } from './errors.ts';
import { asInt32 } from './ints.ts';
import { checkMutable } from './iterate.ts';
import { dictGet, dictSet } from './keys.ts';
import { repr } from './repr.ts';
import { OBJECT_BYTES, SLOT_BYTES, type Thread } from './thread.ts';
import { Dict, List, Range, Tuple, type Value } from './values.ts';
import { typeName } from './kinds.ts';

/** `object[index]`. */
export function getIndex(thread: Thread, object: Value, index: Value): Value {
  if (object instanceof Dict) {
    const value = dictGet(object, index);
    if (value === undefined) throw new StarlarkError(`key ${repr(thread, index)} not in dict`);
    return value;
  }
  const length = sequenceLength(object);
  if (length === undefined)
    throw new StarlarkError(`unhandled index operation ${typeName(object)}[${typeName(index)}]`);
  return elementAt(
    object,
    indexWithin(object, length, prefixed(`${typeName(object)} index`, index)),
  );
}

/** `object[index] = value`. */
export function setIndex(thread: Thread, object: Value, index: Value, value: Value): void {
  if (object instanceof Dict) return dictSet(thread, object, index, value);
  if (!(object instanceof List))
    throw new StarlarkError(`${typeName(object)} value does not support item assignment`);
  const at = indexWithin(object, object.items.length, asInt32(index));
  checkMutable(object, 'assign to element of');
  object.items[at] = value;
}

/** How many elements a sequence has that can be indexed; undefined for other values. */
function sequenceLength(value: Value): number | undefined {
  if (typeof value === 'string') return value.length;
  if (value instanceof List || value instanceof Tuple) return value.items.length;
  return value instanceof Range ? value.length : undefined;
}

function elementAt(object: Value, index: number): Value {
  if (typeof object === 'string') return object.charAt(index);
  if (object instanceof Range) return object.start + object.step * index;
  // The index is within the bounds.
  return object instanceof List || object instanceof Tuple ? (object.items[index] as Value) : null;
}

function indexWithin(object: Value, length: number, index: number): number {
  const at = index < 0 ? index + length : index;
  if (at >= 0 && at < length) return at;
  if (length === 0)
    throw new StarlarkError(`index ${index} out of range: empty ${typeName(object)}`);
  throw new StarlarkError(
    `${typeName(object)} index ${index} out of range [${-length}:${length - 1}]`,
  );
}

function prefixed(what: string, value: Value): number {
  try {
    return asInt32(value);
  } catch (error) {
    throw new StarlarkError(`${what}: ${error instanceof Error ? error.message : ''}`);
  }
}

/** `object[low:high:step]`; None is a bound left out. */
export function slice(
  thread: Thread,
  object: Value,
  bounds: { readonly low: Value; readonly high: Value; readonly step: Value },
): Value {
  const length = sequenceLength(object);
  if (length === undefined) throw new StarlarkError(`invalid slice operand ${typeName(object)}`);
  const step = bounds.step === null ? 1 : prefixed('invalid slice step', bounds.step);
  if (step === 0) throw new StarlarkError('zero is not a valid slice step');
  const [least, most] = step > 0 ? [0, length] : [-1, length - 1];
  const start = bound(
    'invalid start index',
    bounds.low,
    length,
    step > 0 ? least : most,
    least,
    most,
  );
  const end = bound('invalid end index', bounds.high, length, step > 0 ? most : least, least, most);
  return take(thread, object, start, end, step);
}

function bound(
  what: string,
  value: Value,
  length: number,
  absent: number,
  least: number,
  most: number,
): number {
  if (value === null) return absent;
  const index = prefixed(what, value);
  return Math.min(most, Math.max(least, index < 0 ? index + length : index));
}

function take(thread: Thread, object: Value, start: number, end: number, step: number): Value {
  const count = Math.max(0, Math.ceil((end - start) / step));
  if (object instanceof Range) {
    // An empty result keeps the bounds that an empty range of the reference has: its end is its
    // start.
    const stop = count === 0 ? start : end;
    return new Range(
      object.start + object.step * start,
      object.start + object.step * stop,
      object.step * step,
    );
  }
  if (typeof object === 'string') return takeText(thread, object, start, end, step, count);
  // Only lists and tuples are left.
  const { items } = object as List | Tuple;
  thread.account(OBJECT_BYTES + count * SLOT_BYTES);
  const taken = step === 1 ? items.slice(start, start + count) : pick(items, start, step, count);
  return object instanceof List ? new List(taken) : new Tuple(taken);
}

function takeText(
  thread: Thread,
  text: string,
  start: number,
  end: number,
  step: number,
  count: number,
): string {
  thread.account(count);
  if (step === 1) return text.slice(start, Math.max(start, end));
  let taken = '';
  for (let index = start, left = count; left > 0; left--, index += step)
    taken += text.charAt(index);
  return taken;
}

function pick(items: readonly Value[], start: number, step: number, count: number): Value[] {
  // Each index is within the bounds.
  return Array.from({ length: count }, (_, index) => items[start + index * step] as Value);
}
