/** Takes the disguises off a text, and remembers where each character came from. */

import { codesOf } from './characters.ts';
import type { SignPlaces } from './detector.ts';
import { begin, endOf, startOf, type Stretches, stretchesFor } from './stretches.ts';
import { C1_STRINGS, ESC, NAMED, parametersEnd, sequenceEnd, stringEnd } from './escapes.ts';

/** A text to look at instead of another one. */
export interface View {
  readonly text: string;
  /** Where a character of it begins in the other one, and where it ends there. */
  readonly startOf: (index: number) => number;
  readonly endOf: (index: number) => number;
}

/**
 * Characters beyond ASCII from which on some are not seen, or stand for ASCII. Accented letters are
 * neither.
 */
const UNUSUAL =
  /[\u0080-\u009f\u00a0\u00ad\u0300-\u036f\u0483-\u0489\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\uffff]/;
/** What begins an escape, or moves the cursor. */
const ODD = /[\\%&\0-\u0008\u000b\u000c\u000e-\u001f\u007f]|=\r?\n/;

/** Whether a text may hold disguises. */
export const isFolded = (text: string, signs: SignPlaces): boolean =>
  (signs === null ? ODD.test(text) : signs.length > 0) ||
  (Buffer.byteLength(text) !== text.length && UNUSUAL.test(text));

const ODD_CODES: readonly number[] = [
  ...Array.from({ length: 32 }, (_, code) => code).filter(
    (code) => code !== 9 && code !== 10 && code !== 13,
  ),
  ...[127, 37, 38, 92],
];

/**
 * What `ODD` looks for. The second of the two that begin a soft line break may be missing, which
 * unfolding finds out.
 */
export const ODD_SIGNS: readonly string[] = Object.freeze([
  ...ODD_CODES.map((code) => String.fromCharCode(code)),
  '=\n',
  '=\r',
]);

const INVISIBLE =
  /^[\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\p{Mn}\p{Me}]$/u;
/**
 * What is seen of every character beyond ASCII: the code of another one, `KEEP` or `DROP`; `0` as
 * long as it was not asked for.
 */
let shownCodes = new Int8Array(0);

function shownAs(code: number): number {
  if (shownCodes.length === 0) shownCodes = new Int8Array(0x110000);
  return shownCodes[code] || (shownCodes[code] = askUnicode(String.fromCodePoint(code)));
}

function askUnicode(char: string): number {
  const plain = char.normalize('NFKC');
  if (plain.length === 1 && plain <= '\u007e' && plain >= ' ') return plain.charCodeAt(0);
  return INVISIBLE.test(char) || char === '\u2800' ? DROP : KEEP;
}

/**
 * Percent-encoding, `\u`, `\x` and other escapes, character references, soft line breaks;
 * look-alikes that Unicode itself takes for ASCII; what a terminal does not show: control
 * sequences, overstruck characters, everything that is invisible by its class. One layer of each;
 * `null` where nothing changed. What is inside a span goes with it, what stands after it stays. The
 * view is good until the next one of the same depth. Where `signs` are known, the characters
 * between them need no look.
 */
export function unfold(text: string, depth: number, signs: SignPlaces = null): View | null {
  const codes = codesOf(text);
  const { length } = text;
  const next =
    signs === null || Buffer.byteLength(text) !== length
      ? plainEnds(codes, length)
      : knownPlaces(signs, length);
  const first = firstDisguise(text, codes, length, next);
  if (first === length) return null;
  const { out, stretches } = roomFor(depth, length);
  out.set(codes.subarray(0, first));
  stretches.count = 0;
  begin(stretches, 0, 0, 1);
  let to = first;
  for (let at = first; at < length; ) {
    const after = disguiseEnd(text, codes, at, codes[at] ?? 0, length);
    const seen = shown === KEEP ? (codes[at] ?? 0) : shown;
    if (seen === ERASE && to > 0) to -= 1;
    if (seen < 0) begin(stretches, to, after, after + 1);
    else {
      begin(stretches, to, at, after);
      out[to] = seen;
      to += 1;
    }
    at = next(after);
    to = copy(codes, after, at, out, to);
  }
  const view = Buffer.from(out.buffer, 0, to * 2).toString('utf16le');
  return {
    text: view,
    startOf: (index) => startOf(stretches, index),
    endOf: (index) => endOf(stretches, index),
  };
}

