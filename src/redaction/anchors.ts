/** Finds many short words in one pass over a text. */

import { isAlnum } from './characters.ts';
import { rarestPair } from './rarest-pair.ts';

/** A word to look for. */
export interface Anchor {
  readonly word: string;
  /** Capitals and small letters are the same. */
  readonly anyCase: boolean;
  /** Stands only where no letter or digit is before it. */
  readonly begins?: boolean;
}

/**
 * Told of a word, where it begins, and at how many pairs a word might have stood since the last one
 * that did; answers up to where nothing more needs to be told, or `0`.
 */
export type Hit = (word: number, start: number, stops: number) => number;

export interface AnchorFinder {
  /**
   * Calls `hit` for every word, nearly in the order of their places. `codes` holds the text,
   * `pairs` the same two by two, the first in the lower half. Answers where marked signs begin, in
   * order, except in what `hit` had passed over; good until the next call.
   */
  find(text: string, codes: Uint16Array, pairs: Uint32Array, hit: Hit): Int32Array;
}

/**
 * What every character beyond ASCII is taken for: words are compared in the end, so that nothing is
 * found that is not there.
 */
const TAB = 9;
const ascii = (code: number): number => (code < 128 ? code : TAB);

/**
 * A key is a pair with the character before it: seven bits each, the first of the pair in the
 * lowest.
 */
const keyOf = (before: number, first: number, second: number): number =>
  (ascii(before) << 14) | (ascii(second) << 7) | ascii(first);

/** What of a key is the pair. */
const A_PAIR = (1 << 14) - 1;

/** Words are kept in buckets by a hash of their keys. */
const BUCKET_BITS = 16;
const bucketOf = (key: number): number => Math.imul(key, 0x9e3779b1) >>> (32 - BUCKET_BITS);

interface Word {
  readonly text: string;
  /** In small letters and in capitals; the same twice where the case matters. */
  readonly small: Uint16Array;
  readonly capital: Uint16Array;
  readonly begins: boolean;
}

/** The words of all buckets in one list, two numbers for each; those of a bucket end with `END`. */
interface Rows {
  /** Where the words of each bucket begin. */
  readonly starts: Uint16Array;
  /**
   * A word with its offset from the pair it is seen by; then one of its other characters, small and
   * as a capital, with its own distance from the pair. Most that is seen and not the word is told
   * from it by that character.
   */
  readonly rows: Int32Array;
}
const END = 0x7fff_ffff;

/**
 * Words must be ASCII, of three characters or more. A text is read in pairs, each with the
 * character before it: one bit tells whether a word may stand there. Every word is seen by those of
 * its characters that are rarest in ordinary text, twice: where it begins at an even place, and at
 * an odd one. `marked` are signs of one character or two. An alternation of the same words as a
 * regular expression takes many times as long where nothing is found, which is nearly always.
 */
export function anchorFinder(
  anchors: readonly Anchor[],
  marked: readonly string[] = [],
): AnchorFinder {
  const signs = Uint8Array.from(ANY, (code) => Number(marked.includes(String.fromCharCode(code))));
  const couples = new Uint8Array(A_PAIR + 1);
  for (const mark of marked) if (mark.length === 2) couples[keyIn(mark, 0) & A_PAIR] = 1;
  const words = anchors.map(wordOfAnchor);
  const stopTable = stopsAt(marked);
  const table: Table = { words, ...laidOut(words, stopTable) };
  let places = new Int32Array(256);
  return {
    find(text, codes, pairs, hit) {
      const half = (text.length + 1) >> 1;
      let count = 0;
      let stops = 0;
      for (let at = seek(stopTable, pairs, 0, half); at < half; ) {
        const before = at === 0 ? TAB : (codes[at * 2 - 1] ?? 0);
        const first = codes[at * 2] ?? 0;
        const second = codes[at * 2 + 1] ?? 0;
        const key = keyOf(before, first, second);
        // Room for all three that may begin here.
        if (count + 3 > places.length) places = grown(places);
        if (couples[keyOf(0, before, first)] === 1) places[count++] = at * 2 - 1;
        if (signs[first] === 1 || couples[key & A_PAIR] === 1) places[count++] = at * 2;
        if (signs[second] === 1) places[count++] = at * 2 + 1;
        stops += 1;
        const past = tell(table, codes, at * 2, text.length, key, stops, hit);
        if (past >= 0) stops = 0;
        at = seek(stopTable, pairs, Math.max(at + 1, past >> 1), half);
      }
      return count === 0 ? NOWHERE : places.subarray(0, count);
    },
  };
}

