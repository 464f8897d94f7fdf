/** Values whose name tells what they are: `password = "…"`, `"api_key": "…"`, `--token=…`. */

import type { Emit } from './detector.ts';
import { familyOf, isHidden, isWord } from './looks.ts';

/** How telling names end. */
export const NAME_WORDS: readonly string[] = Object.freeze([
  ...['password', 'passwd', 'passphrase', 'passcode', 'pass', 'pwd', 'secret', 'token', 'key', 'credential', 'credentials', 'cookie'],
]);

/** From the end of a name to its value; in a list of variables the value is a member beside the name. */
const BETWEEN = /["'`\\]{0,3}\s{0,3}(?:=>|:=|={1,3}|:|,\s{0,3}["'\\]{1,3}value["'\\]{1,3}\s{0,3}:)\s{0,3}/y;
const UNQUOTED = /[^\s"'`,;&<>|]{1,512}/y;
const MAX_VALUE = 512;
const MAX_NAME = 32;

/** Up to where a text needs no further look. */
export interface NamedProgress {
  done: number;
}

/**
 * Looks at the value of the name that ends here. Names inside a value that was hidden, or that can hold no secret, are
 * passed over: `token=token=token=` would be read again from each of them.
 */
export function namedValue(text: string, start: number, end: number, emit: Emit, progress: NamedProgress): void {
  BETWEEN.lastIndex = end;
  if (start < progress.done || !BETWEEN.test(text)) return;
  const from = BETWEEN.lastIndex;
  const [name = ''] = /[\w.-]*$/.exec(text.slice(Math.max(0, start - MAX_NAME), end)) ?? [];
  const family = familyOf(name);
  const value = family === null ? null : valueAt(text, from);
  if (family === null || value === null) return;
  const secret = text.slice(value.start, value.end);
  if (!/[A-Z0-9]/.test(secret)) progress.done = value.end - NAME_ROOM;
  if (!isHidden(family, secret)) return;
  if (!value.quoted && isProseOrCode(secret, text.slice(end, from), text.charAt(value.end))) return;
  emit(value.start, value.end, family);
  progress.done = value.end;
}

/** A name may begin in the last part of a value that was cut off. */
const NAME_ROOM = 64;

/** `password: required` in a manual, `password = await ask()` in a program: a bare word is a value only at the end of a line. */
function isProseOrCode(value: string, between: string, after: string): boolean {
  if (isWord(value)) return between.includes(':') || !['', '\n', '\r', '&'].includes(after);
  return /^[A-Za-z_$]+(?:[.?()[\]!]+[A-Za-z_$]*)+$/.test(value);
}

interface Found {
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
}

/** The value that begins here: up to its closing quote, or to the next separator. */
function valueAt(text: string, at: number): Found | null {
  const [opening = ''] = /^\\{0,3}["'`]/.exec(text.slice(at, at + 4)) ?? [];
  const start = at + opening.length;
  if (opening !== '') {
    const length = quotedLength(text.slice(start, start + MAX_VALUE), opening.slice(-1), opening.length - 1);
    return length === 0 ? null : { start, end: start + length, quoted: true };
  }
  UNQUOTED.lastIndex = start;
  return UNQUOTED.test(text) ? { start, end: UNQUOTED.lastIndex, quoted: false } : null;
}

/** Up to the quote that is escaped as often as the opening one; one that is escaped further belongs to the value. */
function quotedLength(line: string, quote: string, escapes: number): number {
  for (const { 0: found, index } of line.matchAll(/\\*["'`\n]/g)) {
    const before = found.length - 1;
    if (found.endsWith('\n')) return index + before;
    const isClosing = found.endsWith(quote) && (escapes === 0 ? before % 2 === 0 : before <= escapes);
    if (isClosing) return index + Math.max(0, before - escapes);
  }
  return line.length;
}
