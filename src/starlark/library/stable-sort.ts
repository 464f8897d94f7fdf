// The reference's way of sorting, for its errors alone: insertion sort in blocks, then merging in
// place by rotation.

import { StarlarkError } from '../errors.ts';
import type { Thread } from '../thread.ts';
import type { Value } from '../values.ts';

const BLOCK = 20;
/** Above this the order of the types in a message is not worth the comparisons. */
const MAX_LENGTH = 4096;

type Less = (a: Value, b: Value) => boolean;

/**
 * The error of the last comparison that fails when the values are sorted as the reference does,
 * which goes on after an error as if the answer were no. Undefined for long lists.
 */
export function lastComparisonError(
  thread: Thread,
  values: readonly Value[],
  less: Less,
): StarlarkError | undefined {
  if (values.length > MAX_LENGTH) return undefined;
  const sorter = new BlockSorter(thread, [...values], less);
  sorter.sort();
  return sorter.error;
}

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
      for (let start = 0; start + size < length; start += 2 * size) {
        this.merge(start, start + size, Math.min(start + 2 * size, length));
      }
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
