/**
 * The alphabets secrets are written in, and how far a run of one reaches: read once per text,
 * however many words lead there.
 */

import type { Effort } from './detector.ts';

/** One bit for each kind of character; an alphabet is several of them. */
const DIGIT = 1;
const HEX_LOWER = 2;
const LOWER = 4;
const HEX_UPPER = 8;
const UPPER = 16;
const UNDERSCORE = 32;
const DASH = 64;
const DOT = 128;
const PLUS_SLASH = 256;
const EQUALS = 512;
const TILDE = 1024;
const COLON = 2048;
const PERCENT = 4096;
/**
 * What else stands in a value without quotes around it: printable, and no blank, quote or
 * separator.
 */
const OTHER = 8192;

const LETTER = HEX_LOWER | LOWER | HEX_UPPER | UPPER;
const ALNUM = DIGIT | LETTER;

/** What a token's body may be made of. */
export const ALPHABETS = {
  digits: DIGIT,
  hex: DIGIT | HEX_LOWER,
  anyhex: DIGIT | HEX_LOWER | HEX_UPPER,
  upper: DIGIT | HEX_UPPER | UPPER,
  lower: DIGIT | HEX_LOWER | LOWER,
  base62: ALNUM,
  word: ALNUM | UNDERSCORE,
  url: ALNUM | UNDERSCORE | DASH,
  dotted: ALNUM | UNDERSCORE | DASH | DOT,
  base64: ALNUM | PLUS_SLASH | EQUALS,
  opaque: ALNUM | UNDERSCORE | DASH | DOT | PLUS_SLASH | EQUALS | TILDE | COLON | PERCENT,
  value: ALNUM | UNDERSCORE | DASH | DOT | PLUS_SLASH | EQUALS | TILDE | COLON | PERCENT | OTHER,
} as const;
export type Alphabet = keyof typeof ALPHABETS;

const NAMES = Object.keys(ALPHABETS);
/** The place of an alphabet among those whose runs are remembered. */
export const slotOf = (alphabet: Alphabet): number => NAMES.indexOf(alphabet);
const MASKS = Uint16Array.from(Object.values(ALPHABETS));
/** What names are written in. */
export const NAME_RUN = slotOf('dotted');
export const VALUE_RUN = slotOf('value');
export const OPAQUE_RUN = slotOf('opaque');
export const BASE64_RUN = slotOf('base64');

const KINDS = new Uint16Array(65_536);
for (let code = 0x21; code < 0x7f; code += 1) KINDS[code] = kindOf(String.fromCharCode(code));
for (let code = 0xa1; code < 65_536; code += 1) KINDS[code] = OTHER;

function kindOf(char: string): number {
  if (/[0-9]/.test(char)) return DIGIT;
  if (/[a-z]/.test(char)) return char <= 'f' ? HEX_LOWER : LOWER;
  if (/[A-Z]/.test(char)) return char <= 'F' ? HEX_UPPER : UPPER;
  const marks: Readonly<Record<string, number>> = {
    ...{
      _: UNDERSCORE,
      '-': DASH,
      '.': DOT,
      '+': PLUS_SLASH,
      '/': PLUS_SLASH,
      '=': EQUALS,
      '~': TILDE,
      ':': COLON,
      '%': PERCENT,
    },
  };
  return marks[char] ?? ('"\'`,;&<>|'.includes(char) ? 0 : OTHER);
}

/**
 * Whether a character can be a part of a word, so that what begins after it does not begin a word.
 */
export const isAlnum = (code: number): boolean => ((KINDS[code] ?? 0) & ALNUM) !== 0;
export const isIn = (slot: number, code: number): boolean =>
  ((KINDS[code] ?? 0) & (MASKS[slot] ?? 0)) !== 0;

/** What a run looks like. */
export interface Looks {
  readonly digits: number;
  readonly uppers: number;
  readonly lowers: number;
  readonly distinct: number;
}

/**
 * One text while it is read from its start to its end. Every answer costs what it has not looked at
 * before.
 */
export interface Reading {
  readonly text: string;
  readonly codes: Uint16Array;
  /** Up to where everything was found: nothing that begins before needs a look. */
  done: number;
  readonly effort: Effort;
  /**
   * The end of the run of the alphabet in this slot that goes through `from`, followed for `reach`
   * characters at most. Ask with places that only grow.
   */
  readonly runEnd: (slot: number, from: number, reach?: number) => number;
  /**
   * What the run up to `end` looks like, from its last characters; what begins later in the same
   * run looks no better.
   */
  readonly looksOf: (from: number, end: number) => Looks;
}

/** As much of a run as its looks are judged by. */
const JUDGED = 160;
const seen = new Uint32Array(128);
let stamp = 0;

