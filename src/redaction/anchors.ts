/** Finds many short words in one pass over a text. */

import { isAlnum } from './characters.ts';

/** A word to look for. */
export interface Anchor {
  readonly word: string;
  /** Capitals and small letters are the same. */
  readonly anyCase: boolean;
  /** Stands only where no letter or digit is before it. */
  readonly begins?: boolean;
}

/** Told of a word and where it begins; answers up to where nothing more needs to be told, or `0`. */
export type Hit = (word: number, start: number) => number;

export interface AnchorFinder {
  /**
   * Calls `hit` for every word, nearly in the order of their places. `codes` holds the text, `pairs` the same two by two, the first
   * in the lower half. Answers whether one of the marked characters stands in the text.
   */
  find(text: string, codes: Uint16Array, pairs: Uint32Array, hit: Hit): boolean;
}

/** What every character beyond ASCII is taken for: words are compared in the end, so that nothing is found that is not there. */
const TAB = 9;
const ascii = (code: number): number => (code < 128 ? code : TAB);

/** A key is a pair with the character before it: seven bits each, the first of the pair in the lowest. */
const KEYS = 1 << 21;
const keyOf = (before: number, first: number, second: number): number => (ascii(before) << 14) | (ascii(second) << 7) | ascii(first);

/** Words are kept in buckets by a hash of their keys. */
const BUCKETS = 1 << 16;
const bucketOf = (key: number): number => Math.imul(key, 0x9e3779b1) >>> 16;

interface Entry {
  readonly index: number;
  readonly codes: Uint16Array;
  readonly anyCase: boolean;
  readonly begins: boolean;
  /** Its first character in both cases, by which most others are told from it. */
  readonly first: number;
  readonly capital: number;
  /** Where the word begins, from the pair it is seen by. */
  readonly offset: number;
}

/**
 * Words must have three characters or more. A text is read in pairs, each with the character before it: one bit tells whether a
 * word may stand there. Every word is seen by those of its characters that are rarest in ordinary text, twice: where it begins at
 * an even place, and at an odd one. An alternation of the same words as a regular expression takes many times as long where
 * nothing is found, which is nearly always.
 */
export function anchorFinder(anchors: readonly Anchor[], marked: readonly number[] = []): AnchorFinder {
  const isMarked = Uint8Array.from({ length: 128 }, (_, code) => Number(marked.includes(code)));
  const stops = stopsAt(marked);
  const buckets = new Uint32Array(BUCKETS);
  const entries: Entry[][] = [[]];
  const byLength = anchors.map((anchor, index) => ({ ...anchor, index })).sort((a, b) => b.word.length - a.word.length);
  for (const { word, anyCase, begins = false, index } of byLength) {
    const codes = Uint16Array.from(anyCase ? word.toLowerCase() : word, (char) => char.charCodeAt(0));
    for (const parity of [0, 1]) {
      const offset = rarestOf(word, parity, begins, (place) => entries[buckets[bucketOf(keyIn(word, place))] ?? 0]?.length ?? 0);
      const entry = { index, anyCase, begins, codes, first: codes[0] ?? 0, capital: word.toUpperCase().charCodeAt(0), offset };
      eachKey(anyCase ? [word.toLowerCase(), word.toUpperCase()] : [word], offset, begins, (key) => {
        stops[key >>> 5] = (stops[key >>> 5] ?? 0) | (1 << (key & 31));
        const bucket = (buckets[bucketOf(key)] ||= entries.push([]) - 1);
        if (entries[bucket]?.at(-1) !== entry) entries[bucket]?.push(entry);
      });
    }
  }

  /** Tells of the words that are seen by this pair; answers up to where nothing more needs to be told. */
  const tell = (codes: Uint16Array, at: number, end: number, key: number, hit: Hit): number => {
    let past = 0;
    for (const entry of entries[buckets[bucketOf(key)] ?? 0] ?? []) {
      const start = at - entry.offset;
      if (start < 0 || (codes[start] !== entry.first && codes[start] !== entry.capital)) continue;
      if (isAt(codes, start, end, entry)) past = Math.max(past, hit(entry.index, start));
    }
    return past;
  };
  return {
    find(text, codes, pairs, hit) {
      const half = (text.length + 1) >> 1;
      let hasMarked = false;
      for (let at = seek(stops, pairs, 0, half); at < half; ) {
        const [first, second] = [codes[at * 2] ?? 0, codes[at * 2 + 1] ?? 0];
        hasMarked ||= isMarked[first] === 1 || isMarked[second] === 1;
        const past = tell(codes, at * 2, text.length, keyOf(at === 0 ? TAB : (codes[at * 2 - 1] ?? 0), first, second), hit);
        at = seek(stops, pairs, Math.max(at + 1, past >> 1), half);
      }
      return hasMarked;
    },
  };
}

