// sorted(), min() and max(): the order of values, with a key.

import { callValue } from '../call.ts';
import { compare, type ComparisonOperator } from '../compare.ts';
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
import { typeName } from '../kinds.ts';
import { accountItems } from './accounting.ts';
import { named } from './arguments.ts';
import { prefixed } from './numbers.ts';

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
  if (keys === values && values.every((value) => typeof value === 'number'))
    return values.sort((a, b) => sign * (a - b));
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
  if (typeof x === 'string' && typeof y === 'string') return Number(x > y) - Number(x < y);
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

const BLOCK = 20;
/** Above this the order of the types in a message is not worth the comparisons. */
const MAX_LENGTH = 4096;

type Less = (a: Value, b: Value) => boolean;

/**
 * The error of the last comparison that fails when the values are sorted as the reference does,
 * which goes on after an error as if the answer were no. Undefined for long lists.
 */
function lastComparisonError(
  thread: Thread,
  values: readonly Value[],
  less: Less,
): StarlarkError | undefined {
  if (values.length > MAX_LENGTH) return undefined;
  const sorter = new BlockSorter(thread, [...values], less);
  sorter.sort();
  return sorter.error;
}

/** Insertion sort in blocks, then merging in place by rotation. */
class BlockSorter {
  readonly thread: Thread;
  readonly values: Value[];
  readonly answer: Less;
  error: StarlarkError | undefined;

  constructor(thread: Thread, values: Value[], less: Less) {
    this.thread = thread;
    this.values = values;
    this.answer = less;
  }

  sort(): void {
    const { length } = this.values;
    for (let start = 0; start < length; start += BLOCK)
      this.insertionSort(start, Math.min(start + BLOCK, length));
    for (let size = BLOCK; size < length; size *= 2) {
      for (let start = 0; start + size < length; start += 2 * size)
        this.merge(start, start + size, Math.min(start + 2 * size, length));
    }
  }

  private less(a: number, b: number): boolean {
    this.thread.step();
    try {
      // Indexes come from within the list.
      return this.answer(this.values[a] as Value, this.values[b] as Value);
    } catch (error) {
      if (!(error instanceof StarlarkError) || error.kind !== 'eval') throw error;
      this.error = error;
      return false;
    }
  }

  private insertionSort(start: number, end: number): void {
    for (let next = start + 1; next < end; next++) {
      for (let place = next; place > start && this.less(place, place - 1); place--)
        this.rotate(place - 1, place, place + 1);
    }
  }

  /**
   * Two sorted neighbours become one: a single element is put into place, longer parts are cut so
   * that halves can change sides.
   */
  private merge(start: number, middle: number, end: number): void {
    if (start >= middle || middle >= end) return;
    if (middle - start === 1) return this.moveFirst(start, middle, end);
    if (end - middle === 1) return this.moveLast(start, middle);
    const center = Math.floor((start + end) / 2);
    const cut = this.cutAt(start, middle, end);
    const other = center + middle - cut;
    if (cut < middle && middle < other) this.rotate(cut, middle, other);
    this.merge(start, cut, center);
    this.merge(center, other, end);
  }

  private moveFirst(start: number, middle: number, end: number): void {
    const place = firstWhere(middle, end, (index) => !this.less(index, start));
    this.rotate(start, start + 1, place);
  }

  private moveLast(start: number, middle: number): void {
    const place = firstWhere(start, middle, (index) => this.less(middle, index));
    this.rotate(place, middle, middle + 1);
  }

  private cutAt(start: number, middle: number, end: number): number {
    const center = Math.floor((start + end) / 2);
    const sum = center + middle;
    const [low, high] = middle > center ? [sum - end, center] : [start, middle];
    return firstWhere(low, high, (index) => this.less(sum - 1 - index, index));
  }

  /** The parts before and after the middle change places. */
  private rotate(start: number, middle: number, end: number): void {
    const moved = this.values.slice(start, middle);
    this.values.splice(start, end - start, ...this.values.slice(middle, end), ...moved);
  }
}

function firstWhere(from: number, to: number, test: (index: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
