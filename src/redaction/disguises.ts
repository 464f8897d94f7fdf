/**
 * Disguises of characters: escapes, character references, soft line breaks, look-alikes, what a
 * terminal does not show. For each, where it ends and what is seen of it.
 */

const ESC = 27;

/**
 * Characters beyond ASCII from which on some are not seen, or stand for ASCII. Accented letters are
 * neither.
 */
export const UNUSUAL =
  /[\u0080-\u009f\u00a0\u00ad\u0300-\u036f\u0483-\u0489\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\uffff]/;
/** What begins an escape, or moves the cursor. */
export const ODD = /[\\%&\0-\u0008\u000b\u000c\u000e-\u001f\u007f]|=\r?\n/;

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

export const KEEP = -1;
const DROP = -2;
export const ERASE = -3;
/**
 * What `disguiseEnd` found: a character code, or one of the three above. In a variable, because a
 * pair would be made for each character.
 */
export let shown: number = KEEP;

/** One for every character that begins no disguise. */
export const PLAIN = new Uint8Array(65_536).fill(1, 0, 128);
for (const code of [...ODD_CODES, 61]) PLAIN[code] = 0;

/** Where the disguise that begins here ends; sets `shown`. */
export function disguiseEnd(
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
 * unless it does not show.
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

/** The introducers of strings that a terminal does not show, after `ESC`. */
const STRINGS = new Uint8Array(128);
for (const char of 'P]X^_') STRINGS[char.charCodeAt(0)] = 1;
/** The one-character forms. */
const C1_STRINGS = new Uint8Array(160);
for (const code of [0x90, 0x98, 0x9d, 0x9e, 0x9f]) C1_STRINGS[code] = 1;
const MAX_STRING = 4_096;

/** The end of a control sequence whose `ESC` stands before `from`. */
function sequenceEnd(codes: Uint16Array, from: number, length: number): number {
  if (from >= length) return from;
  const kind = codes[from] ?? 0;
  if (kind === 91) return parametersEnd(codes, from + 1, length);
  if (STRINGS[kind] === 1) return stringEnd(codes, from + 1, length);
  let at = from;
  while (at < length && (codes[at] ?? 0) >= 0x20 && (codes[at] ?? 0) < 0x30) at += 1;
  return at < length && (codes[at] ?? 0) >= 0x30 && (codes[at] ?? 0) < 0x7f ? at + 1 : at;
}

/** The end of the parameters of a control sequence, and of the letter that ends it. */
function parametersEnd(codes: Uint16Array, from: number, length: number): number {
  let at = from;
  while (at < length && (codes[at] ?? 0) >= 0x20 && (codes[at] ?? 0) < 0x40) at += 1;
  return at < length && (codes[at] ?? 0) >= 0x40 && (codes[at] ?? 0) < 0x7f ? at + 1 : at;
}

/**
 * A string ends at `BEL`, `ESC \` or its one-character form; one that does not end is no string,
 * and only its introducer goes.
 */
function stringEnd(codes: Uint16Array, from: number, length: number): number {
  const limit = Math.min(length, from + MAX_STRING);
  for (let at = from; at < limit; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 7 || code === 0x9c) return at + 1;
    if (code === ESC) return codes[at + 1] === 92 ? at + 2 : at;
    // Another control character breaks it off, so that no character is read for more than one
    // introducer.
    if (code < 0x20 || (code >= 0x80 && code < 0xa0)) return from;
  }
  return from;
}

/** The text that each reference stands for; those that are not seen stand for none. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['quot', '"'],
  ['lt', '<'],
  ['gt', '>'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['colon', ':'],
  ['equals', '='],
  ['sol', '/'],
  ['period', '.'],
  ['lowbar', '_'],
  ['hyphen', '-'],
  ['dash', '-'],
  ['shy', ''],
  ['zwnj', ''],
  ['zwj', ''],
]);
