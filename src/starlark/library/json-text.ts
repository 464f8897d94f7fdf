// Characters of JSON texts, as Go quotes and checks them.

import { decodeCodepoint, encodeCodepoint, REPLACEMENT } from '../bytes.ts';
import { StarlarkError } from '../errors.ts';

/** Values nested deeper are refused, on the way in and out. */
export const MAX_DEPTH = 500;

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['"', '\\"'],
  ['\\', '\\\\'],
]);

/** Plain printable ASCII, in which the reference does not escape `<`, `>` and `&`. */
const PLAIN = /^[ -~\x7f]*$/;

/** A byte string as a JSON string. Bytes that are not UTF-8 become `\ufffd`. */
export function quoteJson(text: string): string {
  if (PLAIN.test(text)) return `"${text.replace(/["\\]/g, '\\$&')}"`;
  return `"${text.replace(/[\0-\x1f"\\<>&]|[\x80-\xff]+/g, (found) => SHORT_ESCAPES.get(found) ?? escaped(found))}"`;
}

function escaped(found: string): string {
  if (found.charCodeAt(0) < 0x80) return unicodeEscape(found.charCodeAt(0));
  let text = '';
  for (let index = 0; index < found.length; ) {
    const [codepoint, size] = decodeCodepoint(found, index);
    const isEscaped = size === 1 || codepoint === 0x2028 || codepoint === 0x2029;
    text += isEscaped ? unicodeEscape(codepoint) : found.slice(index, index + size);
    index += size;
  }
  return text;
}

function unicodeEscape(codepoint: number): string {
  return `\\u${codepoint.toString(16).padStart(4, '0')}`;
}

const NAMED_BYTES: ReadonlyMap<number, string> = new Map([
  [0x07, '\\a'],
  [0x08, '\\b'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0b, '\\v'],
  [0x0c, '\\f'],
  [0x0d, '\\r'],
  [0x5c, '\\\\'],
  [0x27, "\\'"],
]);

/**
 * A byte in a message, in single quotes; from 128 on it is shown as the character with that number.
 * A byte string itself.
 */
export function quoteByte(byte: number): string {
  return `'${NAMED_BYTES.get(byte) ?? visibleByte(byte)}'`;
}

function visibleByte(byte: number): string {
  if (byte < 0x20 || byte === 0x7f) return `\\x${byte.toString(16).padStart(2, '0')}`;
  return (byte >= 0x80 && byte <= 0xa0) || byte === 0xad
    ? unicodeEscape(byte)
    : encodeCodepoint(byte);
}

/** The error for a character in the wrong place. */
export function invalidCharacter(byte: number, where: string): StarlarkError {
  return new StarlarkError(`invalid character ${quoteByte(byte)} ${where}`);
}

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
]);

/**
 * How many bytes a JSON string has, its quotes included, or undefined when it does not end. Throws
 * where it is wrong.
 */
export function scanString(text: string, start: number): number | undefined {
  for (let index = start + 1; index < text.length; index++) {
    const byte = text.charCodeAt(index);
    if (byte === 0x22) return index + 1 - start;
    if (byte < 0x20) throw invalidCharacter(byte, 'in string literal');
    if (byte !== 0x5c) continue;
    index++;
    if (text[index] === 'u') index = scanHex(text, index);
    else if (!ESCAPED.has(text.charAt(index)))
      throw invalidAt(text, index, 'in string escape code');
  }
  return undefined;
}

/** The end of the text counts as a space. */
function invalidAt(text: string, index: number, where: string): StarlarkError {
  return invalidCharacter(index < text.length ? text.charCodeAt(index) : 0x20, where);
}

function scanHex(text: string, start: number): number {
  for (let index = start + 1; index <= start + 4; index++) {
    if (!/[0-9a-fA-F]/.test(text.charAt(index)))
      throw invalidAt(text, index, 'in \\u hexadecimal character escape');
  }
  return start + 4;
}

/**
 * What a JSON string that was scanned stands for. Lone surrogates and bytes that are not UTF-8
 * become U+FFFD.
 */
export function unquoteJson(quoted: string): string {
  return quoted
    .slice(1, -1)
    .replace(/\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|[\x80-\xff]+/gs, unescaped);
}

function unescaped(found: string): string {
  if (found.charCodeAt(0) >= 0x80) return replaceInvalid(found);
  if (found[1] !== 'u') return ESCAPED.get(found.charAt(1)) ?? found;
  const unit = Number.parseInt(found.slice(2, 6), 16);
  if (found.length === 6) return encodeCodepoint(unit);
  return encodeCodepoint(
    0x10000 + ((unit - 0xd800) << 10) + (Number.parseInt(found.slice(8), 16) - 0xdc00),
  );
}

function replaceInvalid(bytes: string): string {
  let text = '';
  for (let index = 0; index < bytes.length; ) {
    const [, size] = decodeCodepoint(bytes, index);
    text += size === 1 ? encodeCodepoint(REPLACEMENT) : bytes.slice(index, index + size);
    index += size;
  }
  return text;
}
