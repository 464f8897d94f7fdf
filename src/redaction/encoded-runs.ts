/** Finds long runs of base64 characters, and decodes what was written as base64 or hex. */

/** A stretch that decodes to readable text; `unit` characters of it make `bytes` of that text. */
export interface EncodedRun {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly unit: number;
  readonly bytes: number;
}

/** A long run of base64 characters; also, where the search for the next one begins. */
export interface Run {
  start: number;
  end: number;
  /** The classes of its characters, taken together. */
  classes: number;
}

export const MIN_RUN = 16;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The character belongs to base64, in one of both alphabets. */
const IN_RUN = 1;
/** Where the character is the first, second or third of four, the byte that ends there can be ASCII text. */
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

/** Moves to the next run, and answers whether there is one. Looks from the end of what would be one: prose has no run that long. */
export function nextRun(codes: Codes, run: Run, length: number): boolean {
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
export function decodeRun(
  text: string,
  codes: Codes,
  { start, end, classes }: Run,
  keep: Keep,
): void {
  // Hex digits and dashes are a digest or an id; text in base64 always has other letters too.
  const isHex = (classes & BEYOND_HEX) === 0;
  if (isHex && (classes & DASH) !== 0) return;
  const unit = isHex ? 2 : 4;
  const stretches = isHex ? hexStretches(codes, start, end) : base64Stretches(codes, start, end);
  if (stretches.length === 0) return;
  // A run can be cut into fours in four ways. The right one gives the longest text; the others are taken as far as there is room,
  // so that what is decoded never grows with each layer.
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
 * The parts of a run in which four after four can stand for text, for each of the four ways in which a run can be cut into fours;
 * a picture has hardly any. Looks at every fourth four first.
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
