/** Finds many short words in one pass over a text. */

/** A word to look for. */
export interface Anchor {
  readonly word: string;
  /** Capitals and small letters are the same. */
  readonly anyCase: boolean;
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

/** Every character is one of so many kinds: the letters and digits, some signs, and the rest of those that stand in words. */
const KINDS = 80;
const MARKED = KINDS - 1;
const PAIRS = KINDS * KINDS;
const OWN_KINDS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/ "$=<@\n';
const ANOTHER = OWN_KINDS.length + 1;
const ALL_KINDS: readonly number[] = Array.from({ length: KINDS }, (_, kind) => kind);
/** The bucket of pairs that no word is seen by, and that hold a marked character. */
const ONLY_MARKED = 1;

interface Entry {
  readonly index: number;
  readonly codes: Uint16Array;
  readonly anyCase: boolean;
  /** Where the word begins, from the pair it is seen by. */
  readonly offset: number;
}

/**
 * Words must have three characters or more. A text is read in pairs, each with the character before it: one look-up in a table
 * tells whether a word may stand there. Every word is seen by those of its characters that are rarest in ordinary text, twice:
 * where it begins at an even place, and at an odd one. An alternation of the same words as a regular expression takes many times
 * as long where nothing is found, which is nearly always.
 */
export function anchorFinder(anchors: readonly Anchor[], marked: readonly number[] = []): AnchorFinder {
  const kinds = kindsOf(anchors, marked);
  const pairKinds = Uint16Array.from({ length: 1 << 14 }, (_, pair) => pairKind(kinds, pair & 127, pair >> 7));
  const table = new Uint16Array(KINDS * PAIRS);
  const buckets: Entry[][] = [[], []];
  for (let first = 0; first < PAIRS; first += 1) {
    for (const last of first % KINDS === MARKED ? ALL_KINDS : [MARKED]) table[first * KINDS + last] = ONLY_MARKED;
  }
  const byLength = anchors.map((anchor, index) => ({ ...anchor, index })).sort((a, b) => b.word.length - a.word.length);
  for (const { word, anyCase, index } of byLength) {
    const codes = Uint16Array.from(anyCase ? word.toLowerCase() : word, (char) => char.charCodeAt(0));
    for (const parity of [0, 1]) {
      const offset = rarestOf(word, parity, (place) => buckets[table[keyIn(kinds, word, place)] ?? 0]?.length ?? 0);
      const entry = { index, anyCase, codes, offset };
      eachKey(kinds, anyCase ? [word.toLowerCase(), word.toUpperCase()] : [word], offset, (key) => {
        if ((table[key] ?? 0) <= ONLY_MARKED) table[key] = buckets.push([]) - 1;
        const bucket = buckets[table[key] ?? 0];
        if (bucket?.at(-1) !== entry) bucket?.push(entry);
      });
    }
  }

  /** Tells of the words that are seen by this pair; answers up to where nothing more needs to be told. */
  const tell = (codes: Uint16Array, at: number, end: number, bucket: number, hit: Hit): number => {
    let past = 0;
    for (const entry of buckets[bucket] ?? []) {
      if (isAt(codes, at - entry.offset, end, entry)) past = Math.max(past, hit(entry.index, at - entry.offset));
    }
    return past;
  };
  return {
    find(text, codes, pairs, hit) {
      const half = (text.length + 1) >> 1;
      let hasMarked = false;
      for (let at = seek(kinds, pairKinds, table, pairs, 0, half); at < half; ) {
        const pair = pairs[at] ?? 0;
        const own = pairKind(kinds, pair & 0xffff, pair >>> 16);
        hasMarked ||= hasMark(own);
        const past = tell(codes, at * 2, text.length, table[kindBefore(kinds, pairs, at) * PAIRS + own] ?? 0, hit);
        at = seek(kinds, pairKinds, table, pairs, Math.max(at + 1, past >> 1), half);
      }
      return hasMarked;
    },
  };
}

const pairKind = (kinds: Uint8Array, first: number, second: number): number => (kinds[first] ?? 0) * KINDS + (kinds[second] ?? 0);
const hasMark = (pair: number): boolean => pair % KINDS === MARKED || pair >= MARKED * KINDS;

/** The kind of the character before a pair. */
const kindBefore = (kinds: Uint8Array, pairs: Uint32Array, at: number): number =>
  at === 0 ? 0 : (kinds[(pairs[at - 1] ?? 0) >>> 16] ?? 0);

/** The next pair that a word may be seen by. Calls nothing, because the compiler keeps in registers what no call can change. */
function seek(kinds: Uint8Array, pairKinds: Uint16Array, table: Uint16Array, pairs: Uint32Array, from: number, end: number): number {
  let before = kindBefore(kinds, pairs, from);
  for (let at = from; at < end; at += 1) {
    const pair = pairs[at] ?? 0;
    const second = kinds[pair >>> 16] ?? 0;
    const own = (pair & 0xff80ff80) === 0 ? (pairKinds[(pair & 127) | (pair >>> 9)] ?? 0) : (kinds[pair & 0xffff] ?? 0) * KINDS + second;
    if (table[before * PAIRS + own] !== 0) return at;
    before = second;
  }
  return end;
}

/** The kind of every character. Where several share one, nothing is missed: every word is compared in the end. */
function kindsOf(anchors: readonly Anchor[], marked: readonly number[]): Uint8Array {
  const kinds = new Uint8Array(65_536);
  for (const char of new Set(anchors.flatMap(({ word }) => Array.from(word)))) kinds[char.charCodeAt(0)] = ANOTHER;
  for (const [place, char] of Array.from(OWN_KINDS).entries()) kinds[char.charCodeAt(0)] = place + 1;
  for (const code of marked) kinds[code] = MARKED;
  return kinds;
}

const keyIn = (kinds: Uint8Array, word: string, offset: number): number =>
  [offset - 1, offset, offset + 1].reduce((key, place) => key * KINDS + (kinds[word.charCodeAt(place)] ?? 0), 0);

/** The keys of the pair that begins at `offset` in a word, with the character before it; what the word does not tell can be any. */
function eachKey(kinds: Uint8Array, spellings: readonly string[], offset: number, use: (key: number) => void): void {
  const kindsAt = (place: number): readonly number[] => {
    const chars = spellings.map((word) => word.charAt(place));
    return chars.includes('') ? ALL_KINDS : [...new Set(chars.map((char) => kinds[char.charCodeAt(0)] ?? 0))];
  };
  for (const before of kindsAt(offset - 1))
    for (const first of kindsAt(offset)) for (const second of kindsAt(offset + 1)) use(before * PAIRS + first * KINDS + second);
}

function isAt(codes: Uint16Array, start: number, end: number, { codes: word, anyCase }: Entry): boolean {
  if (start < 0 || start + word.length > end) return false;
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
const ENDINGS = /ing|ion|ent|ess|all|com|pro/i;

/** What a word more in the same bucket costs, against rarity. */
const NEIGHBOUR = 8;
/** What a character costs that the word does not tell. */
const UNTOLD = 45;

/**
 * The pair of this parity that is the rarest together with the character before it, and that few other words are seen by. A line of
 * one character is as long as it likes.
 */
function rarestOf(word: string, parity: number, neighboursAt: (place: number) => number): number {
  let best = parity;
  let rank = -Infinity;
  for (let at = parity; at < word.length; at += 2) {
    const seen = word.slice(Math.max(0, at - 1), at + 2);
    if (seen.length < 2) continue;
    const isFrequent = new Set(seen).size === 1 || ENDINGS.test(seen);
    const rare = isFrequent ? 0 : Array.from(seen).reduce((sum, char) => sum + rarity(char), 0);
    const own = rare - (seen.length === 2 ? UNTOLD : 0) - neighboursAt(at) * NEIGHBOUR;
    if (own > rank) [best, rank] = [at, own];
  }
  return best;
}
