/** Finds many short words in one pass over a text, without regard to case. */

import { codesOf } from './codes.ts';

export interface AnchorFinder {
  /** Calls `hit` with the number of a word and where it begins, from the start of the text to its end. */
  find(text: string, hit: (word: number, start: number) => void): void;
  /** Whether any of the words stands there. */
  isIn(text: string): boolean;
}

/** Three characters with five bits each, in which capitals and small letters are the same. */
const KEYS = 0x8000;
const keyOf = (before: number, code: number): number => ((before << 5) | (code & 31)) & (KEYS - 1);
const PREFIX = 3;
const keyAt = (codes: Uint16Array, start: number): number => keyOf(keyOf(codes[start] ?? 0, codes[start + 1] ?? 0), codes[start + 2] ?? 0);

/** The same for two. */
const PAIRS = 0x400;
const pairOf = (before: number, code: number): number => ((before & 31) << 5) | (code & 31);

const fold = (code: number): number => (code >= 65 && code <= 90 ? code + 32 : code);

function isAt(codes: Uint16Array, start: number, end: number, word: Uint16Array): boolean {
  if (start < 0 || start + word.length > end) return false;
  for (let index = 0; index < word.length; index += 1) if (fold(codes[start + index] ?? 0) !== word[index]) return false;
  return true;
}

/**
 * Words must have three characters or more. Looks up every three characters of the text in a table and compares only where
 * a word can begin. An alternation of the same words as a regular expression takes several times as long where nothing is
 * found, which is nearly always.
 */
export function anchorFinder(words: readonly string[]): AnchorFinder {
  const folded = words.map((word) => Uint16Array.from(word.toLowerCase(), (char) => char.charCodeAt(0)));
  const buckets: number[][] = [[]];
  const table = new Uint8Array(KEYS);
  const pairs = new Uint8Array(PAIRS);
  folded.forEach((word, index) => {
    for (let at = 1; at < PREFIX; at += 1) pairs[pairOf(word[at - 1] ?? 0, word[at] ?? 0)] = 1;
    const key = word.subarray(0, PREFIX).reduce(keyOf, 0);
    if (table[key] === 0) table[key] = buckets.push([]) - 1;
    buckets[table[key] ?? 0]?.push(index);
  });
  // No callbacks here: it is asked at every tenth character of every text.
  const beginsAt = (codes: Uint16Array, start: number, end: number): boolean => {
    const bucket = start < 0 ? 0 : (table[keyAt(codes, start)] ?? 0);
    if (bucket === 0) return false;
    for (const word of buckets[bucket] ?? []) if (isAt(codes, start, end, folded[word] ?? codes)) return true;
    return false;
  };
  return {
    isIn(text) {
      const codes = codesOf(text);
      const { length } = text;
      // Of the two pairs in the first three characters of a word, one ends on every second place.
      for (let index = 1; index < length; index += 2) {
        if (pairs[pairOf(codes[index - 1] ?? 0, codes[index] ?? 0)] === 0) continue;
        if (beginsAt(codes, index - 2, length) || beginsAt(codes, index - 1, length)) return true;
      }
      return false;
    },
    find(text, hit) {
      const codes = codesOf(text);
      const { length } = text;
      let key = 0;
      for (let index = 0; index < length; index += 1) {
        key = keyOf(key, codes[index] ?? 0);
        const bucket = table[key];
        if (bucket === undefined || bucket === 0) continue;
        const start = index + 1 - PREFIX;
        for (const word of buckets[bucket] ?? []) if (isAt(codes, start, length, folded[word] ?? codes)) hit(word, start);
      }
    },
  };
}
