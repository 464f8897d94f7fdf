/** Secrets in a text: one pass over it for every word that can lead to one, and one over its long runs. */

import { type Anchor, type AnchorFinder, anchorFinder } from './anchors.ts';
import { codesOf, isAlnum, OPAQUE_RUN, pairsOf, type Reading, startReading } from './characters.ts';
import { COMMAND_LEADS } from './commands.ts';
import { type CredentialProgress, CREDENTIALS } from './credentials.ts';
import type { Detector, Emit, Sight } from './detector.ts';
import { A_FINDING, A_FREQUENT_WORD, A_GLANCE, A_JUDGEMENT, A_WORD, type Effort, spend } from './effort.ts';
import type { TokenFamily } from './families/family.ts';
import { FAMILIES } from './families/index.ts';
import { NAME_WORDS, type NamedProgress, namedValue } from './named-values.ts';
import { KEY_LEADS, type KeyProgress, privateKey } from './private-keys.ts';
import { tokenReader } from './tokens.ts';
import { ODD_SIGNS } from './views.ts';

/** What must not be read twice in the same text, however many words lead there. */
interface Progress {
  readonly reading: Reading;
  readonly named: NamedProgress;
  readonly keys: KeyProgress;
  readonly credentials: CredentialProgress;
  readonly crowd: Crowd;
}

/** Where words stand closer together than in any text that says something. */
interface Crowd {
  /** Where the crowd begins that is being passed over; `-1` where there is none. */
  start: number;
  end: number;
  /** Where the last word began that was looked at. */
  word: number;
}

interface Lead extends Anchor {
  /** Says that a key follows, which may have no form of its own. */
  readonly hints?: boolean;
  /** Begins something of many lines, which is read even where it stands in a crowd. */
  readonly isHeader?: boolean;
  /** What a look costs. @default A_WORD */
  readonly cost?: number;
  readonly look: (progress: Progress, start: number, end: number, emit: Emit) => void;
}

/** What words cost that stand in lists of addresses, of keys and of options. */
const FREQUENT: ReadonlyMap<string, number> = new Map([
  ['://', A_GLANCE],
  ...['key', 'keys', ...COMMAND_LEADS.map(({ word }) => word)].map((word) => [word, A_FREQUENT_WORD] as const),
]);

const DRAFTS: readonly Lead[] = [
  ...['aws', 'AKIA', 'ASIA'].map((word): Lead => ({ word, anyCase: word === 'aws', hints: true, look: () => {} })),
  ...[...byPrefix()].map(([word, families]): Lead => {
    const read = tokenReader(families);
    const begins = isAlnum(word.charCodeAt(0)) && families.every(({ back }) => back === undefined);
    return { word, anyCase: false, begins, look: ({ reading }, start, end, emit) => read(reading, start, end, emit) };
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
      ...{ word, anyCase, cost: A_JUDGEMENT },
      look: ({ reading, credentials }, start, end, emit) => look(reading, start, end, emit, credentials),
    }),
  ),
  ...['-----BEGIN', '---- BEGIN'].map(
    (word): Lead => ({
      word,
      anyCase: false,
      isHeader: true,
      look: ({ reading, keys }, start, _end, emit) => privateKey(reading, start, emit, keys),
    }),
  ),
];

/** All of one shape, because one of them is looked at for every word that is found. */
const LEADS: readonly Required<Lead>[] = DRAFTS.map(({ word, anyCase, begins = false, hints = false, isHeader = false, cost, look }) => ({
  ...{ word, anyCase, begins, hints, isHeader, look },
  cost: FREQUENT.get(word) ?? cost ?? A_WORD,
}));

/** All families of a prefix are looked at together. */
function byPrefix(): ReadonlyMap<string, readonly TokenFamily[]> {
  const prefixes = new Map<string, TokenFamily[]>();
  for (const family of FAMILIES) for (const prefix of family.prefixes) prefixes.set(prefix, [...(prefixes.get(prefix) ?? []), family]);
  return prefixes;
}

