/**
 * Schema patterns are written in the JavaScript dialect; the linear-time engine reads RE2's. What
 * differs silently is rewritten here: `\s`, `.`, `[]`, `[^]`, `\u1234`, a `[` inside a class, names
 * of Unicode properties. Look-around, backreferences and flags are refused, never guessed at.
 */

import { AlliumError } from '../../core/contract/errors.ts';

/** Longest pattern that is read. */
const MAX_LENGTH = 2_000;
/** Most instructions a pattern may come to once its counted repetitions are written out. */
const MAX_SIZE = 2_000;

const ANY = '\\x{0}-\\x{10ffff}';
const NOT_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]';

const TOKEN =
  /\\u\{[\da-fA-F]+\}|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[a-zA-Z]|\\[pP]\{[^}]*\}|\\0\d|\\[^]|[^]/uy;
const REPEAT = /\{(\d+)(?:,(\d*))?\}/uy;
const GROUP = /\?(?::|P?<[\p{L}_$][\p{L}\p{N}_$]*>)/uy;

/** Size of what stands in a group so far, and of its last part, which a repetition multiplies. */
interface Level {
  total: number;
  last: number;
}

interface Reading {
  readonly pattern: string;
  readonly levels: Level[];
  level: Level;
  at: number;
}

/** A pattern in the engine's words, and about how many instructions it will come to. */
interface TranslatedPattern {
  readonly source: string;
  readonly size: number;
}

/** Rewrites a pattern for the linear-time engine, or throws `ERR_SCHEMA_UNSUPPORTED`. */
export function translatePattern(pattern: string): TranslatedPattern {
  if (pattern.length > MAX_LENGTH) throw refusedPattern(`is longer than ${MAX_LENGTH} characters`);
  const reading: Reading = { pattern, levels: [], level: { total: 0, last: 0 }, at: 0 };
  let source = '';
  while (reading.at < pattern.length) {
    source += readPart(reading);
    if (reading.level.total > MAX_SIZE) throw refusedPattern('repeats too much');
  }
  if (reading.levels.length > 0) throw refusedPattern('has a group that is not closed');
  return { source, size: reading.level.total };
}

function readPart(reading: Reading): string {
  const token = take(reading, TOKEN)?.[0] ?? '';
  switch (token) {
    case '(':
      return openGroup(reading);
    case ')':
      return closeGroup(reading);
    case '*':
    case '+':
    case '?':
      return repeat(reading, token, 1);
    case '{':
      return readCount(reading);
    case '[':
      return part(reading, readClass(reading));
    case '.':
      return part(reading, NOT_LINE_END);
    case '|':
    case '^':
    case '$':
      return part(reading, token);
    default:
      return part(reading, token.startsWith('\\') ? escape(token) : literal(token));
  }
}

function take(reading: Reading, expression: RegExp): RegExpExecArray | null {
  expression.lastIndex = reading.at;
  const found = expression.exec(reading.pattern);
  reading.at += found?.[0].length ?? 0;
  return found;
}

function part(reading: Reading, text: string, size = 1): string {
  reading.level.last = size;
  reading.level.total += size;
  return text;
}

function repeat(reading: Reading, text: string, times: number): string {
  const { level } = reading;
  level.total += level.last * (times - 1) + 1;
  level.last *= times;
  return text;
}

function readCount(reading: Reading): string {
  reading.at -= 1;
  const found = take(reading, REPEAT);
  if (found === null) {
    reading.at += 1;
    return part(reading, '\\{');
  }
  return repeat(reading, found[0], Math.max(1, Number(found[1]), Number(found[2] ?? 0)));
}

/** Captures are of no use to a test, and their names would only get in the way. */
function openGroup(reading: Reading): string {
  if (reading.pattern[reading.at] === '?' && take(reading, GROUP) === null) {
    const isLook = /^\?<?[=!]/.test(reading.pattern.slice(reading.at, reading.at + 3));
    throw refusedPattern(
      isLook
        ? 'looks ahead or behind, which no linear-time engine can do'
        : 'has an unknown kind of group',
    );
  }
  reading.levels.push(reading.level);
  reading.level = { total: 0, last: 0 };
  return '(?:';
}

function closeGroup(reading: Reading): string {
  const outer = reading.levels.pop();
  if (outer === undefined) throw refusedPattern('closes a group that is not open');
  const { total } = reading.level;
  reading.level = outer;
  return part(reading, ')', total + 1);
}

function readClass(reading: Reading): string {
  const isNegated = reading.pattern[reading.at] === '^';
  if (isNegated) reading.at += 1;
  const items: string[] = [];
  for (;;) {
    const token = take(reading, TOKEN)?.[0];
    if (token === undefined) throw refusedPattern('has a class that is not closed');
    if (token === ']') break;
    items.push(...classItem(reading, token, items));
  }
  if (items.length === 0) return isNegated ? `[${ANY}]` : `[^${ANY}]`;
  return `[${isNegated ? '^' : ''}${items.join('')}]`;
}

/**
 * A hyphen beside a set such as `\w` is a hyphen; read as a range, it would start at the last
 * member of that set.
 */
function classItem(reading: Reading, token: string, before: string[]): string[] {
  if (token === '-') return ['-'];
  if (!token.startsWith('\\')) return [literal(token)];
  const { text, isSet } = classEscape(token);
  if (!isSet) return [text];
  if (before.at(-1) === '-') before[before.length - 1] = '\\-';
  if (reading.pattern[reading.at] !== '-') return [text];
  reading.at += 1;
  return [text, '\\-'];
}

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
const literal = (character: string): string =>
  PUNCTUATION.test(character) ? `\\${character}` : character;

/** An escape outside a class. */
function escape(token: string): string {
  if (/^\\[bB]$/.test(token)) return token;
  const { text, isSet } = classEscape(token);
  return isSet ? `[${text}]` : text;
}

/** An escape inside a class, and whether it stands for a set of characters. */
function classEscape(token: string): { readonly text: string; readonly isSet: boolean } {
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
