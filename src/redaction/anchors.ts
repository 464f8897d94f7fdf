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
   * Calls `hit` for every word, nearly in the order of their places: a word is seen by three of its characters. `codes` holds the
   * text, `pairs` the same two by two. Answers whether one of the marked characters stands in the text.
   */
  find(text: string, codes: Uint16Array, pairs: Uint32Array, hit: Hit): boolean;
}

/** What a pair of characters can be: the first two of the three that a word is seen by, or the last two. */
const FIRST = 1;
const SECOND = 2;
const MARKED = 4;
const PAIRS = 0x10000;
const pairOf = (before: number, code: number): number => ((before & 255) << 8) | (code & 255);

const KEYS = 0x8000;
const keyOf = (first: number, second: number, third: number): number => ((first << 10) ^ (second << 5) ^ third) & (KEYS - 1);

const fold = (code: number): number => (code >= 65 && code <= 90 ? code + 32 : code);

interface Entry {
  readonly index: number;
  readonly codes: Uint16Array;
  readonly anyCase: boolean;
  /** Where in the word the three characters stand. */
  readonly offset: number;
}

/**
 * Words must have three characters or more. Of the two pairs in three characters one lies on every second place, so that only
 * every second pair of the text is looked up; a word is seen by those three of its characters that are rarest in ordinary text.
 * An alternation of the same words as a regular expression takes many times as long where nothing is found, which is nearly always.
 */
export function anchorFinder(anchors: readonly Anchor[], marked: readonly number[] = []): AnchorFinder {
  const kinds = new Uint8Array(PAIRS);
  const table = new Uint16Array(KEYS);
  const buckets: Entry[][] = [[]];
  const mark = (before: number, code: number, kind: number) => (kinds[pairOf(before, code)] = (kinds[pairOf(before, code)] ?? 0) | kind);
  const add = (entry: Entry, [first, second, third]: readonly [number, number, number]): void => {
    mark(first, second, FIRST);
    mark(second, third, SECOND);
    const key = keyOf(first, second, third);
    if (table[key] === 0) table[key] = buckets.push([]) - 1;
    const bucket = buckets[table[key] ?? 0];
    if (bucket?.includes(entry) === false) bucket.push(entry);
  };
  const byLength = anchors.map((anchor, index) => ({ ...anchor, index })).sort((a, b) => b.word.length - a.word.length);
  for (const { word, anyCase, index } of byLength) {
    const written = anyCase ? word.toLowerCase() : word;
    const offset = rarestOf(written);
    const entry = { index, anyCase, offset, codes: Uint16Array.from(written, (char) => char.charCodeAt(0)) };
    for (const seen of spellings(written.slice(offset, offset + 3), anyCase)) add(entry, seen);
  }
  for (const code of marked) {
    for (let other = 0; other < 256; other += 1) {
      mark(code, other, MARKED);
      mark(other, code, MARKED);
    }
  }

  const tryAt = (codes: Uint16Array, at: number, end: number, hit: Hit): number => {
    const bucket = table[keyOf(codes[at] ?? 0, codes[at + 1] ?? 0, codes[at + 2] ?? 0)] ?? 0;
    if (bucket === 0) return 0;
    let past = 0;
    for (const entry of buckets[bucket] ?? []) {
      if (isAt(codes, at - entry.offset, end, entry)) past = Math.max(past, hit(entry.index, at - entry.offset));
    }
    return past;
  };
  return {
    find(text, codes, pairs, hit) {
      const { length } = text;
      const half = (length + 1) >> 1;
      let isMarked = false;
      for (let at = 0; at < half; at += 1) {
        const pair = pairs[at] ?? 0;
        const kind = kinds[((pair & 255) << 8) | ((pair >>> 16) & 255)] ?? 0;
        if (kind === 0) continue;
        if ((kind & MARKED) !== 0) isMarked = true;
        const second = (kind & SECOND) !== 0 && at > 0 ? tryAt(codes, at * 2 - 1, length, hit) : 0;
        const past = Math.max(second, (kind & FIRST) !== 0 ? tryAt(codes, at * 2, length, hit) : 0);
        if (past >> 1 > at) at = (past >> 1) - 1;
      }
      return isMarked;
    },
  };
}

function isAt(codes: Uint16Array, start: number, end: number, { codes: word, anyCase }: Entry): boolean {
  if (start < 0 || start + word.length > end) return false;
  for (let index = 0; index < word.length; index += 1) {
    const code = codes[start + index] ?? 0;
    if ((anyCase ? fold(code) : code) !== word[index]) return false;
  }
  return true;
}

/** The three characters in every spelling. */
function spellings(three: string, anyCase: boolean): readonly (readonly [number, number, number])[] {
  const [first = [], second = [], third = []] = Array.from(three, (char) =>
    [...new Set(anyCase ? [char, char.toUpperCase()] : [char])].map((one) => one.charCodeAt(0)),
  );
  return first.flatMap((a) => second.flatMap((b) => third.map((c) => [a, b, c] as const)));
}

/** Pairs of letters that make up most of ordinary text, the most frequent first. */
const FREQUENT =
  'th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ld ry mp fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt oc fa ef cu rn sc gi da yo cr cl du ga qu ue ff ba ey ls va um pp ua up lu go ht ru ug ds lt pi rc rr eg au ck ew mu br bi pt ak pu ui rg ib tl ny ki rk ys ob mm fu ph og ms ye ud mb ip ub oi rl gu dr hr cc tw ft wn nu af hu nn eo vo rv nf xp gn sm fl iz ok nl my gl aw ju oa eq sy sl ps jo lf nv je nk kn gs dy hy ze ks xt bs ik dd pt rp sk xi oe oy ws lv dl rf eu dg wr xa yi nm eb rb tm xc eh tc gy ja hn yp za gg ym sw bj lm cs ii ix xe oh lk dv lp ax ox uf dm iu sf bt ka yt ek pm ya gt wl rh yl hs ah yc yb hm'.split(
    ' ',
  );
const rarity = (pair: string): number => {
  const place = FREQUENT.indexOf(pair.toLowerCase());
  return place === -1 ? FREQUENT.length : place;
};

/** Where the three characters begin whose more frequent pair is the rarest. */
function rarestOf(word: string): number {
  let best = 0;
  let rank = -1;
  for (let at = 0; at + 3 <= word.length; at += 1) {
    const own = Math.min(rarity(word.slice(at, at + 2)), rarity(word.slice(at + 1, at + 3)));
    if (own > rank) [best, rank] = [at, own];
  }
  return best;
}
