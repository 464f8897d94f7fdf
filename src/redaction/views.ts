/** Takes the disguises off a text, and remembers where each character came from. */

import type { SignPlaces } from './detector.ts';
import { disguiseEnd, ERASE, KEEP, PLAIN, shown } from './disguises.ts';
import { codesOf } from './reading.ts';

/** A text to look at instead of another one. */
export interface View {
  readonly text: string;
  /** Where a character of it begins in the other one, and where it ends there. */
  readonly startOf: (index: number) => number;
  readonly endOf: (index: number) => number;
}

/**
 * Percent-encoding, `\u`, `\x` and other escapes, character references, soft line breaks;
 * look-alikes that Unicode itself takes for ASCII; what a terminal does not show: control
 * sequences, overstruck characters, everything that is invisible by its class. One layer of each;
 * `null` where nothing changed. What is inside a span goes with it, what stands after it stays. The
 * view is good until the next one of the same depth. Where `signs` are known, the characters
 * between them need no look.
 */
export function unfold(text: string, depth: number, signs: SignPlaces = null): View | null {
  const codes = codesOf(text);
  const { length } = text;
  const next =
    signs === null || Buffer.byteLength(text) !== length
      ? plainEnds(codes, length)
      : knownPlaces(signs, length);
  const first = firstDisguise(text, codes, length, next);
  if (first === length) return null;
  const { out, stretches } = roomFor(depth, length);
  out.set(codes.subarray(0, first));
  stretches.count = 0;
  begin(stretches, 0, 0, 1);
  let to = first;
  for (let at = first; at < length; ) {
    const after = disguiseEnd(text, codes, at, codes[at] ?? 0, length);
    const seen = shown === KEEP ? (codes[at] ?? 0) : shown;
    if (seen === ERASE && to > 0) to -= 1;
    if (seen < 0) begin(stretches, to, after, after + 1);
    else {
      begin(stretches, to, at, after);
      out[to] = seen;
      to += 1;
    }
    at = next(after);
    to = copy(codes, after, at, out, to);
  }
  const view = Buffer.from(out.buffer, 0, to * 2).toString('utf16le');
  return {
    text: view,
    startOf: (index) => startOf(stretches, index),
    endOf: (index) => endOf(stretches, index),
  };
}

/** Answers where the next sign stands that can begin a disguise. Ask with places that only grow. */
type NextSign = (from: number) => number;

/** Where the first disguise stands: most signs that can begin one begin none. */
function firstDisguise(text: string, codes: Uint16Array, length: number, next: NextSign): number {
  for (let at = next(0); at < length; at = next(at + 1)) {
    disguiseEnd(text, codes, at, codes[at] ?? 0, length);
    if (shown !== KEEP) return at;
  }
  return length;
}

const plainEnds =
  (codes: Uint16Array, length: number): NextSign =>
  (from) => {
    let at = from;
    while (at < length && PLAIN[codes[at] ?? 0] === 1) at += 1;
    return at;
  };

function knownPlaces(signs: ArrayLike<number>, length: number): NextSign {
  let sign = 0;
  return (from) => {
    while (sign < signs.length && (signs[sign] ?? 0) < from) sign += 1;
    return signs[sign] ?? length;
  };
}

/** Characters that stand for themselves; answers where the next one goes. */
function copy(codes: Uint16Array, from: number, end: number, out: Uint16Array, to: number): number {
  const shift = to - from;
  for (let at = from; at < end; at += 1) out[at + shift] = codes[at] ?? 0;
  return end + shift;
}

interface Room {
  readonly out: Uint16Array;
  readonly stretches: Stretches;
}

/** One for each layer: a view is read while those below it are made, and no longer. */
const rooms: Room[] = [];

function roomFor(depth: number, length: number): Room {
  const known = rooms[depth];
  if (known !== undefined && known.out.length >= length) return known;
  const size = Math.max(length, 4_096);
  return (rooms[depth] = { out: new Uint16Array(size), stretches: stretchesFor(size) });
}

/**
 * Stretches of a view. The first character of each stands from `starts` to `ends` in the text; the
 * others follow it one by one.
 */
interface Stretches {
  count: number;
  readonly places: Uint32Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** What stood at this place or behind it was erased. */
function begin(stretches: Stretches, place: number, start: number, end: number): void {
  const { places, starts, ends } = stretches;
  let { count } = stretches;
  while (count > 0 && (places[count - 1] ?? 0) >= place) count -= 1;
  places[count] = place;
  starts[count] = start;
  ends[count] = end;
  stretches.count = count + 1;
}

function stretchOf({ count, places }: Stretches, index: number): number {
  let low = 0;
  for (let high = count; high - low > 1; ) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) <= index) low = middle;
    else high = middle;
  }
  return low;
}

function startOf(stretches: Stretches, index: number): number {
  const own = stretchOf(stretches, index);
  const inside = index - (stretches.places[own] ?? 0);
  return inside === 0 ? (stretches.starts[own] ?? 0) : (stretches.ends[own] ?? 0) + inside - 1;
}

const endOf = (stretches: Stretches, index: number): number => {
  const own = stretchOf(stretches, index);
  return (stretches.ends[own] ?? 0) + index - (stretches.places[own] ?? 0);
};

const stretchesFor = (length: number): Stretches => {
  const numbers = () => new Uint32Array(length + 2);
  return { count: 0, places: numbers(), starts: numbers(), ends: numbers() };
};
