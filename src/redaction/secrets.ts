/**
 * Secrets in a text: one pass over it for every word that can lead to one, and one over its long
 * runs.
 */

import { type Anchor, type AnchorFinder, anchorFinder, type Hit } from './anchors.ts';
import { isAlnum, OPAQUE_RUN } from './characters.ts';
import { COMMAND_LEADS } from './commands.ts';
import { CREDENTIALS, type Look } from './credentials.ts';
import type { Detector, Emit, Sight } from './detector.ts';
import { ODD_SIGNS } from './disguises.ts';
import { FAMILIES } from './families/index.ts';
import { NAME_WORDS, namedValue } from './named-values.ts';
import { KEY_HEADERS, KEY_LEADS, lastHeader, privateKey } from './private-keys.ts';
import {
  A_FINDING,
  A_GLANCE,
  A_STOP,
  layBlanks,
  passOver,
  type Reading,
  runEnd,
  spend,
  startEffort,
  startReading,
} from './reading.ts';
import { type TokenFamily, tokenReader } from './tokens.ts';

interface Lead extends Anchor {
  /** Says that a key follows, which may have no form of its own. */
  readonly hints?: boolean;
  readonly look: Look;
}

const DRAFTS: readonly Lead[] = [
  ...['aws', 'AKIA', 'ASIA'].map(
    (word): Lead => ({ word, anyCase: word === 'aws', hints: true, look: () => {} }),
  ),
  ...[...byPrefix()].map(([word, families]): Lead => {
    const begins = isAlnum(word.charCodeAt(0)) && families.every(({ back }) => back === undefined);
    return { word, anyCase: false, begins, look: tokenReader(families) };
  }),
  ...NAME_WORDS.map((word): Lead => ({ word, anyCase: true, hints: true, look: namedValue })),
  ...CREDENTIALS,
  ...COMMAND_LEADS,
  ...KEY_LEADS,
  ...KEY_HEADERS.map((word): Lead => ({ word, anyCase: false, look: privateKey })),
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

/** What `find` works with until its next call, in one place for all texts as in `reading.ts`. */
let reading: Reading = startReading('', startEffort());
let emit: Emit = () => {};
let hints: number[] = [];

/**
 * Tokens by their form, private keys, credentials in their places, and values whose name tells what
 * they are.
 */
export const secretDetector: Detector = Object.freeze<Detector>({
  group: 'secrets',
  find(text, tell, effort) {
    if (text.length < MIN_TEXT) return undefined;
    reading = startReading(text, effort);
    emit = tell;
    if (hints.length > 0) hints = [];
    crowd.start = -1;
    if (hidden.length > 0) hidden = [];
    // Made with the first text: a process that looks at none needs none.
    finder ??= anchorFinder(LEADS, ODD_SIGNS);
    const signs = finder.find(text, reading.codes, reading.pairs, lookAt);
    if (crowd.start !== -1) endCrowd();
    // The views of the text, and whatever else reads its codes, find blanks where a crowd is.
    for (const [from, to] of hidden) layBlanks(from, to);
    return hints.length === 0 && signs.length === 0 ? PLAIN : { signs, hints };
  },
});

const PLAIN: Sight = Object.freeze({ signs: [], hints: [] });

const lookAt: Hit = (index, start, stops) => {
  const lead = LEADS[index];
  if (lead === undefined) return 0;
  const end = start + lead.word.length;
  if (crowd.start !== -1 && isInCrowd(start, end)) return crowd.end;
  if (!spend(reading.effort, start, A_GLANCE + stops * A_STOP)) return beginCrowd(start, end);
  if (lead.hints) hints.push(start);
  lead.look(reading, start, end, found);
  return 0;
};

const found: Emit = (start, end, label) => {
  spend(reading.effort, start, A_FINDING);
  emit(start, end, label);
};

/**
 * Words stand closer together than in any text that says something: more effort went into those
 * before than any ordinary text asks for. Nothing in a crowd is looked at: it is hidden as a whole,
 * so that a text made of prefixes or names costs no more than another and no token can stand in it
 * unseen. `start` is `-1` where there is none.
 */
const crowd = { start: -1, end: 0 };
/** What lies inside the crowds that have ended, without their edges. */
let hidden: (readonly [start: number, end: number])[] = [];

/** A crowd is passed over in steps as wide as this, and ends where no word stands in one. */
const STEP = 64;

/** Whether a word still belongs to the crowd before it, which ends otherwise. */
function isInCrowd(start: number, end: number): boolean {
  if (start > crowd.end + STEP) endCrowd();
  else widenCrowd(Math.max(crowd.end, end));
  return crowd.start !== -1;
}

/** Answers where it ends so far. */
function beginCrowd(start: number, end: number): number {
  crowd.start = start;
  return widenCrowd(end);
}

/** What goes on behind a step without a gap may be the token that the crowd was to hide. */
function widenCrowd(from: number): number {
  crowd.end = runEnd(reading, OPAQUE_RUN, Math.min(reading.text.length, from + STEP));
  passOver(reading.effort, crowd.end);
  return crowd.end;
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

function endCrowd(): void {
  const { start, end } = crowd;
  const { text } = reading;
  const rest = text.slice(end, end + MAX_REST).search(/[\r\n]/);
  emit(start, end + Math.max(0, rest), 'secret');
  const header = lastHeader(text.slice(start, end));
  if (header !== -1) privateKey(reading, start + header, end, emit);
  if (end - start > 2 * EDGE) hidden.push([start + EDGE, end - EDGE]);
  crowd.start = -1;
}
