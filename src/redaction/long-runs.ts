/**
 * Long runs of base64 characters: text in another encoding, or keys without a prefix of their own.
 */

import { bareKey, FORMS_BY_LENGTH, REACH } from './bare-keys.ts';
import { type Emit, type Findings, joinedFindings } from './detector.ts';
import { codesOf, type Effort } from './reading.ts';
import type { View } from './views.ts';

/**
 * Reads every run of sixteen characters or more. `emit` is told of bare keys; without it, runs are
 * only decoded. `hints` are the places of words that say that a key follows.
 */
export function readRuns(
  text: string,
  emit: Emit | null,
  hints: readonly number[],
  effort: Effort,
): View | null {
  const { length } = text;
  if (length < MIN_RUN) return null;
  let decoded: EncodedRun[] | null = null;
  let size = 0;
  const codes = codesOf(text);
  let hint = 0;
  let findings: Findings | null = null;
  run.end = 0;
  while (nextRun(codes, length)) {
    const { start, end } = run;
    for (const [from, to] of stretchesOf(codes)) {
      const unit = (run.classes & BEYOND_HEX) === 0 ? 2 : 4;
      const after = decode(codes, from, to, unit, size);
      if (after === size) continue;
      const bytes = unit === 2 ? 1 : 3;
      (decoded ??= []).push({ start: from, end: to, unit, bytes, place: size });
      size = after;
    }
    while (hint < hints.length && (hints[hint] ?? 0) < start - REACH) hint += 1;
    const isHinted = hint < hints.length && (hints[hint] ?? 0) < start;
    if (emit === null || !(isHinted || FORMS_BY_LENGTH[end - start]?.length !== 0)) continue;
    const key = bareKey(text, codes, start, end, isHinted ? effort : null);
    if (key === null) continue;
    findings ??= joinedFindings(effort, emit);
    findings.tell(start, key.end, key.label);
  }
  findings?.end();
  return decoded === null ? null : viewOf(decoded, room.toString('latin1', 0, size));
}

/**
 * A stretch that decodes to readable text: every `unit` characters make `bytes` of it, from `place`
 * on in all that was decoded.
 */
interface EncodedRun {
  readonly start: number;
  readonly end: number;
  readonly unit: number;
  readonly bytes: number;
  readonly place: number;
}