let finder: AnchorFinder | undefined;
/** `pwd=abc` is the shortest that can hold anything. */
const MIN_TEXT = 7;

/** Tokens by their form, private keys, credentials in their places, and values whose name tells what they are. */
export const secretDetector: Detector = Object.freeze<Detector>({
  group: 'secrets',
  find(text, emit, effort) {
    if (text.length < MIN_TEXT) return undefined;
    const codes = codesOf(text);
    let progress: Progress | null = null;
    let hints: number[] | null = null;
    const found: Emit = (start, end, label) => {
      if (progress !== null) spend(progress.reading.effort, start, A_FINDING);
      emit(start, end, label);
    };
    // Made with the first text: a process that looks at none needs none.
    finder ??= anchorFinder(LEADS, ODD_SIGNS);
    let isWhole = true;
    const seen = finder.find(text, codes, pairsOf(text), (index, start) => {
      progress ??= startProgress(text, codes, effort);
      const lead = LEADS[index];
      if (lead === undefined) return 0;
      if (isCrowded(progress, lead, start, emit)) {
        isWhole = false;
        return progress.crowd.end;
      }
      if (lead.hints) (hints ??= []).push(start);
      lead.look(progress, start, start + lead.word.length, found);
      return 0;
    });
    if (progress !== null) endCrowd(progress, emit);
    // The signs in a crowd were passed over, and are hidden with it: without others there is nothing to unfold.
    const signs = isWhole || (seen.length === 0 && !SOFT_BREAK.test(text)) ? seen : null;
    return hints === null && signs !== null && signs.length === 0 ? PLAIN : { signs, hints: hints ?? [] };
  },
});

/** A crowd is passed over in steps as wide as this, and ends where no word stands in one. */
const STEP = 64;

/**
 * Whether a word stands in a crowd: more effort went into the words before it than any ordinary text asks for. Nothing in a crowd
 * is looked at: it is hidden as a whole, so that a text made of prefixes or names costs no more than another and no token can
 * stand in it unseen.
 */
function isCrowded(progress: Progress, { word, isHeader, cost }: Required<Lead>, start: number, emit: Emit): boolean {
  const { crowd, reading } = progress;
  if (crowd.start !== -1) {
    if (start <= crowd.end + STEP && !isHeader) {
      crowd.end = stepEnd(reading, start, Math.max(crowd.end, start + word.length));
      return true;
    }
    endCrowd(progress, emit);
  }
  // Of two words that begin at the same place, one costs less: they are one with something added.
  const isSame = crowd.word === start;
  crowd.word = start;
  if (spend(reading.effort, start, isSame ? A_GLANCE : cost) || isHeader) return false;
  crowd.start = start;
  crowd.end = stepEnd(reading, start, start + word.length);
  return true;
}

/** What goes on behind a step without a gap may be the token that the crowd was to hide; a key that begins in it is read. */
function stepEnd({ text, runEnd }: Reading, start: number, from: number): number {
  const end = runEnd(OPAQUE_RUN, Math.min(text.length, from + STEP));
  const header = text.slice(start, end).search(/-{4,5} ?BEGIN/);
  return header === -1 ? end : start + header;
}

/** As far as the rest of a line goes that is hidden with a crowd: a value in quotes may have blanks in it. */
const MAX_REST = 256;

function endCrowd({ crowd, reading: { text } }: Progress, emit: Emit): void {
  if (crowd.start === -1) return;
  const rest = text.slice(crowd.end, crowd.end + MAX_REST).search(/[\r\n]/);
  emit(crowd.start, crowd.end + Math.max(0, rest), 'secret');
  crowd.start = -1;
}

const SOFT_BREAK = /=\r?\n/;
const PLAIN: Sight = Object.freeze({ signs: [], hints: [] });

const startProgress = (text: string, codes: Uint16Array, effort: Effort): Progress => ({
  reading: startReading(text, codes, effort),
  named: { done: 0 },
  keys: { done: 0, footer: 0 },
  credentials: { line: 0, value: 0, piped: 0 },
  crowd: { start: -1, end: 0, word: -1 },
});
