/** Reads a token of a family from the place at which its prefix stands. */

import { isAlnum, isIn, looksGenerated, type Reading } from './characters.ts';
import type { Emit } from './detector.ts';
import type { TokenFamily } from './families/family.ts';

const DOT = 46;
const COLON = 58;

/** Emits the token whose prefix begins at `start`, and passes over everything that begins inside one that was found. */
export function tokenAt(reading: Reading, family: TokenFamily, start: number, end: number, emit: Emit): void {
  if (start < reading.done) return;
  const from = family.back === undefined ? start : startBefore(reading.codes, start, family.back);
  if (from < 0 || (from > 0 && isAlnum(reading.codes[from] ?? 0) && isAlnum(reading.codes[from - 1] ?? 0))) return;
  if (family.shape === undefined) bodyToken(reading, family, from, end, emit);
  else shapedToken(reading, family, family.shape, start, emit);
}

function bodyToken(reading: Reading, { label, alphabet, min, max, look }: TokenFamily, from: number, body: number, emit: Emit): void {
  let end = reading.runEnd(alphabet, body);
  while (end > body && (reading.codes[end - 1] === DOT || reading.codes[end - 1] === COLON)) end -= 1;
  const length = end - body;
  if (length < min || length > max) return;
  if (length > 2 && !looksGenerated(reading.looksOf(body, end), look)) return;
  emit(from, end, label);
  reading.done = end;
}

function shapedToken(reading: Reading, { label, look }: TokenFamily, shape: RegExp, start: number, emit: Emit): void {
  shape.lastIndex = start;
  const match = shape.exec(reading.text);
  if (match === null) return;
  const end = start + match[0].length;
  const from = match[1] === undefined ? start : end - match[1].length;
  if (!looksGenerated(reading.looksOf(from, end), look)) return;
  emit(from, end, label);
  reading.done = end;
}

/** Where a token begins whose mark stands at `mark`; `-1` where what stands before it has another length. */
function startBefore(codes: Uint16Array, mark: number, [alphabet, min, max]: NonNullable<TokenFamily['back']>): number {
  let from = mark;
  while (from > 0 && mark - from <= max && isIn(alphabet, codes[from - 1] ?? 0)) from -= 1;
  const length = mark - from;
  return length >= min && length <= max ? from : -1;
}