const NO_LOOKS: Looks = { digits: 0, uppers: 0, lowers: 0, distinct: 0 };
const runStarts = new Int32Array(MASKS.length);
const runEnds = new Int32Array(MASKS.length);

/** Good until the next call: all texts share what is remembered about runs. */
export function startReading(text: string, codes: Uint16Array, effort: Effort): Reading {
  const { length } = text;
  runEnds.fill(-1);
  let judgedFrom = -1;
  let judgedEnd = -1;
  let judged = NO_LOOKS;
  return {
    text,
    codes,
    done: 0,
    effort,
    runEnd(slot, from, reach = length) {
      let end = runEnds[slot] ?? -1;
      if (from > end || from < (runStarts[slot] ?? 0)) {
        runStarts[slot] = from;
        end = from;
      }
      const mask = MASKS[slot] ?? 0;
      const limit = Math.min(length, from + reach);
      while (end < limit && ((KINDS[codes[end] ?? 0] ?? 0) & mask) !== 0) end += 1;
      runEnds[slot] = end;
      return end;
    },
    looksOf(from, end) {
      if (end === judgedEnd && from >= judgedFrom) return judged;
      judgedFrom = from;
      judgedEnd = end;
      return (judged = judge(codes, Math.max(from, end - JUDGED), end));
    },
  };
}

/** Counts what a run is made of. */
export const judge = (codes: Uint16Array, from: number, end: number): Looks =>
  count(end - from, (place) => codes[from + place] ?? 0);

export const looksOfText = (text: string): Looks =>
  count(text.length, (place) => text.charCodeAt(place));

function count(length: number, codeAt: (place: number) => number): Looks {
  stamp += 1;
  let [digits, uppers, lowers, distinct] = [0, 0, 0, 0];
  for (let place = 0; place < length; place += 1) {
    const code = codeAt(place);
    const kind = KINDS[code] ?? 0;
    if ((kind & DIGIT) !== 0) digits += 1;
    else if ((kind & (HEX_UPPER | UPPER)) !== 0) uppers += 1;
    else if ((kind & (HEX_LOWER | LOWER)) !== 0) lowers += 1;
    if (code > 127 || seen[code] === stamp) continue;
    seen[code] = stamp;
    distinct += 1;
  }
  return { digits, uppers, lowers, distinct };
}

/** How much of its own looks a body has to bring along, beside its prefix. */
export type Look = 'any' | 'plain' | 'mixed' | 'strong';

/** Whether a body looks made by a machine: placeholders and words do not. */
export function looksGenerated({ digits, uppers, lowers, distinct }: Looks, look: Look): boolean {
  const letters = uppers + lowers;
  if (look === 'any') return distinct >= 3;
  if (look === 'plain') return distinct >= 5 && (digits > 0 || (uppers > 1 && lowers > 1));
  if (look === 'mixed') return distinct >= 8 && digits > 0 && letters > 0;
  return distinct >= 10 && digits > 1 && letters > 3;
}

const INITIAL = 65_536;
let bytes = Buffer.alloc(INITIAL * 2);
let shared = new Uint16Array(bytes.buffer, bytes.byteOffset, INITIAL);
let sharedPairs = new Uint32Array(bytes.buffer, bytes.byteOffset, INITIAL / 2);
const BLANK = 32;
/** The text that is laid out, which several detectors look at one after another. */
let laidOut = '';

/**
 * The character codes of a text as an array: reading them one by one from the text takes three
 * times as long. Good until the next call: all texts share one array. What stands after the end of
 * the text is left from another.
 */
export function codesOf(text: string): Uint16Array {
  return text === laidOut ? shared : layOut(text);
}

/**
 * Lays a text out, also one that is laid out already: blanks may have been laid over parts of it.
 */
export function layOut(text: string): Uint16Array {
  if (text.length >= shared.length) {
    const length = text.length + 2 - (text.length & 1);
    bytes = Buffer.alloc(length * 2);
    shared = new Uint16Array(bytes.buffer, bytes.byteOffset, length);
    sharedPairs = new Uint32Array(bytes.buffer, bytes.byteOffset, length / 2);
  }
  bytes.write(text, 'utf16le');
  // A blank, so that the last character makes no pair with what another text has left there.
  shared[text.length] = BLANK;
  laidOut = text;
  return shared;
}

/**
 * Lays blanks over a stretch of the text that is laid out, for whatever asks for its codes until it
 * is laid out anew.
 */
export const layBlanks = (start: number, end: number): void => void shared.fill(BLANK, start, end);

/** The same two by two, the first in the lower half. */
export function pairsOf(text: string): Uint32Array {
  codesOf(text);
  return sharedPairs;
}
