/**
 * Long runs of base64 characters: text in another encoding, or keys without a prefix of their own.
 */

import { judge, type Looks, looksGenerated } from './characters.ts';
import { decode, type EncodedRun, SEXTETS, BASE64, viewOf } from './decoded-runs.ts';
import { type Emit, type Findings, joinedFindings } from './detector.ts';
import { ISSUERS, RUNS } from './families/bare-keys.ts';
import { A_JUDGEMENT, codesOf, type Effort, spend } from './reading.ts';
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
  return decoded === null ? null : viewOf(decoded, size);
}

/**
 * The long run of base64 characters that is read, with the classes of its characters taken
 * together; also, where the search for the next one begins.
 */
const run = { start: 0, end: 0, classes: 0 };

const MIN_RUN = 16;

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
for (const char of BASE64) {
  const code = char.charCodeAt(0);
  const sextet = SEXTETS[code] ?? 0;
  const isFirst = (sextet >= 8 && sextet < 32) || sextet === 2 || sextet === 3;
  const isText =
    (isFirst ? FIRST : 0) | ((sextet & 8) === 0 ? SECOND : 0) | ((sextet & 2) === 0 ? THIRD : 0);
  CLASSES[code] = IN_RUN | isText | (/[0-9a-f]/i.test(char) ? 0 : char === '-' ? DASH : BEYOND_HEX);
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
    if (at < sure) break;
    sure = start + MIN_RUN;
    start = at + 1;
  }
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
  return end - start >= MIN_RUN;
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

/**
 * Whether the four that begin here can stand for text; what is cut off at the end can be anything.
 */
const isQuad = (codes: Codes, at: number, end: number): boolean =>
  ((CLASSES[codes[at] ?? 0] ?? 0) & FIRST) !== 0 &&
  (at + 1 >= end || ((CLASSES[codes[at + 1] ?? 0] ?? 0) & SECOND) !== 0) &&
  (at + 2 >= end || ((CLASSES[codes[at + 2] ?? 0] ?? 0) & THIRD) !== 0);

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

/** Longer runs are no keys. */
const MAX_KEY = 220;
const MIN_KEY = 20;

/** Families by the length of their runs: most lengths have none. */
const FORMS_BY_LENGTH = Array.from({ length: MAX_KEY + 1 }, (_, length) =>
  RUNS.filter(({ min, max }) => length >= min && length <= max),
);

/** A key that begins with a run. */
interface BareKey {
  readonly end: number;
  readonly label: string;
}

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
): BareKey | null {
  const length = end - start;
  if (length > MAX_KEY) return null;
  for (const { shape, look, label } of FORMS_BY_LENGTH[length] ?? []) {
    shape.lastIndex = start;
    if (shape.test(text) && looksGenerated(judge(codes, start, shape.lastIndex), look))
      return { end: shape.lastIndex, label };
  }
  // What follows a dot, a slash or a hash sign is a part of an address.
  if (hinted === null || length < MIN_KEY || PART.has(codes[start - 1] ?? 0) || codes[end] === DOT)
    return null;
  const looks = judge(codes, start, end);
  if (length === AWS_SECRET && isAwsSecret(text, start, looks)) return { end, label: 'aws' };
  // Digits and letters, and not a path or a name of many words: what has few digits is one.
  if (
    !looksGenerated(looks, 'strong') ||
    looks.digits * 12 < length ||
    text.slice(start, end).includes('/')
  )
    return null;
  return !spend(hinted, start, A_JUDGEMENT) || isIssuerBefore(text, start)
    ? { end, label: 'secret' }
    : null;
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
