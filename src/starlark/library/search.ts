// Finding a text in a text in linear time: JavaScript's own search is quadratic for patterns made
// to be so.

import { SLOT_BYTES, type Thread } from '../thread.ts';

/** Up to this product of lengths the native search is the faster one even in its worst case. */
const NATIVE_PRODUCT = 1 << 22;
/** Patterns up to this length cannot be bad enough to matter. */
const NATIVE_LENGTH = 16;
/** Bytes that a built-in goes through for one step. */
const BYTES_PER_STEP = 64;

/** Takes steps for going through that many bytes (or elements) outside the program. */
export function chargeWork(thread: Thread, length: number): void {
  thread.step(Math.ceil(length / BYTES_PER_STEP));
}

/**
 * Answers the first place of `sub` at or after an index, or -1; to be asked several times. `sub` is
 * not empty.
 */
export function finder(thread: Thread, text: string, sub: string): (from: number) => number {
  chargeWork(thread, text.length);
  if (isHarmless(text, sub)) return (from) => text.indexOf(sub, from);
  const borders = borderTable(thread, sub);
  return (from) => scan(text, sub, { borders, from, wanted: 'first' });
}

/** The first place of `sub`, or -1. */
export function firstIndex(thread: Thread, text: string, sub: string): number {
  return sub === '' ? 0 : finder(thread, text, sub)(0);
}

/** The last place of `sub`, or -1. */
export function lastIndex(thread: Thread, text: string, sub: string): number {
  chargeWork(thread, text.length);
  if (sub === '') return text.length;
  if (isHarmless(text, sub)) return text.lastIndexOf(sub);
  return scan(text, sub, { borders: borderTable(thread, sub), from: 0, wanted: 'last' });
}

/** How often `sub`, which is not empty, is in a text, counted without overlap. */
export function countOf(thread: Thread, text: string, sub: string): number {
  const find = finder(thread, text, sub);
  let count = 0;
  for (let index = find(0); index >= 0; index = find(index + sub.length)) count++;
  return count;
}

function isHarmless(text: string, sub: string): boolean {
  return (
    sub.length <= NATIVE_LENGTH ||
    sub.length * text.length <= NATIVE_PRODUCT ||
    sub.length > text.length
  );
}

/** For each length of a prefix: the length of its longest proper prefix that is also its suffix. */
function borderTable(thread: Thread, sub: string): Int32Array {
  thread.account(sub.length * SLOT_BYTES);
  chargeWork(thread, sub.length);
  const borders = new Int32Array(sub.length + 1);
  let border = 0;
  for (let index = 1; index < sub.length; index++) {
    while (border > 0 && sub.charCodeAt(index) !== sub.charCodeAt(border))
      border = borders[border] ?? 0;
    if (sub.charCodeAt(index) === sub.charCodeAt(border)) border++;
    borders[index + 1] = border;
  }
  return borders;
}

interface Scan {
  readonly borders: Int32Array;
  readonly from: number;
  /**
   * The first match, or the last: matches may overlap, so the scan goes on with what the match has
   * in common with itself.
   */
  readonly wanted: 'first' | 'last';
}

function scan(text: string, sub: string, { borders, from, wanted }: Scan): number {
  let matched = 0;
  let found = -1;
  for (let index = from; index < text.length; index++) {
    const byte = text.charCodeAt(index);
    while (matched > 0 && byte !== sub.charCodeAt(matched)) matched = borders[matched] ?? 0;
    if (byte === sub.charCodeAt(matched)) matched++;
    if (matched < sub.length) continue;
    found = index + 1 - matched;
    if (wanted === 'first') return found;
    matched = borders[matched] ?? 0;
  }
  return found;
}
