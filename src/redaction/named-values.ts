/** Values whose name tells what they are: `password = "…"`, `"api_key": "…"`, `--token …`, `<password>…</password>`. */

import type { Reading } from './characters.ts';
import type { Emit } from './detector.ts';
import { type Family, familyOf, isHidden, isPlaceholder, isRandomLooking, isTold, isWord } from './names.ts';

/** How telling names end. Names of several words are found by the last. */
export const NAME_WORDS: readonly string[] = Object.freeze(
  'password passwd passphrase passcode passwort pass pwd secret token tokens key keys credential credentials cookie dsn jwt _pat auth webhook connectionstring connection_string database_url database-url sessionid session_id sessid signature mnemonic key_base keydata key-data'.split(
    ' ',
  ),
);

/** From the end of a name to its value. */
const ASSIGNED =
  /(?:[-_.](?:base|value|text|prod|production|dev|staging|test|live|primary|secondary)|[-_.]?v?\d{1,2})?["'`\\)\]]{0,4}[ \t]{0,12}(?:=>|:=|\?=|={1,3}|:|,\s{0,3}["'\\]{1,3}value["'\\]{1,3}\s{0,3}:)\s{0,3}/iy;
/** `<add key="Password" value="…"/>`, `<property name="password">…`, `<password>…`. */
const TAGGED = /["']{0,1}(?:\s{1,3}(?:value|content|default)\s?=\s?(?=["'])|[^<>\n]{0,40}>(?=[^<\n]{1,400}<\/))/iy;
/** `define('DB_PASSWORD', '…')`, `setPassword("…")`, `PASSWORD '…'`. */
const PASSED = /["']{0,1}(?:\)?,\s{0,3}(?=["'`])|\((?=["'`])|[ ](?='))/y;
/** `--password …`, `ENV DB_PASSWORD …`, `password … ` of a `.netrc`, `the token is …`. */
const SPACED = /[ \t]{1,4}(?:(?:is|was)[ \t]{1,3})?(?=[^\s=:-])/y;
const MARKER = /^(?:\[(?:redacted|hash|token):[a-z0-9:-]{1,60}\]){1,4}/;
const MAX_QUOTED = 4_096;
const MAX_NAME = 40;
/** So many values that were none in one unbroken run, and the rest of the run holds names of no values. */
const MAX_TRIES = 12;

/** How far the values of names were read. */
export interface NamedProgress {
  done: number;
  runEnd: number;
  tries: number;
}

type Binding = 'assigned' | 'tagged' | 'passed' | 'spaced';

interface Value {
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
}

/** Looks at the value of the name that ends here. */
export function namedValue(reading: Reading, start: number, end: number, emit: Emit, progress: NamedProgress): void {
  if (start < progress.done || (start < progress.runEnd && progress.tries >= MAX_TRIES)) return;
  const { text } = reading;
  const found = valueStart(text, end, start);
  if (found === null) return;
  const name = nameBefore(text, start, end);
  const family = familyOf(name) ?? null;
  if (family === null || (found.binding === 'spaced' && !takesSpace(text, start, end, name))) return;
  const value = valueAt(reading, found.at);
  if (value === null) return;
  // A marker that stands there already says nothing about what stands beside it.
  const secret = text.slice(value.start, Math.min(value.end, value.start + 512)).replace(MARKER, '');
  if (!isShown(family, secret, found, value, text, name)) return rejected(progress, value);
  emit(value.start, value.end, family);
  progress.done = value.end;
}

function rejected(progress: NamedProgress, { end }: Value): void {
  progress.tries = end === progress.runEnd ? progress.tries + 1 : 1;
  progress.runEnd = end;
}

function nameBefore(text: string, start: number, end: number): string {
  let from = start;
  while (from > 0 && start - from < MAX_NAME && /[\w.-]/.test(text.charAt(from - 1))) from -= 1;
  return text.slice(from, end).replace(/^[-.]+/, '');
}

/** What binds a value to the name that ends here. Tells by the first character, because most names are words in prose. */
function valueStart(text: string, end: number, start: number): { readonly at: number; readonly binding: Binding } | null {
  const first = text.charCodeAt(end);
  let at = end;
  while (at < end + 16 && SKIPPED[text.charCodeAt(at)] === 1) at += 1;
  const next = text.charAt(at);
  if (SIGNS.has(next) || (at === end && /[-_.v\d]/.test(next)))
    return bound(text, end, 'assigned', ASSIGNED) ?? bound(text, end, 'passed', PASSED);
  if (next === '(' || at > end + 1) return bound(text, end, 'passed', PASSED);
  if (next === '>' || (at > end && 'vcd'.includes(next))) return bound(text, end, 'tagged', TAGGED) ?? bound(text, end, 'spaced', SPACED);
  if (first !== 32 && first !== 9) return null;
  if (text.startsWith("'", end + 1)) return bound(text, end, 'passed', PASSED);
  const isOption =
    text.charCodeAt(start - 1) === 45 || /\w/.test(text.charAt(start - 1)) || next === 'i' || next === 'w' || mayBeVariable(text, start);
  return isOption ? bound(text, end, 'spaced', SPACED) : null;
}

/** Blanks, quotes and brackets between a name and the sign that binds its value. */
const SKIPPED = new Uint8Array(128);
for (const char of ' \t"\'`\\)]') SKIPPED[char.charCodeAt(0)] = 1;
const SIGNS: ReadonlySet<string> = new Set('=:?,');

