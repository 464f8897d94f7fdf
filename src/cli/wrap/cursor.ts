/** A place in a text that is read from left to right. */

import { notUnderstood } from './problem.ts';

export interface Cursor {
  readonly text: string;
  at: number;
}

/** Behind a byte order mark, which editors write and parsers skip. */
export const cursorOf = (text: string): Cursor => ({ text, at: text.startsWith('\ufeff') ? 1 : 0 });

/** Steps over what a sticky pattern matches; `false` where it does not match here. */
export function take(cursor: Cursor, pattern: RegExp): boolean {
  pattern.lastIndex = cursor.at;
  const isThere = pattern.test(cursor.text);
  if (isThere) cursor.at = pattern.lastIndex;
  return isThere;
}

export function takeText(cursor: Cursor, characters: string): void {
  if (!cursor.text.startsWith(characters, cursor.at))
    throw notUnderstood(cursor.text, cursor.at, `expected "${characters}"`);
  cursor.at += characters.length;
}

/**
 * What stands between an opening and a closing bracket, with commas; one may stand behind the last.
 */
export function takeSeries<T>(
  cursor: Cursor,
  closing: string,
  skip: (cursor: Cursor) => void,
  takeOne: () => T,
): readonly T[] {
  const found: T[] = [];
  cursor.at += 1;
  skip(cursor);
  while (cursor.text[cursor.at] !== closing) {
    found.push(takeOne());
    skip(cursor);
    if (cursor.text[cursor.at] === closing) break;
    takeText(cursor, ',');
    skip(cursor);
  }
  cursor.at += 1;
  return found;
}
