/**
 * Values whose name tells what they are: `password = "…"`, `"api_key": "…"`, `--token …`,
 * `<password>…</password>`.
 */

import { isIn, NAME_RUN, VALUE_RUN } from './characters.ts';
import type { Emit } from './detector.ts';
import {
  type Family,
  familyOf,
  isHidden,
  isRandomLooking,
  isTold,
  isWord,
  isWordy,
  labelOfName,
} from './names.ts';
import { A_JUDGEMENT, A_LOOK, A_WORD, type Reading, runEnd, spend } from './reading.ts';

/** How telling names end. Names of several words are found by the last. */
export const NAME_WORDS: readonly string[] = Object.freeze(
  'password passwd passphrase passcode passwort pass pwd requirepass masterauth bindpw rootpw _pw -pw psk secret token tokens key keys credential credentials cookie dsn jwt _pat auth webhook connectionstring connection_string database_url database-url sessionid session_id sessid signature mnemonic key_base keydata key-data salt x-jfrog-art-api seedphrase phrase'.split(
    ' ',
  ),
);

/**
 * From the end of a name to its value; in a list of variables the value is a member beside the
 * name.
 */
const ASSIGNED =
  /(?:[-_.](?:base|value|text|prod|production|dev|staging|test|live|primary|secondary|private)|[-_. ]?v?\d{1,2})?(?:["'`\\]{0,3}\]?[ \t]{0,24}(?:=>|:=|\?=|={1,3}|:|,\s{0,3}["'\\]{1,3}value["'\\]{1,3}\s{0,3}:)(?:\s{1,12}(?=["'])|[ \t]{0,12})|["']?\r?\n[ \t]{0,24}["']?value["']?[ \t]{0,3}:[ \t]{0,3})/iy;
/** `<add key="Password" value="…"/>`, `<property name="password">…`, `<password>…`. */
const TAGGED =
  /["']{0,1}(?:\s{1,3}(?:value|content|default)\s?=\s?(?=["'])|[^<>\n]{0,40}>(?=[^<\n]{1,400}<\/))/iy;
/** `define('DB_PASSWORD', '…')`, `setPassword("…")`, `PASSWORD '…'`. */
const PASSED = /["']{0,1}(?:\)?,\s{0,24}(?=["'`])|\((?=["'`])|[ ](?='))/y;
/** `--password …`, `ENV DB_PASSWORD …`, `password … ` of a `.netrc`, `the token is …`. */
const SPACED = /[ \t]{1,4}(?:(?:is|was)[ \t]{1,3})?(?=[^\s=:-])/y;
const MARKER =
  /^(?:\[(?:redacted:[a-z0-9-]{1,40}|hash:[a-z0-9-]{1,40}:[0-9a-f]{16}|token:[a-z0-9-]{1,40}:\d{1,12})\]){1,4}/;
const MAX_QUOTED = 4_096;
const MAX_NAME = 40;

/** What is shorter is none of these, whatever it looks like. */
const MIN_VALUE: Readonly<Partial<Record<Family, number>>> = { password: 3, secret: 8, key: 20 };

type Binding = 'assigned' | 'tagged' | 'passed' | 'spaced';

interface Bound {
  readonly at: number;
  readonly binding: Binding;
}

interface Value {
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
}

/** Looks at the value of the name that ends here. */
export function namedValue(reading: Reading, start: number, end: number, emit: Emit): void {
  if (start < reading.named) return;
  const { text } = reading;
  const found = valueStart(reading, end, start);
  if (found === null || isVerdict(text, start)) return;
  spend(reading.effort, start, A_LOOK);
  const name = nameBefore(text, start, end);
  // `PWD` is the folder of a process, but in a connection string a password.
  const family = name === 'PWD' && text.charAt(start - 1) === ';' ? 'password' : familyOf(name);
  if (family === null) return;
  if (found.binding === 'spaced' && !takesSpace(text, start, end, name)) return;
  const value = family === 'phrase' ? lineAt(text, found.at) : valueAt(reading, found.at);
  if (value === null || value.end - value.start < (MIN_VALUE[family] ?? 0)) return;
  spend(reading.effort, start, A_JUDGEMENT);
  // A marker that stands there already says nothing about what stands beside it.
  const secret = text
    .slice(value.start, Math.min(value.end, value.start + 512))
    .replace(MARKER, '');
  if (isInMarker(text, start) || !isShown(family, secret, found, value, text, name)) return;
  emit(value.start, value.end, labelOfName(family));
  reading.named = value.end;
}

/** `PASS: gdb.base/call-ar-st.exp`: what a test runner says of a test. */
const VERDICT = /PASS: [\w.-]{1,80}[/:]/y;
function isVerdict(text: string, start: number): boolean {
  VERDICT.lastIndex = start;
  return VERDICT.test(text);
}

/** A marker names what it hides, and is no name of what stands behind it. */
function isInMarker(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - MAX_NAME), start);
  return MARKER.test(text.slice(start - before.length + before.lastIndexOf('['), start + MAX_NAME));
}

function nameBefore(text: string, start: number, end: number): string {
  let from = start;
  while (from > 0 && start - from < MAX_NAME && isIn(NAME_RUN, text.charCodeAt(from - 1)))
    from -= 1;
  const name = text.slice(from, end).replace(/^[-.]+/, '');
  // `Unseal Key 1:`, `API key:`: what kind of key it is stands in the word before.
  const before = /^(?:keys?|phrase)$/i.test(name)
    ? (/([A-Za-z]{2,16}) $/.exec(text.slice(Math.max(0, from - 18), from))?.[1] ?? '')
    : '';
  return before === '' ? name : `${before}_${name}`;
}

/**
 * What binds a value to the name that ends here. Tells by the first character, because most names
 * are words in prose.
 */
function valueStart({ text, effort }: Reading, end: number, start: number): Bound | null {
  const first = text.charCodeAt(end);
  let at = end;
  while (at < end + 16 && SKIPPED[text.charCodeAt(at)] === 1) at += 1;
  const next = text.charCodeAt(at);
  const kind = next < 128 ? (NEXT[next] ?? 0) : 0;
  if (
    kind === SIGN ||
    (kind === DIGIT && at <= end + 1) ||
    (at === end && kind === JOINT && SUFFIXES.has(text.charAt(end + 1).toLowerCase()))
  ) {
    spend(effort, start, A_WORD);
    const signed = bound(text, end, 'assigned', ASSIGNED) ?? bound(text, end, 'passed', PASSED);
    if (signed !== null || first !== 32) return signed;
  }
  if (kind === TAG || (at > end && kind === MEMBER)) {
    spend(effort, start, A_WORD);
    const tagged = bound(text, end, 'tagged', TAGGED);
    if (tagged !== null) return tagged;
  }
  if (kind === PAREN || text.startsWith(" '", end)) return bound(text, end, 'passed', PASSED);
  if (first !== 32 && first !== 9) return null;
  spend(effort, start, A_WORD);
  return mayTakeSpace(text, start, end, at) ? bound(text, end, 'spaced', SPACED) : null;
}

const SIGN = 1;
const DIGIT = 2;
const JOINT = 3;
const TAG = 4;
const MEMBER = 5;
const PAREN = 6;
const NEXT = new Uint8Array(128);
for (const [chars, kind] of [
  ['=:?,\n\r', SIGN],
  ['0123456789', DIGIT],
  ['-_.', JOINT],
  ['>', TAG],
  ['vcd', MEMBER],
  ['(', PAREN],
] as const) {
  for (const char of chars) NEXT[char.charCodeAt(0)] = kind;
}
/**
 * How what stands behind a name may begin: `base`, `value`, `text`, `prod`, `dev`, `staging`,
 * `live`, a number.
 */
const SUFFIXES: ReadonlySet<string> = new Set('bvtpdsl0123456789');

/** Blanks, quotes and brackets between a name and the sign that binds its value. */
const SKIPPED = new Uint8Array(128);
for (const char of ' \t"\'`\\]') SKIPPED[char.charCodeAt(0)] = 1;
function bound(text: string, end: number, binding: Binding, pattern: RegExp): Bound | null {
  pattern.lastIndex = end;
  return pattern.test(text) ? { at: pattern.lastIndex, binding } : null;
}

/** The cheap part of `takesSpace`: what stands right before the name, or right behind it. */
function mayTakeSpace(text: string, start: number, end: number, next: number): boolean {
  if (text.startsWith('is ', next) || text.startsWith('was ', next)) return true;
  const before = text.charCodeAt(start - 1);
  const isLong = end - start > 5;
  if (before === 32 || before === 9 || (before === 10 && !isLong))
    return OPENER.test(text.slice(Math.max(0, start - REACH), start));
  return before === 45 || before === 95 || isLong || Number.isNaN(before);
}

/**
 * Words of a `.netrc` or a Dockerfile that stand before names, and as far before a name as one may
 * begin.
 */
const OPENER = /login |ENV |ARG |set /;
const REACH = 80;

/**
 * A blank binds a value to an option, to a variable in a Dockerfile or `.netrc`, or to a name in a
 * sentence that goes on with `is`.
 */
function takesSpace(text: string, start: number, end: number, name: string): boolean {
  const from = start - (name.length - (end - start));
  const before = text.slice(Math.max(0, from - 200), from);
  if (
    /(?:^|[\s"'`])-{1,2}$/.test(before) ||
    /(?:^|\n)[ \t]*(?:ENV|ARG|set|setenv)[ \t]+$/.test(before)
  )
    return true;
  if (/(?:machine[ \t]+\S{1,100}|default)\s+(?:login|user|account)[ \t]+\S{1,64}\s+$/.test(before))
    return true;
  // Directives of configuration files begin a line.
  if (/^(?:requirepass|masterauth|bindpw|rootpw)$/.test(name) && /(?:^|\n)[ \t]*$/.test(before))
    return true;
  return /^[ \t]{1,4}(?:is|was)[ \t]/.test(text.slice(end, end + 12));
}

function isShown(
  family: Family,
  secret: string,
  { at, binding }: Bound,
  value: Value,
  text: string,
  name: string,
): boolean {
  if (/^[,;)\]}\s]/.test(secret) || !isHidden(family, secret)) return false;
  const isSaid = binding === 'spaced' && /(?:is|was)\s+$/.test(text.slice(Math.max(0, at - 6), at));
  if (binding === 'passed' || isSaid)
    return (
      !/\s/.test(secret) &&
      (isRandomLooking(secret) || (family === 'password' && isStrongWord(secret)))
    );
  if (family === 'password' && isTold(secret)) return false;
  if (value.quoted || binding === 'tagged')
    return family !== 'password' || !isSameName(secret, name);
  if (binding === 'spaced') return !isPlainWord(secret) && !/^[[(<]/.test(secret);
  return !isProseOrCode(secret, text.slice(Math.max(0, at - 32), at), text.charAt(value.end));
}

/** Letters in words, and nothing else. */
const isPlainWord = (text: string): boolean =>
  isWord(text) || /^[A-Z]+$/.test(text) || (/^[A-Za-z]+[.,:;!?)]*$/.test(text) && isWordy(text));

/** What people type where a password is asked for: not a word, and nothing of a program. */
const isStrongWord = (text: string): boolean =>
  text.length >= 6 &&
  !/[\s(){}]/.test(text) &&
  (/\d/.test(text) ? /[A-Za-z]/.test(text) : /[A-Z]/.test(text) && !isWordy(text));

/** `passwordField: 'password_field'`: a name of a name. */
const isSameName = (value: string, name: string): boolean => {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  return (
    (/^[\w.-]+$/.test(value) && plain(name).includes(plain(value))) ||
    (/^[A-Za-z]+(?:[-_.][A-Za-z]+)+$/.test(value) && /pass|pwd/i.test(value))
  );
};

/**
 * `password: required` in a manual, `password = await ask()` in a program: a bare word is a value
 * only at the end of a line.
 */
function isProseOrCode(value: string, between: string, after: string): boolean {
  if (isPlainWord(value)) {
    return (
      between.includes(':') ||
      /\s=|=\s/.test(between) ||
      !['', '\n', '\r', '&', ';'].includes(after) ||
      !isWord(value)
    );
  }
  if (/[({[]$|^[({[]|=>|\(\)|::|\w\(|^\/[a-z]/.test(value)) return true;
  // `password=correct-horse7`: a hyphen between words is an operator only where a program has
  // blanks around its `=`.
  if (value.includes('-') && (/\d/.test(value) || /[^\s:]=$/.test(between))) return false;
  return (
    /^[A-Za-z_$][\w$]*(?:[.?()[\]!:/-]+[A-Za-z_$][\w$]*)+[.;)\]?!]*$/.test(value) && isWordy(value)
  );
}

/** Words that stand for a key, to the end of their line. */
function lineAt(text: string, at: number): Value {
  const [words = ''] = /^["']?[a-z ]{0,240}/.exec(text.slice(at, at + 242)) ?? [];
  const start = at + (/^["']/.test(words) ? 1 : 0);
  return { start, end: at + words.trimEnd().length, quoted: true };
}

/** The value that begins here: up to its closing quote, or to the next separator. */
function valueAt(reading: Reading, at: number): Value | null {
  const { text } = reading;
  const [opening = ''] = /^\\{0,3}["'`]/.exec(text.slice(at, at + 4)) ?? [];
  const start = at + opening.length;
  if (opening !== '') {
    const length = quotedLength(
      text.slice(start, start + MAX_QUOTED),
      opening.slice(-1),
      opening.length - 1,
    );
    return length === 0 ? null : { start, end: start + length, quoted: true };
  }
  const end = runEnd(reading, VALUE_RUN, start);
  return end === start ? null : { start, end, quoted: false };
}

/**
 * Up to the quote that is escaped as often as the opening one; one that is escaped further belongs
 * to the value.
 */
function quotedLength(line: string, quote: string, escapes: number): number {
  const close = line.indexOf(quote);
  if (escapes === 0 && close > 0 && line.charAt(close - 1) !== '\\') {
    const broken = line.slice(0, close).indexOf('\n');
    return broken === -1 ? close : broken;
  }
  for (const { 0: found, index } of line.matchAll(/\\*["'`\n]/g)) {
    const before = found.length - 1;
    if (found.endsWith('\n')) return index + before;
    const isClosing =
      found.endsWith(quote) && (escapes === 0 ? before % 2 === 0 : before <= escapes);
    if (isClosing) return index + Math.max(0, before - escapes);
  }
  return line.length;
}
