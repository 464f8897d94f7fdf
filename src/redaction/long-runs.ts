/**
 * Long runs of base64 characters: text in another encoding, or keys without a prefix of their own.
 */

import { codesOf, judge, type Looks, looksGenerated } from './characters.ts';
import { type Emit, joinedFindings, A_JUDGEMENT, type Effort, spend } from './detector.ts';
import { ISSUERS, RUNS } from './families/runs.ts';

const NO_RUNS: readonly EncodedRun[] = Object.freeze([]);

/**
 * Reads every run of sixteen characters or more. `emit` is told of bare keys; without it, runs are
 * only decoded. `hints` are the places of words that say that a key follows.
 */
export function readRuns(
  text: string,
  emit: Emit | null,
  hints: readonly number[],
  effort: Effort,
): readonly EncodedRun[] {
  const { length } = text;
  if (length < MIN_RUN) return NO_RUNS;
  let found: EncodedRun[] | null = null;
  const codes = codesOf(text);
  let hint = 0;
  const findings = emit === null ? null : joinedFindings(effort, emit);
  const run: Run = { start: 0, end: 0, classes: 0 };
  while (nextRun(codes, run, length)) {
    const { start, end } = run;
    decodeRun(text, codes, run, (decoded) => (found ??= []).push(decoded));
    while (hint < hints.length && (hints[hint] ?? 0) < start - REACH) hint += 1;
    const isHinted = hint < hints.length && (hints[hint] ?? 0) < start;
    if (findings !== null && end - start <= MAX_KEY)
      bareKey(text, codes, start, end, isHinted ? effort : null, findings.tell);
  }
  findings?.end();
  return found ?? NO_RUNS;
}

const MAX_KEY = 220;
const MIN_KEY = 20;

/** Families by the length of their runs: most lengths have none. */
const BY_LENGTH = Array.from({ length: MAX_KEY + 1 }, (_, length) =>
  RUNS.filter(({ min, max }) => length >= min && length <= max),
);

/**
 * `hinted` where a word before it says that a key follows; once that effort is spent, what looks
 * like a key is one.
 */
function bareKey(
  text: string,
  codes: Uint16Array,
  start: number,
  end: number,
  hinted: Effort | null,
  emit: Emit,
): void {
  const length = end - start;
  for (const { shape, look, label } of BY_LENGTH[length] ?? []) {
    shape.lastIndex = start;
    const match = shape.exec(text);
    if (match !== null && looksGenerated(judge(codes, start, start + match[0].length), look))
      return emit(start, start + match[0].length, label);
  }
  // What follows a dot, a slash or a hash sign is a part of an address.
  if (hinted === null || length < MIN_KEY || PART.has(codes[start - 1] ?? 0) || codes[end] === DOT)
    return;
  const looks = judge(codes, start, end);
  if (length === AWS_SECRET && isAwsSecret(text, start, looks)) return emit(start, end, 'aws');
  // Digits and letters, and not a path or a name of many words: what has few digits is one.
  if (
    !looksGenerated(looks, 'strong') ||
    looks.digits * 12 < length ||
    text.slice(start, end).includes('/')
  )
    return;
  if (!spend(hinted, start, A_JUDGEMENT) || isIssuerBefore(text, start)) emit(start, end, 'secret');
}

const PART: ReadonlySet<number> = new Set(Array.from('./#@%&?~').map((char) => char.charCodeAt(0)));
const DOT = 46;

/** As far before a key as words may stand that tell what it is. */
const REACH = 120;

/** Whether the line before a key names an issuer. */
function isIssuerBefore(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - REACH), start);
  const line = before.slice(before.lastIndexOf('\n') + 1).toLowerCase();
  return line.split(/[^a-z0-9]+/).some((word) => ISSUERS.has(word));
}

const AWS_SECRET = 40;
const NEAR_AWS = /aws|secret|akia|asia/i;

/**
 * Forty characters of base64 are an AWS secret only where something before them says so; a Git
 * commit is forty too.
 */
