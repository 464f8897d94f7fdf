/** Reads JSON with comments and trailing commas, and keeps where everything stands. Nothing beyond: single quotes and bare keys are refused. */

import { type Cursor, cursorOf, take, takeSeries, takeText } from './cursor.ts';
import type { Member, Value } from './document.ts';
import { notUnderstood } from './problem.ts';

const MAX_DEPTH = 200;
const SPACE = /[ \t\r\n]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The value of a whole text. Throws `ERR_CLIENT_CONFIG` where it is not JSON with comments. */
export function scanJson(text: string): Value {
  const cursor = cursorOf(text);
  skipTrivia(cursor);
  const value = scanValue(cursor, 0);
  skipTrivia(cursor);
  if (cursor.at < text.length)
    throw notUnderstood(text, cursor.at, 'there is something behind the end');
  return value;
}

function scanValue(cursor: Cursor, depth: number): Value {
  const { text, at: start } = cursor;
  if (depth > MAX_DEPTH) throw notUnderstood(text, start, `nested deeper than ${MAX_DEPTH}`);
  if (text[start] === '"') return { kind: 'text', start, text: scanString(cursor), end: cursor.at };
  if (text[start] === '[')
    return {
      kind: 'list',
      start,
      items: takeSeries(cursor, ']', skipTrivia, () => scanValue(cursor, depth + 1)),
      end: cursor.at,
    };
  if (text[start] === '{')
    return {
      kind: 'map',
      start,
      members: takeSeries(cursor, '}', skipTrivia, () => scanMember(cursor, depth + 1)),
      end: cursor.at,
    };
  if (!take(cursor, SCALAR)) throw notUnderstood(text, start, 'expected a JSON value');
  return { kind: 'other', start, end: cursor.at };
}

function scanMember(cursor: Cursor, depth: number): Member {
  const keyStart = cursor.at;
  if (cursor.text[keyStart] !== '"')
    throw notUnderstood(cursor.text, keyStart, 'expected a key in double quotes');
  const key = scanString(cursor);
  const keyEnd = cursor.at;
  skipTrivia(cursor);
  takeText(cursor, ':');
  skipTrivia(cursor);
  return { key, keyStart, keyEnd, value: scanValue(cursor, depth) };
}

function scanString(cursor: Cursor): string {
  const { text, at: start } = cursor;
  let end = start + 1;
  // One character after the other: a pattern would keep a way back for each of a million.
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  try {
    const value: unknown = JSON.parse(text.slice(start, end + 1));
    cursor.at = end + 1;
    if (typeof value === 'string') return value;
  } catch {
    // Said below, without the text.
  }
  throw notUnderstood(
    text,
    start,
    'a string does not end, or has characters that JSON does not allow',
  );
}

/** White space and comments. */
function skipTrivia(cursor: Cursor): void {
  const { text } = cursor;
  for (;;) {
    take(cursor, SPACE);
    if (text.startsWith('//', cursor.at)) cursor.at = endOr(text, text.indexOf('\n', cursor.at));
    else if (text.startsWith('/*', cursor.at)) {
      const end = text.indexOf('*/', cursor.at + 2);
      if (end === -1) throw notUnderstood(text, cursor.at, 'a comment does not end');
      cursor.at = end + 2;
    } else return;
  }
}

const endOr = (text: string, found: number): number => (found === -1 ? text.length : found);