function grown(places: Int32Array): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(places.length * 2);
  longer.set(places);
  return longer;
}

function wordOfAnchor({ word, anyCase, begins = false }: Anchor): Word {
  const codesOf = (text: string) => Uint16Array.from(text, (char) => char.charCodeAt(0));
  const [small, capital] = anyCase ? [word.toLowerCase(), word.toUpperCase()] : [word, word];
  return { text: word, small: codesOf(small), capital: codesOf(capital), begins };
}

interface Table extends Rows {
  readonly words: readonly Word[];
}

/**
 * Tells of the words that are seen by this pair; answers up to where nothing more needs to be told.
 */
function tell(
  { words, starts, rows }: Table,
  codes: Uint16Array,
  at: number,
  end: number,
  key: number,
  stops: number,
  hit: Hit,
): number {
  let past = -1;
  for (let row = starts[bucketOf(key)] ?? 0; rows[row + 1] !== END; row += 2) {
    const seen = rows[row] ?? 0;
    const other = rows[row + 1] ?? 0;
    const start = at - (seen >> 16);
    if (start < 0) continue;
    const code = codes[at + (other >> 16)];
    if (code !== (other & 0xff) && code !== ((other >> 8) & 0xff)) continue;
    const index = seen & 0xffff;
    if (isAt(codes, start, end, words[index]))
      past = Math.max(past, hit(index, start, past < 0 ? stops : 0));
  }
  return past;
}

const NOWHERE = new Int32Array(0);

/**
 * Chooses what each word is seen by and sets the bits of its keys. Of several in one bucket the
 * longest comes first.
 */
function laidOut(words: readonly Word[], stops: Int32Array): Rows {
  const buckets = new Map<number, readonly number[]>();
  for (const index of words
    .map((_, place) => place)
    .sort((a, b) => lengthOf(words[b]) - lengthOf(words[a]))) {
    const word = words[index];
    if (word === undefined) continue;
    for (const parity of [0, 1]) {
      const neighboursAt = (place: number) =>
        (buckets.get(bucketOf(keyIn(word.text, place)))?.length ?? 0) / 2;
      const offset = rarestPair(word.text, parity, word.begins, neighboursAt);
      const row = [(offset << 16) | index, otherThan(word, offset)];
      eachKey(word, offset, (key) => {
        stopAt(stops, key);
        const own = buckets.get(bucketOf(key)) ?? [];
        if (own.at(-2) !== row[0]) buckets.set(bucketOf(key), [...own, ...row]);
      });
    }
  }
  const starts = new Uint16Array(1 << BUCKET_BITS);
  const rows: number[] = [0, END];
  // A word that any character may stand before has many buckets with the same words in them.
  const known = new Map<string, number>();
  for (const [bucket, own] of buckets) {
    const start = known.get(own.join()) ?? rows.length;
    if (start === rows.length) rows.push(...own, 0, END);
    known.set(own.join(), start);
    starts[bucket] = start;
  }
  if (rows.length > 0xffff)
    throw new RangeError('anchors: more words than the buckets can point to');
  return { starts, rows: Int32Array.from(rows) };
}

/** A character of the word that its key does not tell, packed as `Rows` has it. */
function otherThan({ text, small, capital }: Word, offset: number): number {
  const place = offset + 2 < text.length ? offset + 2 : Math.max(0, offset - 2);
  return ((place - offset) << 16) | ((capital[place] ?? 0) << 8) | (small[place] ?? 0);
}

