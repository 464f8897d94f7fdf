// String literals: from what the source has between its quotes to the byte string that it means.

import { encodeText } from './bytes.ts';
import { StarlarkError } from './errors.ts';

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};

const ESCAPE = /\\(?:([0-7]{1,3})|(x[\s\S]{0,2})|([\s\S]?))/g;

/**
 * The meaning of a literal's inside. A backslash must escape something; `\x` and octal escapes are
 * bytes.
 */
export function unquote(inside: string): string {
  const bytes = encodeText(inside);
  return bytes.includes('\\') ? bytes.replace(ESCAPE, unescape) : bytes;
}

function unescape(
  text: string,
  octal: string | undefined,
  hex: string | undefined,
  simple: string | undefined,
): string {
  if (octal !== undefined) return byteOf(text, Number.parseInt(octal, 8), octal.padStart(3, '0'));
  if (hex !== undefined) return hexByte(text, hex.slice(1));
  const meaning = SIMPLE_ESCAPES[simple ?? ''];
  // The reference names the byte as the character of that number.
  if (meaning === undefined)
    throw new StarlarkError(`invalid escape sequence \\${encodeText(simple ?? '')}`, {
      kind: 'syntax',
    });
  return meaning;
}

function hexByte(text: string, digits: string): string {
  if (digits.length < 2)
    throw new StarlarkError(`truncated escape sequence ${text}`, { kind: 'syntax' });
  if (!/^[0-9a-fA-F]{2}$/.test(digits))
    throw new StarlarkError(`invalid escape sequence ${text}`, { kind: 'syntax' });
  return String.fromCharCode(Number.parseInt(digits, 16));
}

function byteOf(text: string, byte: number, digits: string): string {
  if (byte > 255)
    throw new StarlarkError(`invalid escape sequence \\${digits || text}`, { kind: 'syntax' });
  return String.fromCharCode(byte);
}
