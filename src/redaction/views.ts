/** Takes the disguises off a text, and remembers where each character came from. */

import { codesOf } from './characters.ts';
import { C1_STRINGS, ESC, parametersEnd, sequenceEnd, stringEnd } from './terminal-sequences.ts';

/** A text to look at instead of another one: character `i` of it stands from `starts[i]` to `ends[i]` there. */
export interface View {
  readonly text: string;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Characters beyond ASCII from which on some are not seen, or stand for ASCII. Accented letters are neither. */
const UNUSUAL = /[\u0080-\u009f\u00a0\u00ad\u0300-\u036f\u0483-\u0489\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\uffff]/;
/** What begins an escape, or moves the cursor. */
const ODD = /[\\%&\0-\u0008\u000b\u000c\u000e-\u001f\u007f]|=\r?\n/;

/** Whether a text may hold disguises. `odd` says whether one of the characters of `ODD` stands in it, where that is known. */
export const isFolded = (text: string, odd: boolean | undefined): boolean =>
  (odd ?? ODD.test(text)) || (Buffer.byteLength(text) !== text.length && UNUSUAL.test(text));

/** The characters that `ODD` looks for; soft line breaks begin with the last. */
export const ODD_CODES: readonly number[] = Object.freeze([
  ...Array.from({ length: 32 }, (_, code) => code).filter((code) => code !== 9 && code !== 10 && code !== 13),
  ...[127, 37, 38, 92],
]);

/** What is seen of a character beyond ASCII, or of a control character: itself (`null`), another one, or nothing. */
const seen = new Map<number, string | null>();
const MAX_SEEN = 10_000;
const INVISIBLE = /^[\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\p{Mn}\p{Me}]$/u;

function shownAs(code: number): string | null {
  const known = seen.get(code);
  if (known !== undefined) return known;
  if (seen.size >= MAX_SEEN) seen.clear();
  const char = String.fromCodePoint(code);
  const plain = char.normalize('NFKC');
  const isAscii = plain.length === 1 && plain <= '\u007e' && plain >= ' ';
  const shown = isAscii ? plain : INVISIBLE.test(char) || char === '\u2800' ? '' : null;
  seen.set(code, shown);
  return shown;
}

/**
 * Percent-encoding, `\u`, `\x` and other escapes, character references, soft line breaks; look-alikes that Unicode itself takes
 * for ASCII; what a terminal does not show: control sequences, overstruck characters, everything that is invisible by its class.
 * One layer of each; `null` where nothing changed. What is inside a span goes with it, what stands after it stays. The view is
 * good until the next one of the same depth.
 */
export function unfold(text: string, depth: number): View | null {
  const codes = codesOf(text);
  const { length } = text;
  const first = firstDisguise(text, codes, length);
  if (first === length) return null;
  const { out, starts, ends } = roomFor(depth, length);
  for (let at = 0; at < first; at += 1) {
    out[at] = codes[at] ?? 0;
    starts[at] = at;
    ends[at] = at + 1;
  }
  let to = first;
  for (let at = first; at < length; ) {
    const code = codes[at] ?? 0;
    const after = code < 128 && PLAIN[code] === 1 ? at + 1 : disguiseEnd(text, codes, at, code, length);
    if (shown === ERASE && to > 0) to -= 1;
    if (shown >= 0 || shown === KEEP) {
      out[to] = shown === KEEP ? code : shown;
      starts[to] = at;
      ends[to] = after;
      to += 1;
    }
    at = after;
    shown = KEEP;
  }
  return { text: Buffer.from(out.buffer, 0, to * 2).toString('utf16le'), starts, ends };
}

/** Where the first disguise stands: most signs that can begin one begin none. */
function firstDisguise(text: string, codes: Uint16Array, length: number): number {
  for (let at = 0; at < length; at += 1) {
    const code = codes[at] ?? 0;
    if (code < 128 && PLAIN[code] === 1) continue;
    disguiseEnd(text, codes, at, code, length);
    const isPlain = shown === KEEP;
    shown = KEEP;
    if (!isPlain) return at;
  }
  return length;
}

interface Room {
  readonly out: Uint16Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** One for each layer: a view is read while those below it are made, and no longer. */
const rooms: Room[] = [];

function roomFor(depth: number, length: number): Room {
  const known = rooms[depth];
  if (known !== undefined && known.out.length >= length) return known;
  const size = Math.max(length, 4_096);
  return (rooms[depth] = { out: new Uint16Array(size), starts: new Uint32Array(size), ends: new Uint32Array(size) });
}

const KEEP = -1;
const DROP = -2;
const ERASE = -3;
/** What `disguiseEnd` found: a character code, or one of the three above. In a variable, because a pair would be made for each character. */
let shown: number = KEEP;

const PLAIN = new Uint8Array(128).fill(1);
for (const code of [...ODD_CODES, 61]) PLAIN[code] = 0;

/** Where the disguise that begins here ends; sets `shown`. */
function disguiseEnd(text: string, codes: Uint16Array, at: number, code: number, length: number): number {
  shown = KEEP;
  if (code === 92) return backslash(text, codes, at);
  if (code === 37) return percent(codes, at);
  if (code === 38) return reference(text, at);
  if (code === 61) return softBreak(codes, at, length);
  if (code === 8) return with_(ERASE, at + 1);
  if (code === ESC) return with_(DROP, sequenceEnd(codes, at + 1, length));
  if (code === 0x9b) return with_(DROP, parametersEnd(codes, at + 1, length));
  if (C1_STRINGS.has(code)) return with_(DROP, stringEnd(codes, at + 1, length));
  if (code < 128) return with_(DROP, at + 1);
  return beyondAscii(text, codes, at, code);
}

function with_(what: number, end: number): number {
  shown = what;
  return end;
}

function beyondAscii(text: string, codes: Uint16Array, at: number, code: number): number {
  const isPair = code >= 0xd800 && code < 0xdc00 && ((codes[at + 1] ?? 0) & 0xfc00) === 0xdc00;
  const point = isPair ? (text.codePointAt(at) ?? code) : code;
  const plain = code >= 0xd800 && code < 0xe000 && !isPair ? null : shownAs(point);
  if (plain === null) return at + 1;
  return with_(plain === '' ? DROP : plain.charCodeAt(0), at + (isPair ? 2 : 1));
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

/** A character that was written by its number. Secrets are ASCII: another one is left as it is, unless nobody would see it. */
function numbered(value: number, end: number, at: number): number {
  if (value < 0 || value > 0x10ffff) return at + 1;
  if (value < 128) return with_(value, end);
  const plain = value >= 0xd800 && value < 0xe000 ? null : shownAs(value);
  return plain === null ? at + 1 : with_(plain === '' ? DROP : plain.charCodeAt(0), end);
}

const percent = (codes: Uint16Array, at: number): number => numbered(hexAt(codes, at + 1, 2), at + 3, at);

const SHORT: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, b: 8, f: 12, e: ESC, v: 11, a: 7 };

function backslash(text: string, codes: Uint16Array, at: number): number {
  const next = codes[at + 1] ?? 0;
  const char = text.charAt(at + 1);
  if (char === 'u') {
    const braced = codes[at + 2] === 123 ? /^\{[0-9a-f]{1,6}\}/i.exec(text.slice(at + 2, at + 10))?.[0] : undefined;
    if (braced !== undefined) return numbered(Number.parseInt(braced.slice(1, -1), 16), at + 2 + braced.length, at);
    return numbered(hexAt(codes, at + 2, 4), at + 6, at);
  }
  if (char === 'x') return numbered(hexAt(codes, at + 2, 2), at + 4, at);
  if (char === '0' && text.startsWith('033', at + 1)) return with_(ESC, at + 4);
  if (next === 10) return with_(DROP, at + 2);
  if (next === 13 && codes[at + 2] === 10) return with_(DROP, at + 3);
  if (`"'\`\\/`.includes(char) && char !== '') return with_(next, at + 2);
  const code = Object.hasOwn(SHORT, char) ? (SHORT[char] ?? 0) : 0;
  return code === 0 ? at + 1 : with_(code, at + 2);
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ...([
    ['amp', '&'],
    ['quot', '"'],
    ['lt', '<'],
    ['gt', '>'],
    ['apos', "'"],
    ['nbsp', ' '],
    ['colon', ':'],
    ['equals', '='],
  ] as const),
  ...([
    ['sol', '/'],
    ['period', '.'],
    ['lowbar', '_'],
    ['hyphen', '-'],
    ['dash', '-'],
    ['shy', ''],
    ['zwnj', ''],
    ['zwj', ''],
  ] as const),
]);
const REFERENCE = /&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z]{2,6}));/iy;

function reference(text: string, at: number): number {
  REFERENCE.lastIndex = at;
  const match = REFERENCE.exec(text);
  if (match === null) return at + 1;
  const [whole, hex, decimal, name = ''] = match;
  if (hex !== undefined) return numbered(Number.parseInt(hex, 16), at + whole.length, at);
  if (decimal !== undefined) return numbered(Number(decimal), at + whole.length, at);
  const plain = NAMED.get(name.toLowerCase());
  if (plain === undefined) return at + 1;
  return with_(plain === '' ? DROP : plain.charCodeAt(0), at + whole.length);
}

function softBreak(codes: Uint16Array, at: number, length: number): number {
  if (at + 1 < length && codes[at + 1] === 10) return with_(DROP, at + 2);
  return at + 2 < length && codes[at + 1] === 13 && codes[at + 2] === 10 ? with_(DROP, at + 3) : at + 1;
}