/** Answers where the next sign stands that can begin a disguise. Ask with places that only grow. */
type NextSign = (from: number) => number;

/** Where the first disguise stands: most signs that can begin one begin none. */
function firstDisguise(text: string, codes: Uint16Array, length: number, next: NextSign): number {
  for (let at = next(0); at < length; at = next(at + 1)) {
    disguiseEnd(text, codes, at, codes[at] ?? 0, length);
    if (shown !== KEEP) return at;
  }
  return length;
}

const plainEnds =
  (codes: Uint16Array, length: number): NextSign =>
  (from) => {
    let at = from;
    while (at < length && PLAIN[codes[at] ?? 0] === 1) at += 1;
    return at;
  };

function knownPlaces(signs: ArrayLike<number>, length: number): NextSign {
  let sign = 0;
  return (from) => {
    while (sign < signs.length && (signs[sign] ?? 0) < from) sign += 1;
    return signs[sign] ?? length;
  };
}

/** Characters that stand for themselves; answers where the next one goes. */
function copy(codes: Uint16Array, from: number, end: number, out: Uint16Array, to: number): number {
  const shift = to - from;
  for (let at = from; at < end; at += 1) out[at + shift] = codes[at] ?? 0;
  return end + shift;
}

interface Room {
  readonly out: Uint16Array;
  readonly stretches: Stretches;
}

/** One for each layer: a view is read while those below it are made, and no longer. */
const rooms: Room[] = [];

function roomFor(depth: number, length: number): Room {
  const known = rooms[depth];
  if (known !== undefined && known.out.length >= length) return known;
  const size = Math.max(length, 4_096);
  return (rooms[depth] = { out: new Uint16Array(size), stretches: stretchesFor(size) });
}

const KEEP = -1;
const DROP = -2;
const ERASE = -3;
/**
 * What `disguiseEnd` found: a character code, or one of the three above. In a variable, because a
 * pair would be made for each character.
 */
let shown: number = KEEP;

/** One for every character that begins no disguise. */
const PLAIN = new Uint8Array(65_536).fill(1, 0, 128);
for (const code of [...ODD_CODES, 61]) PLAIN[code] = 0;

/** Where the disguise that begins here ends; sets `shown`. */
function disguiseEnd(
  text: string,
  codes: Uint16Array,
  at: number,
  code: number,
  length: number,
): number {
  shown = KEEP;
  if (code >= 0xa0) return beyondAscii(text, codes, at, code);
  if (code === 92) return backslash(text, codes, at);
  if (code === 37) return percent(codes, at);
  if (code === 38) return reference(text, codes, at, length);
  if (code === 61) return softBreak(codes, at, length);
  if (code === 8) return with_(ERASE, at + 1);
  if (code === ESC) return with_(DROP, sequenceEnd(codes, at + 1, length));
  if (code === 0x9b) return with_(DROP, parametersEnd(codes, at + 1, length));
  if (C1_STRINGS[code] === 1) return with_(DROP, stringEnd(codes, at + 1, length));
  return with_(DROP, at + 1);
}

function with_(what: number, end: number): number {
  shown = what;
  return end;
}

function beyondAscii(text: string, codes: Uint16Array, at: number, code: number): number {
  const isPair = code >= 0xd800 && code < 0xdc00 && ((codes[at + 1] ?? 0) & 0xfc00) === 0xdc00;
  const point = isPair ? (text.codePointAt(at) ?? code) : code;
  const plain = isPair || code < 0xd800 || code >= 0xe000 ? shownAs(point) : KEEP;
  return plain === KEEP ? at + 1 : with_(plain, at + (isPair ? 2 : 1));
}

