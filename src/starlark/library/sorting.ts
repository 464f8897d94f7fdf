// sorted(), min() and max(): the order of values, with a key.

import { callValue } from '../call.ts';
import { type ComparisonOperator, compare } from '../compare.ts';
import { StarlarkError } from '../errors.ts';
import { iterate } from '../iterate.ts';
import { SLOT_BYTES, type Thread } from '../thread.ts';
import {
  type Builtin,
  type BuiltinCall,
  List,
  type StarlarkFunction,
  Tuple,
  type Value,
} from '../values.ts';
import { accountItems } from './accounting.ts';
import { named } from './arguments.ts';
import { prefixed } from './numbers.ts';
import { lastComparisonError } from './stable-sort.ts';
import { typeName } from '../kinds.ts';

const sortedArguments = named('sorted', [
  { name: 'iterable', kind: 'iterable' },
  { name: 'key', kind: 'callable', optional: true },
  { name: 'reverse', kind: 'bool', optional: true },
]);

/**
 * `sorted(iterable, key, reverse)`: a new list; equal elements keep their order, also in reverse.
 */
export const sorted: BuiltinCall = (thread, args, kwargs) => {
  const [iterable, key, reverse = false] = sortedArguments(args, kwargs);
  const iterator = iterate(iterable);
  if (iterator === undefined) return new List([]);
  try {
    const values = drain(thread, iterator);
    const keys =
      key === undefined ? values : values.map((value) => callValue(thread, key, [value], null));
    return new List(sortBy(thread, values, keys, reverse));
  } finally {
    iterator.done();
  }
};

function drain(thread: Thread, iterator: { next(): Value | undefined }): Value[] {
  accountItems(thread, 0);
  const values: Value[] = [];
  for (let value = iterator.next(); value !== undefined; value = iterator.next()) {
    thread.account(SLOT_BYTES);
    values.push(value);
  }
  return values;
}

function sortBy(
  thread: Thread,
  values: Value[],
  keys: readonly Value[],
  reverse: boolean,
): Value[] {
  chargeSort(thread, values.length);
  const sign = reverse ? -1 : 1;
  if (keys === values && values.every((value) => typeof value === 'number')) {
    return values.sort((a, b) => sign * (a - b));
  }
  thread.account(values.length * SLOT_BYTES);
  const order = Uint32Array.from(values, (_, index) => index);
  try {
    order.sort((a, b) => sign * orderOf(thread, keys, a, b) || a - b);
  } catch (error) {
    throw comparisonError(thread, keys, reverse, error);
  }
  // The order holds each index of the values once.
  return Array.from(order, (index) => values[index] as Value);
}

/** As many comparisons as a merge sort makes, a step for every four of them. */
function chargeSort(thread: Thread, length: number): void {
  thread.step(Math.ceil((length * Math.log2(length + 1)) / 4));
}

function orderOf(thread: Thread, keys: readonly Value[], a: number, b: number): number {
  // Both are indexes of the keys.
  const [x, y] = [keys[a] as Value, keys[b] as Value];
  if (typeof x === 'string' && typeof y === 'string') return x < y ? -1 : x > y ? 1 : 0;
  if (compare(thread, '<', x, y)) return -1;
  return compare(thread, '<', y, x) ? 1 : 0;
}

/**
 * The message says which types have no order, and which stands first depends on the comparisons
 * made: so make the same.
 */
function comparisonError(
  thread: Thread,
  keys: readonly Value[],
  reverse: boolean,
  error: unknown,
): unknown {
  if (!(error instanceof StarlarkError) || error.kind !== 'eval') return error;
  const less = (a: Value, b: Value): boolean =>
    reverse ? compare(thread, '<', b, a) : compare(thread, '<', a, b);
  return lastComparisonError(thread, keys, less) ?? error;
}

/**
 * `min` and `max` over one iterable or several arguments, with `key`. The first of several equal
 * ones wins.
 */
export function extremum(name: 'min' | 'max', operator: ComparisonOperator): BuiltinCall {
  const readNamed = named(name, [{ name: 'key', kind: 'callable', optional: true }]);
  return (thread, args, kwargs) => {
    if (args.length === 0)
      throw new StarlarkError(`${name} requires at least one positional argument`);
    const [key] = readNamed([], kwargs);
    const [first = null] = args;
    const iterable = args.length === 1 ? first : new Tuple(key === undefined ? args : [...args]);
    const iterator = iterate(iterable);
    if (iterator === undefined)
      throw new StarlarkError(`${name}: ${typeName(iterable)} value is not iterable`);
    try {
      const found = extremeOf(thread, iterator, { name, operator, key });
      if (found === undefined) throw new StarlarkError(`${name}: argument is an empty sequence`);
      return found;
    } finally {
      iterator.done();
    }
  };
}

interface Extreme {
  readonly name: string;
  readonly operator: ComparisonOperator;
  readonly key: StarlarkFunction | Builtin | undefined;
}

function extremeOf(
  thread: Thread,
  iterator: { next(): Value | undefined },
  { name, operator, key }: Extreme,
): Value | undefined {
  let best = iterator.next();
  if (best === undefined) return undefined;
  let bestKey = key === undefined ? best : callValue(thread, key, [best], null);
  for (let value = iterator.next(); value !== undefined; value = iterator.next()) {
    thread.step();
    const valueKey = key === undefined ? value : callValue(thread, key, [value], null);
    if (isBefore(thread, name, operator, [valueKey, bestKey])) [best, bestKey] = [value, valueKey];
  }
  return best;
}

function isBefore(
  thread: Thread,
  name: string,
  operator: ComparisonOperator,
  [x, y]: readonly [Value, Value],
): boolean {
  if (typeof x === 'number' && typeof y === 'number') return operator === '<' ? x < y : x > y;
  try {
    return compare(thread, operator, x, y);
  } catch (error) {
    throw prefixed(name, error);
  }
}
