/** The escapes of a JavaScript pattern, in RE2's words. */

import { AlliumError } from '../../core/errors.ts';

const SPACES =
  '\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const NOT_SPACES =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';

const LONG_CATEGORIES = new Map([
  ['Letter', 'L'],
  ['Lowercase_Letter', 'Ll'],
  ['Uppercase_Letter', 'Lu'],
  ['Mark', 'M'],
  ['Number', 'N'],
  ['Decimal_Number', 'Nd'],
  ['Punctuation', 'P'],
  ['Symbol', 'S'],
  ['Separator', 'Z'],
  ['Space_Separator', 'Zs'],
  ['Other', 'C'],
  ['Control', 'Cc'],
]);

const PUNCTUATION = /^[!-/:-@[-^`{-~]$/;
const LONG_CATEGORY_PREFIX = /^(?:General_Category|gc|Script|sc)=/;

/** A refusal of a pattern. The message never holds the pattern itself. */
export const refusedPattern = (problem: string): AlliumError =>
  new AlliumError('ERR_SCHEMA_UNSUPPORTED', `the pattern ${problem}`);

const point = (code: number): string => `\\x{${code.toString(16)}}`;

/** A character that stands for itself. */
export const literal = (character: string): string =>
  PUNCTUATION.test(character) ? `\\${character}` : character;

/** An escape outside a class. */
export function escape(token: string): string {
  if (/^\\[bB]$/.test(token)) return token;
  const { text, isSet } = classEscape(token);
  return isSet ? `[${text}]` : text;
}

/** An escape inside a class, and whether it stands for a set of characters. */
export function classEscape(token: string): { readonly text: string; readonly isSet: boolean } {
  const letter = token[1] ?? '';
  if (/^[dDwW]$/.test(letter)) return { text: token, isSet: true };
  if (letter === 's') return { text: SPACES, isSet: true };
  if (letter === 'S') return { text: NOT_SPACES, isSet: true };
  if (/^\\[pP]\{/.test(token)) return { text: property(token), isSet: true };
  return { text: character(token, letter), isSet: false };
}

function property(token: string): string {
  const name = token.slice(3, -1).replace(LONG_CATEGORY_PREFIX, '');
  return `\\${token[1] ?? 'p'}{${LONG_CATEGORIES.get(name) ?? name}}`;
}

function character(token: string, letter: string): string {
  if (token.length > 2) return point(codePoint(token, letter));
  if (/^[nrtfv]$/.test(letter)) return token;
  if (letter === 'b') return point(8);
  if (letter === '0') return point(0);
  if (/^[1-9k]$/.test(letter))
    throw refusedPattern('uses a backreference, which no linear-time engine can do');
  if (/^[a-z]?$/i.test(letter))
    throw refusedPattern('uses an escape that JavaScript does not know');
  return literal(token.slice(1));
}

/** `\x41`, `\u0041`, `\u{41}`, `\cA`, and `\ud83d\ude00`, which is one character. */
function codePoint(token: string, letter: string): number {
  if (letter === '0') throw refusedPattern('uses an octal escape');
  if (letter === 'c') return (token.codePointAt(2) ?? 0) % 32;
  const units = token.split(/\\u\{?|\\x|\}/).filter((unit) => unit !== '');
  const codes = units.map((unit) => Number.parseInt(unit, 16));
  const code = codes.length === 2 ? String.fromCharCode(...codes).codePointAt(0) : codes[0];
  if (code === undefined || code > 0x10ffff)
    throw refusedPattern('names a character that does not exist');
  return code;
}