const hexAt = (codes: Uint16Array, from: number, count: number): number => {
  let value = 0;
  for (let at = from; at < from + count; at += 1) {
    const code = (codes[at] ?? 0) | 32;
    const digit = code >= 48 && code <= 57 ? code - 48 : code >= 97 && code <= 102 ? code - 87 : -1;
    if (digit < 0 || (codes[at] ?? 0) < 48) return -1;
    value = value * 16 + digit;
  }
  return value;
};

/**
 * A character that was written by its number. Secrets are ASCII: another one is left as it is,
 * unless nobody would see it.
 */
function numbered(value: number, end: number, at: number): number {
  if (value < 0 || value > 0x10ffff) return at + 1;
  if (value < 128) return with_(value, end);
  const plain = value >= 0xd800 && value < 0xe000 ? KEEP : shownAs(value);
  return plain === KEEP ? at + 1 : with_(plain, end);
}

const percent = (codes: Uint16Array, at: number): number =>
  numbered(hexAt(codes, at + 1, 2), at + 3, at);

/** What a backslash and this character stand for; `0` where that is no escape. */
const SHORT = new Uint8Array(128);
for (const [char, code] of Object.entries({ n: 10, r: 13, t: 9, b: 8, f: 12, e: ESC, v: 11, a: 7 }))
  SHORT[char.charCodeAt(0)] = code;
for (const char of `"'\`\\/`) SHORT[char.charCodeAt(0)] = char.charCodeAt(0);

function backslash(text: string, codes: Uint16Array, at: number): number {
  const next = codes[at + 1] ?? 0;
  if (next === SMALL_U) {
    const braced =
      codes[at + 2] === 123
        ? /^\{[0-9a-f]{1,6}\}/i.exec(text.slice(at + 2, at + 10))?.[0]
        : undefined;
    if (braced !== undefined)
      return numbered(Number.parseInt(braced.slice(1, -1), 16), at + 2 + braced.length, at);
    return numbered(hexAt(codes, at + 2, 4), at + 6, at);
  }
  if (next === SMALL_X) return numbered(hexAt(codes, at + 2, 2), at + 4, at);
  if (next === ZERO && text.startsWith('033', at + 1)) return with_(ESC, at + 4);
  if (next === 10) return with_(DROP, at + 2);
  if (next === 13 && codes[at + 2] === 10) return with_(DROP, at + 3);
  const code = next < 128 ? (SHORT[next] ?? 0) : 0;
  return code === 0 ? at + 1 : with_(code, at + 2);
}

const SMALL_U = 117;
const SMALL_X = 120;
const ZERO = 48;

/** The longest reference, without its signs. */
const MAX_REFERENCE = 8;
const NUMBER = /^#(?:x([0-9a-f]{1,6})|([0-9]{1,7}))$/i;

function reference(text: string, codes: Uint16Array, at: number, length: number): number {
  const limit = Math.min(length, at + MAX_REFERENCE + 2);
  let end = at + 1;
  while (end < limit && codes[end] !== SEMICOLON) end += 1;
  if (end === limit) return at + 1;
  const name = text.slice(at + 1, end).toLowerCase();
  const plain = NAMED.get(name);
  if (plain !== undefined) return with_(plain === '' ? DROP : plain.charCodeAt(0), end + 1);
  const [, hex, decimal] = NUMBER.exec(name) ?? [];
  if (hex !== undefined) return numbered(Number.parseInt(hex, 16), end + 1, at);
  return decimal === undefined ? at + 1 : numbered(Number(decimal), end + 1, at);
}

const SEMICOLON = 59;

function softBreak(codes: Uint16Array, at: number, length: number): number {
  if (at + 1 < length && codes[at + 1] === 10) return with_(DROP, at + 2);
  return at + 2 < length && codes[at + 1] === 13 && codes[at + 2] === 10
    ? with_(DROP, at + 3)
    : at + 1;
}