function bound(text: string, end: number, binding: Binding, pattern: RegExp): { readonly at: number; readonly binding: Binding } | null {
  pattern.lastIndex = end;
  return pattern.test(text) ? { at: pattern.lastIndex, binding } : null;
}

const mayBeVariable = (text: string, start: number): boolean =>
  /(?:ENV|ARG|set|setenv|machine|default|login)\s/i.test(text.slice(Math.max(0, start - 24), start));

/** A blank binds a value to an option, to a variable in a Dockerfile or `.netrc`, or to a name in a sentence that goes on with `is`. */
function takesSpace(text: string, start: number, end: number, name: string): boolean {
  const from = start - (name.length - (end - start));
  const before = text.slice(Math.max(0, from - 200), from);
  if (/(?:^|[\s"'`])-{1,2}$/.test(before) || /(?:^|\n)[ \t]*(?:ENV|ARG|set|setenv)[ \t]+$/.test(before)) return true;
  if (/(?:machine[ \t]+\S{1,100}|default)\s+(?:login|user|account)[ \t]+\S{1,64}\s+$/.test(before)) return true;
  return /^[ \t]{1,4}(?:is|was)[ \t]/.test(text.slice(end, end + 12));
}

function isShown(
  family: Family,
  secret: string,
  { at, binding }: { readonly at: number; readonly binding: Binding },
  value: Value,
  text: string,
  name: string,
): boolean {
  const isOption = binding === 'spaced' && /[-\w]/.test(text.charAt(at - 1)) === false;
  if (binding === 'passed' || (binding === 'spaced' && /(?:is|was)\s+$/.test(text.slice(Math.max(0, at - 6), at)))) {
    return !/\s/.test(secret) && !isPlaceholder(secret) && (isRandomLooking(secret) || (family === 'password' && isStrongWord(secret)));
  }
  if (!isHidden(family, secret)) return false;
  if (family === 'password' && isTold(secret)) return false;
  if (value.quoted) return family === 'secret' || !isSameName(secret, name);
  if (isOption && family === 'password') return !isWord(secret) || /\d|[A-Z]/.test(secret);
  return !isProseOrCode(secret, text.slice(Math.max(0, at - 8), at), text.charAt(value.end));
}

/** Letters, digits and more, without a blank: what people type where a password is asked for. */
const isStrongWord = (text: string): boolean => text.length >= 6 && /\d/.test(text) && /[A-Za-z]/.test(text) && !/[\s(){}]/.test(text);

/** `passwordField: 'password_field'`: a name of a name. */
const isSameName = (value: string, name: string): boolean => {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  return (
    (/^[\w.-]+$/.test(value) && plain(name).includes(plain(value))) ||
    (/^[A-Za-z]+(?:[-_.][A-Za-z]+)+$/.test(value) && /pass|pwd/i.test(value))
  );
};

/** `password: required` in a manual, `password = await ask()` in a program: a bare word is a value only at the end of a line. */
function isProseOrCode(value: string, between: string, after: string): boolean {
  if (isWord(value) || /^[A-Za-z]+[.,:;!?)]*$/.test(value)) {
    return between.includes(':') || /\s=|=\s/.test(between) || !['', '\n', '\r', '&'].includes(after) || !isWord(value);
  }
  if (/[({[]$|^[({[]|=>|\(\)|::|\w\(/.test(value)) return true;
  return /^[A-Za-z_$][\w$]*(?:[.?()[\]!:-]+[A-Za-z_$][\w$]*)+[.;)\]?!]*$/.test(value) && (value.match(/\d/g)?.length ?? 0) <= 2;
}

/** The value that begins here: up to its closing quote, or to the next separator. */
function valueAt(reading: Reading, at: number): Value | null {
  const { text } = reading;
  const [opening = ''] = /^\\{0,3}["'`]/.exec(text.slice(at, at + 4)) ?? [];
  const start = at + opening.length;
  if (opening !== '') {
    const length = quotedLength(text.slice(start, start + MAX_QUOTED), opening.slice(-1), opening.length - 1);
    return length === 0 ? null : { start, end: start + length, quoted: true };
  }
  const end = reading.runEnd('value', start);
  return end === start ? null : { start, end, quoted: false };
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
