/**
 * Signs that stand for other characters or for none: where each terminal sequence ends, and the
 * character references of HTML by their names.
 */

export const ESC = 27;
/** The introducers of strings that a terminal does not show, after `ESC`. */
const STRINGS = new Uint8Array(128);
for (const char of 'P]X^_') STRINGS[char.charCodeAt(0)] = 1;
/** The one-character forms. */
export const C1_STRINGS = new Uint8Array(160);
for (const code of [0x90, 0x98, 0x9d, 0x9e, 0x9f]) C1_STRINGS[code] = 1;
const MAX_STRING = 4_096;

/** The end of a control sequence whose `ESC` stands before `from`. */
export function sequenceEnd(codes: Uint16Array, from: number, length: number): number {
  if (from >= length) return from;
  const kind = codes[from] ?? 0;
  if (kind === 91) return parametersEnd(codes, from + 1, length);
  if (STRINGS[kind] === 1) return stringEnd(codes, from + 1, length);
  let at = from;
  while (at < length && (codes[at] ?? 0) >= 0x20 && (codes[at] ?? 0) < 0x30) at += 1;
  return at < length && (codes[at] ?? 0) >= 0x30 && (codes[at] ?? 0) < 0x7f ? at + 1 : at;
}

/** The end of the parameters of a control sequence, and of the letter that ends it. */
export function parametersEnd(codes: Uint16Array, from: number, length: number): number {
  let at = from;
  while (at < length && (codes[at] ?? 0) >= 0x20 && (codes[at] ?? 0) < 0x40) at += 1;
  return at < length && (codes[at] ?? 0) >= 0x40 && (codes[at] ?? 0) < 0x7f ? at + 1 : at;
}

/**
 * A string ends at `BEL`, `ESC \` or its one-character form; one that does not end is no string,
 * and only its introducer goes.
 */
export function stringEnd(codes: Uint16Array, from: number, length: number): number {
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
export const NAMED: ReadonlyMap<string, string> = new Map([
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
