/**
 * Secrets in a text: one pass over it for every word that can lead to one, and one over its long
 * runs.
 */

import { type Anchor, type AnchorFinder, anchorFinder } from './anchors.ts';
import {
  codesOf,
  isAlnum,
  layBlanks,
  OPAQUE_RUN,
  pairsOf,
  type Reading,
  startReading,
} from './characters.ts';
import { COMMAND_LEADS } from './commands.ts';
import { type CredentialProgress, CREDENTIALS } from './credentials.ts';
import {
  type Detector,
  type Emit,
  type Sight,
  A_FINDING,
  A_GLANCE,
  A_STOP,
  type Effort,
  passOver,
  spend,
} from './detector.ts';
import { ODD_SIGNS } from './disguises.ts';
import { FAMILIES } from './families/index.ts';
import { NAME_WORDS, type NamedProgress, namedValue } from './named-values.ts';
import {
  KEY_HEADERS,
  KEY_LEADS,
  type KeyProgress,
  lastHeader,
  privateKey,
} from './private-keys.ts';
import { type TokenFamily, tokenReader } from './tokens.ts';

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
  /** What lies inside the crowds that have ended, without their edges. */
  readonly hidden: (readonly [start: number, end: number])[];
}

interface Lead extends Anchor {
  /** Says that a key follows, which may have no form of its own. */
  readonly hints?: boolean;
  readonly look: (progress: Progress, start: number, end: number, emit: Emit) => void;
}

const DRAFTS: readonly Lead[] = [
  ...['aws', 'AKIA', 'ASIA'].map(
    (word): Lead => ({ word, anyCase: word === 'aws', hints: true, look: () => {} }),
  ),
  ...[...byPrefix()].map(([word, families]): Lead => {
    const read = tokenReader(families);
    const begins = isAlnum(word.charCodeAt(0)) && families.every(({ back }) => back === undefined);
    return {
      word,
      anyCase: false,
      begins,
      look: ({ reading }, start, end, emit) => read(reading, start, end, emit),
    };
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
      look: ({ reading, credentials }, start, end, emit) =>
        look(reading, start, end, emit, credentials),
    }),
  ),
  ...KEY_HEADERS.map(
    (word): Lead => ({
      word,
      anyCase: false,
      look: ({ reading, keys }, start, _end, emit) => privateKey(reading, start, emit, keys),
    }),
  ),
];

/** All of one shape, because one of them is looked at for every word that is found. */
const LEADS: readonly Required<Lead>[] = DRAFTS.map(
  ({ word, anyCase, begins = false, hints = false, look }) => ({
    ...{ word, anyCase, begins, hints, look },
  }),
);

/** All families of a prefix are looked at together. */
function byPrefix(): ReadonlyMap<string, readonly TokenFamily[]> {
  const prefixes = new Map<string, TokenFamily[]>();
  for (const family of FAMILIES)
    for (const prefix of family.prefixes)
      prefixes.set(prefix, [...(prefixes.get(prefix) ?? []), family]);
  return prefixes;
}

let finder: AnchorFinder | undefined;
/** `pwd=abc` is the shortest that can hold anything. */
const MIN_TEXT = 7;

/**
 * Tokens by their form, private keys, credentials in their places, and values whose name tells what
 * they are.
 */
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
    const signs = finder.find(text, codes, pairsOf(text), (index, start, stops) => {
      progress ??= startProgress(text, codes, effort);
      const lead = LEADS[index];
      if (lead === undefined) return 0;
      if (isCrowded(progress, lead, start, stops, emit)) return progress.crowd.end;
      if (lead.hints) (hints ??= []).push(start);
      lead.look(progress, start, start + lead.word.length, found);
      return 0;
    });
    if (progress !== null) endCrowds(progress, emit);
    return hints === null && signs.length === 0 ? PLAIN : { signs, hints: hints ?? [] };
  },
});

/** A crowd is passed over in steps as wide as this, and ends where no word stands in one. */
const STEP = 64;

/**
 * Whether a word stands in a crowd: more effort went into the words before it than any ordinary
 * text asks for. Nothing in a crowd is looked at: it is hidden as a whole, so that a text made of
 * prefixes or names costs no more than another and no token can stand in it unseen.
 */
function isCrowded(
  progress: Progress,
  { word }: Required<Lead>,
  start: number,
  stops: number,
  emit: Emit,
): boolean {
  const { crowd, reading } = progress;
  if (crowd.start !== -1) {
    if (start <= crowd.end + STEP) {
      widenCrowd(crowd, reading, Math.max(crowd.end, start + word.length));
      return true;
    }
    endCrowd(progress, emit);
  }
  if (spend(reading.effort, start, A_GLANCE + stops * A_STOP)) return false;
  crowd.start = start;
  widenCrowd(crowd, reading, start + word.length);
  return true;
}

/** What goes on behind a step without a gap may be the token that the crowd was to hide. */
function widenCrowd(crowd: Crowd, { text, runEnd, effort }: Reading, from: number): void {
  crowd.end = runEnd(OPAQUE_RUN, Math.min(text.length, from + STEP));
  passOver(effort, crowd.end);
}

/**
 * As far as the rest of a line goes that is hidden with a crowd: a value in quotes may have blanks
 * in it.
 */
const MAX_REST = 256;
/**
 * What is left at both ends of a crowd for the views of a text: what begins in it and goes on
 * outside is found as anywhere else.
 */
const EDGE = 512;

function endCrowd({ crowd, keys, reading }: Progress, emit: Emit): void {
  const { start, end } = crowd;
  if (start === -1) return;
  const rest = reading.text.slice(end, end + MAX_REST).search(/[\r\n]/);
  emit(start, end + Math.max(0, rest), 'secret');
  const header = lastHeader(reading.text.slice(start, end));
  if (header !== -1) privateKey(reading, start + header, emit, keys);
  if (end - start > 2 * EDGE) crowd.hidden.push([start + EDGE, end - EDGE]);
  crowd.start = -1;
}

/**
 * The views of the text, and whatever else reads its codes, find blanks where a crowd is hidden.
 */
function endCrowds(progress: Progress, emit: Emit): void {
  endCrowd(progress, emit);
  for (const [start, end] of progress.crowd.hidden) layBlanks(start, end);
}

const PLAIN: Sight = Object.freeze({ signs: [], hints: [] });

const startProgress = (text: string, codes: Uint16Array, effort: Effort): Progress => ({
  reading: startReading(text, codes, effort),
  named: { done: 0 },
  keys: { done: 0, footer: 0 },
  credentials: { line: 0, value: 0, piped: 0 },
  crowd: { start: -1, end: 0, hidden: [] },
});