const lengthOf = (word: Word | undefined): number => word?.text.length ?? 0;

/**
 * One bit for each key. Those that letters make with each other stand close together, so that an
 * ordinary text needs little of the table: a word of it holds the 32 characters of one row of ASCII
 * that a pair can begin with.
 */
const wordOf = (key: number): number =>
  ((key >>> 14) << 9) | ((key & 0x60) << 2) | ((key >>> 7) & 127);

/**
 * At first, the bits of the keys with a marked character in their pair, or with two that are marked
 * together.
 */
function stopsAt(marked: readonly string[]): Int32Array {
  const stops = new Int32Array(1 << 16);
  const rows = new Int32Array(4);
  const signs = marked.filter(({ length }) => length === 1).map((sign) => sign.charCodeAt(0));
  for (const code of signs) rows[code >> 5] = (rows[code >> 5] ?? 0) | (1 << (code & 31));
  for (let word = 0; word < stops.length; word += 128)
    stops.fill(rows[(word >> 7) & 3] ?? 0, word, word + 128);
  for (const second of signs)
    for (let word = second; word < stops.length; word += 128) stops[word] = -1;
  for (const couple of marked.filter(({ length }) => length === 2)) {
    const [one, two] = [couple.charCodeAt(0), couple.charCodeAt(1)];
    for (const other of ANY)
      for (const key of [keyOf(other, one, two), keyOf(one, two, other)]) stopAt(stops, key);
  }
  return stops;
}

const stopAt = (stops: Int32Array, key: number): void => {
  stops[wordOf(key)] = (stops[wordOf(key)] ?? 0) | (1 << (key & 31));
};

/**
 * The next pair that a word may be seen by. Calls nothing, because the compiler keeps in registers
 * what no call can change.
 */
function seek(stops: Int32Array, pairs: Uint32Array, from: number, end: number): number {
  let before = from === 0 ? TAB << 9 : ascii((pairs[from - 1] ?? 0) >>> 16) << 9;
  for (let at = from; at < end; at += 1) {
    let pair = (pairs[at] ?? 0) | 0;
    if ((pair & 0xff80ff80) !== 0) pair = (ascii(pair >>> 16) << 16) | ascii(pair & 0xffff);
    const second = pair >>> 16;
    // A shift takes the lowest five bits of the pair, which are those of its first character.
    if ((((stops[before | ((pair & 0x60) << 2) | second] ?? 0) >>> pair) & 1) !== 0) return at;
    before = second << 9;
  }
  return end;
}

const ANY: readonly number[] = Array.from({ length: 128 }, (_, code) => code);
const BETWEEN_WORDS = ANY.filter((code) => !isAlnum(code));

/**
 * The keys of the pair that begins at `offset` in a word; what the word does not tell can be any.
 */
function eachKey(
  { small, capital, begins }: Word,
  offset: number,
  use: (key: number) => void,
): void {
  const codesAt = (place: number): readonly number[] => {
    const [code, other] = [small[place], capital[place]];
    if (code === undefined || other === undefined)
      return begins && place === -1 ? BETWEEN_WORDS : ANY;
    return code === other ? [code] : [code, other];
  };
  for (const before of codesAt(offset - 1))
    for (const first of codesAt(offset))
      for (const second of codesAt(offset + 1)) use(keyOf(before, first, second));
}

function isAt(codes: Uint16Array, start: number, end: number, word: Word | undefined): boolean {
  if (word === undefined || start + word.small.length > end) return false;
  const { small, capital, begins } = word;
  if (begins && start > 0 && isAlnum(codes[start - 1] ?? 0)) return false;
  for (let index = 0; index < small.length; index += 1) {
    const code = codes[start + index];
    if (code !== small[index] && code !== capital[index]) return false;
  }
  return true;
}

const keyIn = (word: string, at: number): number =>
  keyOf(word.charCodeAt(at - 1), word.charCodeAt(at), word.charCodeAt(at + 1));
