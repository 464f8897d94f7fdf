/**
 * Schema patterns are written in the JavaScript dialect; the linear-time engine reads RE2's. What differs silently is
 * rewritten here: `\s`, `.`, `[]`, `[^]`, `\u1234`, a `[` inside a class, names of Unicode properties. Look-around,
 * backreferences and flags are refused, never guessed at.
 */

import { classEscape, escape, literal, refusedPattern } from './translate-escape.ts';

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
export interface TranslatedPattern {
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

/** A hyphen beside a set such as `\w` is a hyphen; read as a range, it would start at the last member of that set. */
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