/** One bit for each key: at first, of those with a marked character in the pair. */
function stopsAt(marked: readonly number[]): Int32Array {
  const stops = new Int32Array(KEYS / 32);
  const rows = new Int32Array(4);
  for (const code of marked) rows[code >> 5] = (rows[code >> 5] ?? 0) | (1 << (code & 31));
  for (let row = 0; row < stops.length; row += 4) stops.set(marked.includes((row >> 2) & 127) ? ALL : rows, row);
  return stops;
}
const ALL = new Int32Array(4).fill(-1);

/** The next pair that a word may be seen by. Calls nothing, because the compiler keeps in registers what no call can change. */
function seek(stops: Int32Array, pairs: Uint32Array, from: number, end: number): number {
  let before = from === 0 ? TAB << 14 : ascii((pairs[from - 1] ?? 0) >>> 16) << 14;
  for (let at = from; at < end; at += 1) {
    const pair = pairs[at] ?? 0;
    const own = (pair & 0xff80ff80) === 0 ? (pair >>> 9) | (pair & 127) : (ascii(pair >>> 16) << 7) | ascii(pair & 0xffff);
    const key = before | own;
    if (((stops[key >>> 5] ?? 0) & (1 << (key & 31))) !== 0) return at;
    before = (own & 0x3f80) << 7;
  }
  return end;
}

const keyIn = (word: string, at: number): number => keyOf(word.charCodeAt(at - 1), word.charCodeAt(at), word.charCodeAt(at + 1));

const ANY: readonly number[] = Array.from({ length: 128 }, (_, code) => code);
const BETWEEN_WORDS = ANY.filter((code) => !isAlnum(code));

/** The keys of the pair that begins at `offset` in a word; what the word does not tell can be any. */
function eachKey(spellings: readonly string[], offset: number, begins: boolean, use: (key: number) => void): void {
  const codesAt = (place: number): readonly number[] => {
    const chars = spellings.map((word) => word.charAt(place));
    if (chars.includes('')) return begins && place === -1 ? BETWEEN_WORDS : ANY;
    return [...new Set(chars.map((char) => char.charCodeAt(0)))];
  };
  for (const before of codesAt(offset - 1))
    for (const first of codesAt(offset)) for (const second of codesAt(offset + 1)) use(keyOf(before, first, second));
}

function isAt(codes: Uint16Array, start: number, end: number, { codes: word, anyCase, begins }: Entry): boolean {
  if (start + word.length > end || (begins && start > 0 && isAlnum(codes[start - 1] ?? 0))) return false;
  for (let index = 0; index < word.length; index += 1) {
    const code = codes[start + index] ?? 0;
    if ((anyCase && code >= 65 && code <= 90 ? code + 32 : code) !== word[index]) return false;
  }
  return true;
}

/** From the most frequent character of ordinary text, ids and logs to the rarest; all others are rarer. */
const FREQUENT = ' etaoinsrhldcumfpgwyb0123456789-.,:/"\'vkx=TASICMPRNED_jqz';
const rarity = (char: string): number => (FREQUENT.includes(char) ? FREQUENT.indexOf(char) : FREQUENT.length);
/** Of rare letters, and frequent all the same. */
const ENDINGS = /ing|ion|ent|ess|all|com|pro|wor|ser|ver|con|api|sio|ass/i;

/** What a word more in the same bucket costs, against rarity. */
const NEIGHBOUR = 14;
/** What a character costs that the word does not tell, and one that is no letter or digit. */
const UNTOLD = 45;
const BETWEEN = 25;

/**
 * The pair of this parity that is the rarest together with the character before it, and that few other words are seen by. A line of
 * one character is as long as it likes: such a word is seen by how it begins.
 */
function rarestOf(word: string, parity: number, begins: boolean, neighboursAt: (place: number) => number): number {
  if (begins && new Set(word).size === 1) return -parity;
  let best = parity;
  let rank = -Infinity;
  for (let at = parity; at < word.length; at += 2) {
    const seen = word.slice(Math.max(0, at - 1), at + 2);
    if (seen.length < 2) continue;
    const isFrequent = new Set(seen).size === 1 || ENDINGS.test(seen);
    const rare = isFrequent ? -30 : Array.from(seen).reduce((sum, char) => sum + rarity(char), 0);
    const own = rare - (seen.length === 3 ? 0 : begins && at === 0 ? BETWEEN : UNTOLD) - neighboursAt(at) * NEIGHBOUR;
    if (own > rank) [best, rank] = [at, own];
  }
  return best;
}