const isAwsSecret = (text: string, start: number, { uppers, lowers, digits }: Looks): boolean =>
  uppers > 0 &&
  lowers > 0 &&
  digits > 0 &&
  NEAR_AWS.test(text.slice(Math.max(0, start - 120), start));

/** A stretch that decodes to readable text; `unit` characters of it make `bytes` of that text. */
interface EncodedRun {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly unit: number;
  readonly bytes: number;
}

/** A long run of base64 characters; also, where the search for the next one begins. */
interface Run {
  start: number;
  end: number;
  /** The classes of its characters, taken together. */
  classes: number;
}

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
for (const [value, char] of Array.from(`${ALPHABET}-_`).entries()) {
  const sextet = value < 64 ? value : value - 2;
  const isFirst = (sextet >= 8 && sextet < 32) || sextet === 2 || sextet === 3;
  const isText =
    (isFirst ? FIRST : 0) | ((sextet & 8) === 0 ? SECOND : 0) | ((sextet & 2) === 0 ? THIRD : 0);
  CLASSES[char.charCodeAt(0)] =
    IN_RUN | isText | (/[0-9a-f]/i.test(char) ? 0 : char === '-' ? DASH : BEYOND_HEX);
}

type Codes = Uint16Array;
type Keep = (run: EncodedRun) => void;
type Stretch = readonly [start: number, end: number];

/**
 * Moves to the next run, and answers whether there is one. Looks from the end of what would be one:
 * prose has no run that long.
 */
function nextRun(codes: Codes, run: Run, length: number): boolean {
  let start = run.end;
  // Between `start` and `sure` all characters are in a run.
  let sure = start;
  while (start + MIN_RUN <= length) {
    let at = start + MIN_RUN - 1;
    while (at >= sure && CLASSES[codes[at] ?? 0] !== 0) at -= 1;
    if (at < sure) {
      readOn(codes, run, start, length);
      return true;
    }
    sure = start + MIN_RUN;
    start = at + 1;
  }
  return false;
}

function readOn(codes: Codes, run: Run, start: number, length: number): void {
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

/** Keeps the readable stretches of one run. */
function decodeRun(text: string, codes: Codes, { start, end, classes }: Run, keep: Keep): void {
  // Hex digits and dashes are a digest or an id; text in base64 always has other letters too.
  const isHex = (classes & BEYOND_HEX) === 0;
  if (isHex && (classes & DASH) !== 0) return;
  const unit = isHex ? 2 : 4;
  const stretches = isHex ? hexStretches(codes, start, end) : base64Stretches(codes, start, end);
  if (stretches.length === 0) return;
  // A run can be cut into fours in four ways. The right one gives the longest text; the others are
  // taken as far as there is room, so that what is decoded never grows with each layer.
  let room = (end - start) * 1.5 + MIN_RUN;
  for (const [from, to] of stretches.length === 1
    ? stretches
    : stretches.sort((a, b) => b[1] - b[0] - (a[1] - a[0]))) {
    room -= to - from;
    if (room < 0) return;
    decode(text, from, to, unit, keep);
  }
}

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

/** Bytes that are printable by chance stand alone; what somebody wrote stands together. */
const MIN_READABLE = 10;

function decode(text: string, start: number, end: number, unit: number, keep: Keep): void {
  const bytes = Buffer.from(text.slice(start, end), unit === 2 ? 'hex' : 'base64');
  let readable = 0;
  let from = 0;
  for (let at = 0; at <= bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if ((byte >= 32 && byte < 127) || byte === 9 || byte === 10 || byte === 13) continue;
    if (at - from >= MIN_READABLE) readable += 1;
    else for (let short = from; short < at; short += 1) bytes[short] = 0;
    if (at < bytes.length) bytes[at] = 0;
    from = at + 1;
  }
  if (readable > 0)
    keep({ start, end, text: bytes.toString('latin1'), unit, bytes: unit === 2 ? 1 : 3 });
}
