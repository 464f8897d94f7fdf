/** What stretches of hex or base64 decode to, as far as it can be read. */

import type { View } from './views.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** What is written in base64, in both alphabets, and what each character stands for. */
export const BASE64 = `${ALPHABET}-_`;
export const SEXTETS = new Uint8Array(128);
const HEX_DIGITS = Uint8Array.from(
  SEXTETS,
  (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0,
);
for (const [value, char] of Array.from(BASE64).entries())
  SEXTETS[char.charCodeAt(0)] = value < 64 ? value : value - 2;

/**
 * A stretch that decodes to readable text: every `unit` characters make `bytes` of it, from `place`
 * on in all that was decoded.
 */
export interface EncodedRun {
  readonly start: number;
  readonly end: number;
  readonly unit: number;
  readonly bytes: number;
  readonly place: number;
}

/** All that was decoded up to `size`, as a view of the text that the runs stand in. */
export function viewOf(runs: readonly EncodedRun[], size: number): View {
  const runAt = (index: number): EncodedRun | undefined => {
    let low = 0;
    for (let high = runs.length; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if ((runs[middle]?.place ?? 0) <= index) low = middle;
      else high = middle;
    }
    return runs[low];
  };
  return {
    text: room.toString('latin1', 0, size),
    startOf(index) {
      const { start = 0, unit = 1, bytes = 1, place = 0 } = runAt(index) ?? {};
      return start + Math.floor((index - place) / bytes) * unit;
    },
    endOf(index) {
      const { start = 0, end = 0, unit = 1, bytes = 1, place = 0 } = runAt(index) ?? {};
      return Math.min(end, start + Math.ceil((index + 1 - place) / bytes) * unit);
    },
  };
}

/** Bytes that are printable by chance stand alone; what people wrote stands together. */
const MIN_READABLE = 10;

/** Line feeds between what two stretches decode to: no token goes on from one to the other. */
const GAP = 2;
const LINE_FEED = 10;
/** What was decoded of one text; all texts share it. */
let room = Buffer.alloc(4_096);

/**
 * Decodes a stretch to the place `to`; answers where the next one goes, or `to` where nothing of it
 * is readable.
 */
export function decode(
  codes: Uint16Array,
  start: number,
  end: number,
  unit: number,
  to: number,
): number {
  if (to + end - start > room.length - GAP)
    room = Buffer.concat([room], 2 * (to + end - start + GAP));
  const [digits, bits] = unit === 2 ? [HEX_DIGITS, 4] : [SEXTETS, 6];
  let held = 0;
  let count = 0;
  let last = to;
  for (let at = start; at < end; at += 1) {
    held = ((held << bits) | (digits[codes[at] ?? 0] ?? 0)) & 0xffff;
    count += bits;
    if (count < 8) continue;
    count -= 8;
    room[last] = held >> count;
    last += 1;
  }
  if (!keepReadable(to, last)) return to;
  room[last] = LINE_FEED;
  room[last + 1] = LINE_FEED;
  return last + GAP;
}

/** Blanks out what is readable by chance; answers whether anything is left. */
function keepReadable(start: number, end: number): boolean {
  let readable = false;
  let from = start;
  for (let at = start; at <= end; at += 1) {
    const byte = at < end ? (room[at] ?? 0) : 0;
    if ((byte >= 32 && byte < 127) || byte === 9 || byte === 10 || byte === 13) continue;
    if (at - from >= MIN_READABLE) readable = true;
    else room.fill(0, from, at);
    if (at < end) room[at] = 0;
    from = at + 1;
  }
  return readable;
}
