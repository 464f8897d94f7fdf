/** Decodes what was written as base64 or hex. */

/** A stretch that decodes to readable text; `unit` characters of it make `bytes` of that text. */
export interface EncodedRun {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly unit: number;
  readonly bytes: number;
}

export const MIN_RUN = 16;
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
type Keep = (run: EncodedRun) => void;
type Stretch = readonly [start: number, end: number];

const has = (codes: Codes, index: number, flag: number): boolean => ((CLASSES[codes[index] ?? 0] ?? 0) & flag) !== 0;
export const isRunChar = (codes: Codes, index: number): boolean => has(codes, index, IN_RUN);

/** Keeps the readable stretches of one run. */
export function decodeRun(text: string, codes: Codes, start: number, end: number, keep: Keep): void {
  // Hex digits and dashes are a digest or an id; text in base64 always has other letters too.
  const digits = hexDigits(codes, start, end);
  const unit = digits === null ? 4 : 2;
  const stretches = digits === null ? base64Stretches(codes, start, end) : digits ? hexStretches(codes, start, end) : [];
  if (stretches.length === 0) return;
  // A run can be cut into fours in four ways. The right one gives the longest text; the others are taken as far as there is room,
  // so that what is decoded never grows with each layer.
  let room = (end - start) * 1.5 + MIN_RUN;
  for (const [from, to] of stretches.length === 1 ? stretches : stretches.sort((a, b) => b[1] - b[0] - (a[1] - a[0]))) {
    room -= to - from;
    if (room < 0) return;
    decode(text, from, to, unit, keep);
  }
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

/** What is cut off at the end of a run can be anything. */
const classOf = (codes: Codes, at: number, end: number): number => (at < end ? (CLASSES[codes[at] ?? 0] ?? 0) : FIRST | SECOND | THIRD);

/** Where the text that is being followed began, for each of the four ways in which a run can be cut into fours. */
const began = new Int32Array(4);

/** The parts of a run in which four after four can stand for text; a picture has hardly any. */
function base64Stretches(codes: Codes, start: number, end: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (let phase = 0; phase < 4; phase += 1) began[phase] = start + phase;
  let second = classOf(codes, start, end);
  let third = classOf(codes, start + 1, end);
  for (let at = start; at < end; at += 1) {
    const first = second;
    second = third;
    third = classOf(codes, at + 2, end);
    if ((first & FIRST) !== 0 && (second & SECOND) !== 0 && (third & THIRD) !== 0) continue;
    const phase = (at - start) & 3;
    const from = began[phase] ?? at;
    if (at - from >= MIN_QUADS * 4) stretches.push([from, at]);
    began[phase] = at + 4;
  }
  for (const from of began) if (end - from >= MIN_QUADS * 4) stretches.push([from, end]);
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
    else bytes.fill(0, from, at);
    if (at < bytes.length) bytes[at] = 0;
    from = at + 1;
  }
  if (readable > 0) keep({ start, end, text: bytes.toString('latin1'), unit, bytes: unit === 2 ? 1 : 3 });
}
