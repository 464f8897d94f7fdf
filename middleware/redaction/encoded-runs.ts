/** Finds text that was written as base64 or hex, and decodes it. */

import { codesOf } from './codes.ts';

/** A stretch that decodes to readable text; `unit` characters of it make `bytes` of that text. */
export interface EncodedRun {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly unit: number;
  readonly bytes: number;
}

const MIN_RUN = 16;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The character belongs to base64, in one of both alphabets. */
const IN_RUN = 1;
/** Where the character is the first, second or third of four, the byte that ends there can be ASCII text. */
const FIRST = 2;
const SECOND = 4;
const THIRD = 8;

const HEX_DIGIT = 16;
const ZERO = 48;
const DASH = 45;

const CLASSES = new Uint8Array(65_536);
for (const [value, char] of Array.from(`${ALPHABET}-_`).entries()) {
  const sextet = value < 64 ? value : value - 2;
  const isFirst = (sextet >= 8 && sextet < 32) || sextet === 2 || sextet === 3;
  const isText = (isFirst ? FIRST : 0) | ((sextet & 8) === 0 ? SECOND : 0) | ((sextet & 2) === 0 ? THIRD : 0);
  CLASSES[char.charCodeAt(0)] = IN_RUN | isText | (/[0-9a-f]/i.test(char) ? HEX_DIGIT : 0);
}

type Codes = Uint16Array;

const has = (codes: Codes, index: number, flag: number): boolean => ((CLASSES[codes[index] ?? 0] ?? 0) & flag) !== 0;

/** Readable stretches inside runs of base64 or hex. Looks at every sixteenth character first: prose has no run that long. */
export function encodedRuns(text: string): readonly EncodedRun[] {
  if (text.length < MIN_RUN) return NO_RUNS;
  let found: EncodedRun[] | null = null;
  const codes = codesOf(text);
  for (let probe = MIN_RUN - 1; probe < text.length; ) {
    if (!has(codes, probe, IN_RUN)) {
      probe += MIN_RUN;
      continue;
    }
    let start = probe;
    while (start > 0 && has(codes, start - 1, IN_RUN)) start -= 1;
    let end = probe + 1;
    while (end < text.length && has(codes, end, IN_RUN)) end += 1;
    if (end - start >= MIN_RUN) decodeRun(text, codes, start, end, (found ??= []));
    probe = end + MIN_RUN;
  }
  return found ?? NO_RUNS;
}

const NO_RUNS: readonly EncodedRun[] = Object.freeze([]);

function decodeRun(text: string, codes: Codes, start: number, end: number, found: EncodedRun[]): void {
  // Hex digits and dashes are a digest or an id; text in base64 always has other letters too.
  const digits = hexDigits(codes, start, end);
  if (digits === null) base64Stretches(text, codes, start, end, found);
  else if (digits) for (let offset = 0; offset < 2; offset += 1) hexStretches(text, codes, start + offset, end, found);
}

/** Whether a run is all hex digits, hex digits with dashes (`false`), or neither (`null`). */
function hexDigits(codes: Codes, start: number, end: number): boolean | null {
  let isPlain = true;
  for (let index = start; index < end; index += 1) {
    const code = codes[index] ?? 0;
    if (code === DASH) isPlain = false;
    else if (!has(codes, index, HEX_DIGIT)) return null;
  }
  return isPlain;
}

const MIN_QUADS = 4;
const MIN_PAIRS = 10;

/** Where the text that is being followed began, for each of the four ways in which a run can be cut into fours. */
const began = new Int32Array(4);

/** Keeps the parts of a run in which four after four can stand for text; a picture has hardly any. */
function base64Stretches(text: string, codes: Codes, start: number, end: number, found: EncodedRun[]): void {
  for (let phase = 0; phase < 4; phase += 1) began[phase] = start + phase;
  for (let at = start; at < end; at += 1) {
    const isText = has(codes, at, FIRST) && (at + 1 >= end || has(codes, at + 1, SECOND)) && (at + 2 >= end || has(codes, at + 2, THIRD));
    if (isText) continue;
    const phase = (at - start) & 3;
    const from = began[phase] ?? at;
    if (at - from >= MIN_QUADS * 4) keep(text, from, at, 4, found);
    began[phase] = at + 4;
  }
  for (const from of began) if (end - from >= MIN_QUADS * 4) keep(text, from, end, 4, found);
}

function hexStretches(text: string, codes: Codes, start: number, end: number, found: EncodedRun[]): void {
  let from = start;
  for (let at = start; at < end; at += 2) {
    const high = (codes[at] ?? 0) - ZERO;
    if ((high >= 2 && high <= 7) || (high === 0 && '9adAD'.includes(text.charAt(at + 1)))) continue;
    if (at - from >= MIN_PAIRS * 2) keep(text, from, at, 2, found);
    from = at + 2;
  }
  if (end - from >= MIN_PAIRS * 2) keep(text, from, end, 2, found);
}

function keep(text: string, start: number, end: number, unit: number, found: EncodedRun[]): void {
  const decoded = Buffer.from(text.slice(start, end), unit === 2 ? 'hex' : 'base64').toString('latin1');
  // Bytes that are printable by chance stand alone; what somebody wrote stands together.
  const readable = decoded.replace(/[\x20-\x7e\t\r\n]{10,}|[\s\S]/g, (part) => (part.length === 1 ? '\0' : part));
  if (/[^\0]/.test(readable)) found.push({ start, end, text: readable, unit, bytes: unit === 2 ? 1 : 3 });
}
