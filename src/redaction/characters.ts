/** The alphabets secrets are written in, and what a run of one looks like. */

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
/** By slot. */
export const MASKS = Uint16Array.from(Object.values(ALPHABETS));
/** What names are written in. */
export const NAME_RUN = slotOf('dotted');
export const VALUE_RUN = slotOf('value');
export const OPAQUE_RUN = slotOf('opaque');
export const BASE64_RUN = slotOf('base64');

/** Which kinds each character is of. */
export const KINDS = new Uint16Array(65_536);
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

const seen = new Uint32Array(128);
let stamp = 0;

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