function viewOf(runs: readonly EncodedRun[], text: string): View {
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
    text,
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

/**
 * The long run of base64 characters that is read, with the classes of its characters taken
 * together; also, where the search for the next one begins.
 */
const run = { start: 0, end: 0, classes: 0 };

const MIN_RUN = 16;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The character belongs to base64, in one of both alphabets. */
const IN_RUN = 1;
/**
 * Where the character is the first, second or third of four, the byte that ends there can be ASCII
 * text.
 */
const FIRST = 2;
const SECOND = 4;
const THIRD = 8;

/** The character is neither a hex digit nor a dash. */
const BEYOND_HEX = 16;
const DASH = 32;
const ZERO = 48;

const CLASSES = new Uint8Array(65_536);
const SEXTETS = new Uint8Array(128);
const HEX_DIGITS = Uint8Array.from(
  SEXTETS,
  (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0,
);
for (const [value, char] of Array.from(`${ALPHABET}-_`).entries()) {
  const sextet = value < 64 ? value : value - 2;
  SEXTETS[char.charCodeAt(0)] = sextet;
  const isFirst = (sextet >= 8 && sextet < 32) || sextet === 2 || sextet === 3;
  const isText =
    (isFirst ? FIRST : 0) | ((sextet & 8) === 0 ? SECOND : 0) | ((sextet & 2) === 0 ? THIRD : 0);
  CLASSES[char.charCodeAt(0)] =
    IN_RUN | isText | (/[0-9a-f]/i.test(char) ? 0 : char === '-' ? DASH : BEYOND_HEX);
}

type Codes = Uint16Array;
type Stretch = readonly [start: number, end: number];

/**
 * Moves to the next run, and answers whether there is one. Looks from the end of what would be one:
 * prose has no run that long.
 */
function nextRun(codes: Codes, length: number): boolean {
  let start = run.end;
  // Between `start` and `sure` all characters are in a run.
  let sure = start;
  while (start + MIN_RUN <= length) {
    let at = start + MIN_RUN - 1;
    while (at >= sure && CLASSES[codes[at] ?? 0] !== 0) at -= 1;
    if (at < sure) {
      readOn(codes, start, length);
      return true;
    }
    sure = start + MIN_RUN;
    start = at + 1;
  }
  return false;
}

function readOn(codes: Codes, start: number, length: number): void {
  let end = start;
  let classes = 0;
  for (; end < length; end += 1) {
    const own = CLASSES[codes[end] ?? 0] ?? 0;
    if (own === 0) break;
    classes |= own;
  }
  run.start = start;
  run.end = end;
  run.classes = classes;
}

/** The stretches of one run that may be readable. */
function stretchesOf(codes: Codes): readonly Stretch[] {
  const { start, end, classes } = run;
  // Hex digits and dashes are a digest or an id; text in base64 always has other letters too.
  const isHex = (classes & BEYOND_HEX) === 0;
  if (isHex && (classes & DASH) !== 0) return NOTHING;
  const stretches = isHex ? hexStretches(codes, start, end) : base64Stretches(codes, start, end);
  if (stretches.length < 2) return stretches;
  // A run can be cut into fours in four ways. The right one gives the longest text; the others are
  // taken as far as there is room, so that what is decoded never grows with each layer.
  let left = (end - start) * 1.5 + MIN_RUN;
  stretches.sort((a, b) => b[1] - b[0] - (a[1] - a[0]));
  const taken = stretches.findIndex(([from, to]) => (left -= to - from) < 0);
  return taken === -1 ? stretches : stretches.slice(0, taken);
}

const NOTHING: readonly Stretch[] = Object.freeze([]);

const MIN_QUADS = 4;
const MIN_PAIRS = 10;

/** What is cut off at the end of a run can be anything. */
const classOf = (codes: Codes, at: number, end: number): number =>
  at < end ? (CLASSES[codes[at] ?? 0] ?? 0) : FIRST | SECOND | THIRD;

/** Whether the four that begin here can stand for text. */
const isQuad = (codes: Codes, at: number, end: number): boolean =>
  (classOf(codes, at, end) & FIRST) !== 0 &&
  (classOf(codes, at + 1, end) & SECOND) !== 0 &&
  (classOf(codes, at + 2, end) & THIRD) !== 0;

const MIN_STRETCH = MIN_QUADS * 4;

/**
 * The parts of a run in which four after four can stand for text, for each of the four ways in
 * which a run can be cut into fours; a picture has hardly any. Looks at every fourth four first.
 */
function base64Stretches(codes: Codes, start: number, end: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (let first = start; first < start + 4; first += 1) {
    for (let probe = first + MIN_STRETCH - 4; probe < end; ) {
      if (!isQuad(codes, probe, end)) {
        probe += MIN_STRETCH;
        continue;
      }
      let from = probe;
      while (from > first && isQuad(codes, from - 4, end)) from -= 4;
      let to = probe + 4;
      while (to < end && isQuad(codes, to, end)) to += 4;
      if (Math.min(to, end) - from >= MIN_STRETCH) stretches.push([from, Math.min(to, end)]);
      probe = to + MIN_STRETCH;
    }
  }
  return stretches;
}

function hexStretches(codes: Codes, start: number, end: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (const first of [start, start + 1]) {
    let from = first;
    for (let at = first; at < end; at += 2) {
      const high = (codes[at] ?? 0) - ZERO;
      if ((high >= 2 && high <= 7) || (high === 0 && BLANKS.has(codes[at + 1] ?? 0))) continue;
      if (at - from >= MIN_PAIRS * 2) stretches.push([from, at]);
      from = at + 2;
    }
    if (end - from >= MIN_PAIRS * 2) stretches.push([from, end]);
  }
  return stretches;
}

/** The second digits of tab, line feed and carriage return. */
const BLANKS: ReadonlySet<number> = new Set(Array.from('9adAD').map((char) => char.charCodeAt(0)));

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
function decode(codes: Codes, start: number, end: number, unit: number, to: number): number {
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
