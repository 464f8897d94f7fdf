// Letters, digits, spaces and case of single code points, in byte strings.

import { decodeCodepoint, encodeCodepoint } from '../bytes.ts';

const LETTER = /^\p{L}$/u;
const DIGIT = /^\p{Nd}$/u;
const UPPER = /^\p{Lu}$/u;
const LOWER = /^\p{Ll}$/u;
const TITLE = /^\p{Lt}$/u;
const SPACE = /^\p{White_Space}$/u;

/** The code points of a byte string; each byte that is not UTF-8 is one U+FFFD. */
export function codepointsOf(bytes: string): number[] {
  const codepoints: number[] = [];
  for (let index = 0; index < bytes.length; ) {
    const [codepoint, size] = decodeCodepoint(bytes, index);
    codepoints.push(codepoint);
    index += size;
  }
  return codepoints;
}

/** How many code points a byte string has. */
export function countCodepoints(bytes: string): number {
  let count = 0;
  for (let index = 0; index < bytes.length; count++) index += decodeCodepoint(bytes, index)[1];
  return count;
}

/** The code point that ends before an index and its number of bytes. */
export function decodeLastCodepoint(
  bytes: string,
  end: number,
): readonly [codepoint: number, size: number] {
  for (let start = end - 1; start >= Math.max(0, end - 4); start--) {
    if ((bytes.charCodeAt(start) & 0xc0) === 0x80) continue;
    const [codepoint, size] = decodeCodepoint(bytes, start);
    if (start + size === end) return [codepoint, size];
    break;
  }
  return [0xfffd, 1];
}

/** Code points as a byte string. */
export function encodeCodepoints(codepoints: readonly number[]): string {
  return codepoints.map(encodeCodepoint).join('');
}

export function isLetter(codepoint: number): boolean {
  return LETTER.test(String.fromCodePoint(codepoint));
}

export function isDigit(codepoint: number): boolean {
  return DIGIT.test(String.fromCodePoint(codepoint));
}

export function isUpper(codepoint: number): boolean {
  return UPPER.test(String.fromCodePoint(codepoint));
}

export function isLower(codepoint: number): boolean {
  return LOWER.test(String.fromCodePoint(codepoint));
}

export function isTitle(codepoint: number): boolean {
  return TITLE.test(String.fromCodePoint(codepoint));
}

export function isSpace(codepoint: number): boolean {
  return SPACE.test(String.fromCodePoint(codepoint));
}

const SHARP_S = 0xdf;
const DOTTED_CAPITAL_I = 0x130;
const DOTLESS_I = 0x131;

/**
 * Whether a code point has a counterpart of the other case. The two Turkish letters count as having
 * none.
 */
export function isCased(codepoint: number): boolean {
  if (codepoint === DOTTED_CAPITAL_I || codepoint === DOTLESS_I) return false;
  return (
    codepoint === SHARP_S || toLower(codepoint) !== codepoint || toUpper(codepoint) !== codepoint
  );
}

/** One code point for one: JavaScript's mapping where that is a single one. */
export function toLower(codepoint: number): number {
  if (codepoint === DOTTED_CAPITAL_I) return 0x69;
  return single(String.fromCodePoint(codepoint).toLowerCase()) ?? codepoint;
}

/** One code point for one: `ß` stays, where JavaScript writes two letters. */
export function toUpper(codepoint: number): number {
  return single(String.fromCodePoint(codepoint).toUpperCase()) ?? upperWithIota(codepoint);
}

/**
 * Greek vowels with a subscript iota have a capital of their own, which JavaScript spells in two
 * letters.
 */
function upperWithIota(codepoint: number): number {
  if (codepoint >= 0x1f80 && codepoint <= 0x1faf) return codepoint | 8;
  return codepoint === 0x1fb3 || codepoint === 0x1fc3 || codepoint === 0x1ff3
    ? codepoint + 9
    : codepoint;
}

/** Digraphs have a title case of their own; Georgian letters have capitals but no title case. */
export function toTitle(codepoint: number): number {
  if (codepoint >= 0x1c4 && codepoint <= 0x1cc) return codepoint - ((codepoint - 0x1c4) % 3) + 1;
  if (codepoint >= 0x1f1 && codepoint <= 0x1f3) return 0x1f2;
  if (codepoint >= 0x10d0 && codepoint <= 0x10ff) return codepoint;
  return toUpper(codepoint);
}

function single(text: string): number | undefined {
  const codepoint = text.codePointAt(0);
  return codepoint !== undefined && text.length === (codepoint > 0xffff ? 2 : 1)
    ? codepoint
    : undefined;
}
