/** Secrets in a text: one pass over it for every word that can lead to one, and one over its long runs. */

import { anchorFinder } from './anchors.ts';
import { codesOf, isAlnum, OPAQUE_RUN, pairsOf, type Reading, startReading } from './characters.ts';
import { COMMAND_LEADS } from './commands.ts';
import { type CredentialProgress, CREDENTIALS } from './credentials.ts';
import type { Detector, Emit, Sight } from './detector.ts';
import type { TokenFamily } from './families/family.ts';
import { FAMILIES } from './families/index.ts';
import { NAME_WORDS, type NamedProgress, namedValue } from './named-values.ts';
import { KEY_LEADS, type KeyProgress, privateKey } from './private-keys.ts';
import { tokenReader } from './tokens.ts';
import { ODD_CODES } from './views.ts';

/** What must not be read twice in the same text, however many words lead there. */
interface Progress {
  readonly reading: Reading;
  readonly named: NamedProgress;
  readonly keys: KeyProgress;
  readonly credentials: CredentialProgress;
  readonly crowd: Crowd;
}

/** Where prefixes of tokens, or names with values, stand closer together than in any text that says something. */
interface Crowd {
  from: number;
  count: number;
  judgedFrom: number;
  judged: number;
  /** Where the crowd begins that is being passed over; `-1` where there is none. */
  start: number;
  end: number;
}

interface Lead {
  readonly word: string;
  readonly anyCase: boolean;
  /** Says that a key follows, which may have no form of its own. */
  readonly hints?: boolean;
  /** Begins a token. */
  readonly begins?: boolean;
  readonly look: (progress: Progress, start: number, end: number, emit: Emit) => void;
}

/** Lists of addresses and of options are no crowds. */
const FREQUENT: ReadonlySet<string> = new Set(['://', ...COMMAND_LEADS.map(({ word }) => word)]);

const LEADS: readonly Lead[] = [
  ...['aws', 'AKIA', 'ASIA'].map((word): Lead => ({ word, anyCase: word === 'aws', hints: true, look: () => {} })),
  ...[...byPrefix()].map(([word, families]): Lead => {
    const read = tokenReader(families);
    return { word, anyCase: false, begins: true, look: ({ reading }, start, end, emit) => read(reading, start, end, emit) };
  }),
  ...NAME_WORDS.map(
    (word): Lead => ({
      word,
      anyCase: true,
      hints: true,
      look: ({ reading, named }, start, end, emit) => namedValue(reading, start, end, emit, named),
    }),
  ),
  ...[...CREDENTIALS, ...COMMAND_LEADS, ...KEY_LEADS].map(
    ({ word, anyCase, look }): Lead => ({
      ...{ word, anyCase },
      look: ({ reading, credentials }, start, end, emit) => {
        if (!FREQUENT.has(word)) reading.judged += 1;
        look(reading, start, end, emit, credentials);
      },
    }),
  ),
  ...['-----BEGIN', '---- BEGIN'].map(
    (word): Lead => ({ word, anyCase: false, look: ({ reading, keys }, start, _end, emit) => privateKey(reading, start, emit, keys) }),
  ),
];

/** All families of a prefix are looked at together. */
function byPrefix(): ReadonlyMap<string, readonly TokenFamily[]> {
  const prefixes = new Map<string, TokenFamily[]>();
  for (const family of FAMILIES) for (const prefix of family.prefixes) prefixes.set(prefix, [...(prefixes.get(prefix) ?? []), family]);
  return prefixes;
}

const finder = anchorFinder(LEADS, ODD_CODES);
/** `pwd=abc` is the shortest that can hold anything. */
const MIN_TEXT = 7;

/** Tokens by their form, private keys, credentials in their places, and values whose name tells what they are. */
export const secretDetector: Detector = Object.freeze<Detector>({
  group: 'secrets',
  find(text, emit) {
    if (text.length < MIN_TEXT) return undefined;
    const codes = codesOf(text);
    let progress: Progress | null = null;
    let hints: number[] | null = null;
    const odd = finder.find(text, codes, pairsOf(text), (index, start) => {
      progress ??= startProgress(text, codes);
      const lead = LEADS[index];
      if (lead === undefined) return 0;
      if (isCrowded(progress, lead, start, emit)) return progress.crowd.end;
      if (lead.hints === true) (hints ??= []).push(start);
      lead.look(progress, start, start + lead.word.length, emit);
      return 0;
    });
    if (progress !== null) endCrowd(progress, emit);
    // A soft line break is two characters: it is looked for only where there is one at all.
    if (!odd && hints === null && !text.includes('=\n') && !text.includes('=\r\n')) return PLAIN;
    return { odd: odd || text.includes('=\n') || text.includes('=\r\n'), hints: hints ?? [] };
  },
});

/** So many prefixes, or values that had to be judged, within so many characters are a crowd; a gap as wide as this ends it. */
const MOST_PREFIXES = 24;
const MOST_JUDGED = 32;
const NEAR = 256;
const FAR = 1_024;
const GAP = 48;

/**
 * Whether a word stands in a crowd. Nothing in a crowd is looked at one by one: it is hidden as a whole, so that a text made of
 * prefixes or names costs no more than another and no token can stand in it unseen.
 */
function isCrowded(progress: Progress, { begins, word }: Lead, start: number, emit: Emit): boolean {
  const { crowd, reading } = progress;
  if (crowd.start !== -1) {
    if (start <= crowd.end + GAP) {
      crowd.end = reading.runEnd(OPAQUE_RUN, Math.max(crowd.end, start + word.length));
      return true;
    }
    endCrowd(progress, emit);
  }
  if (start - crowd.judgedFrom > FAR) {
    crowd.judgedFrom = start;
    crowd.judged = reading.judged;
  } else if (reading.judged - crowd.judged > MOST_JUDGED) return beginCrowd(progress, crowd.judgedFrom, start + word.length);
  // What begins inside a word begins no token, and is not read any further.
  if (begins !== true || (isAlnum(reading.codes[start] ?? 0) && start > 0 && isAlnum(reading.codes[start - 1] ?? 0))) return false;
  if (start - crowd.from > NEAR) {
    crowd.from = start;
    crowd.count = 0;
  }
  crowd.count += 1;
  return crowd.count > MOST_PREFIXES && beginCrowd(progress, crowd.from, start + word.length);
}

function beginCrowd({ crowd, reading }: Progress, from: number, to: number): true {
  crowd.start = from;
  // What follows a word without a gap may be the token that the crowd was to hide.
  crowd.end = reading.runEnd(OPAQUE_RUN, to);
  return true;
}

function endCrowd({ crowd }: Progress, emit: Emit): void {
  if (crowd.start === -1) return;
  emit(crowd.start, crowd.end, 'secret');
  crowd.start = -1;
  crowd.from = -NEAR - 1;
  crowd.judgedFrom = -FAR - 1;
}

const PLAIN: Sight = Object.freeze({ odd: false, hints: [] });

const startProgress = (text: string, codes: Uint16Array): Progress => ({
  reading: startReading(text, codes),
  named: { done: 0, runEnd: 0, tries: 0, opener: -1_000 },
  keys: { done: 0, footer: 0 },
  credentials: { line: 0, value: 0, piped: 0 },
  crowd: { from: -NEAR - 1, count: 0, judgedFrom: -FAR - 1, judged: 0, start: -1, end: 0 },
});
