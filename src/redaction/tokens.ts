/** Families of tokens: what a row of their tables says, and how a token is read by it. */

import {
  type Alphabet,
  isAlnum,
  isIn,
  type Look,
  looksGenerated,
  OPAQUE_RUN,
  slotOf,
} from './characters.ts';
import type { Emit } from './detector.ts';
import { A_WORD, looksOf, type Reading, runEnd, spend } from './reading.ts';

export interface TokenFamily {
  /** Who issues it: what its marker says. */
  readonly label: string;
  /**
   * How its tokens begin, or for `back` what stands inside them. Found in one pass for all
   * families.
   */
  readonly prefixes: readonly string[];
  /** What follows the prefix, and between how many and how many characters of it. */
  readonly alphabet: Alphabet;
  readonly min: number;
  readonly max: number;
  /** How the body has to look, so that a word that begins like a token is none. */
  readonly look: Look;
  /**
   * The whole form from the prefix on, where the format has more than a body. Sticky, and bounded:
   * it must end at a character that a second prefix inside the same run could not pass. The secret
   * is group 1, at the end of the match, or else all of it.
   */
  readonly shape?: RegExp;
  /** How many characters stand before the prefix: for formats with their mark in the middle. */
  readonly back?: readonly [alphabet: Alphabet, min: number, max: number];
}

const BODY = { alphabet: 'url', min: 0, max: 0, look: 'any' } as const;
const words = (text: string): readonly string[] => Object.freeze(text.trim().split(' '));

/** Tokens of a prefix and a body. */
export const token = (
  label: string,
  prefixes: string,
  alphabet: Alphabet,
  min: number,
  max: number,
  look: Look = 'plain',
): TokenFamily => Object.freeze({ label, prefixes: words(prefixes), alphabet, min, max, look });

/** Tokens of several parts. */
export const shaped = (
  label: string,
  prefixes: string,
  shape: RegExp,
  look: Look = 'any',
): TokenFamily => Object.freeze({ ...BODY, label, prefixes: words(prefixes), shape, look });

/** Tokens with their mark inside. */
export const inner = (
  label: string,
  marks: string,
  back: readonly [Alphabet, number, number],
  alphabet: Alphabet,
  min: number,
  max: number,
  look: Look = 'plain',
): TokenFamily => Object.freeze({ label, prefixes: words(marks), alphabet, min, max, look, back });

const DOT = 46;
const COLON = 58;
const DOLLAR = 36;

/** A family with its alphabets by their slots. */
interface Compiled extends TokenFamily {
  readonly slot: number;
  readonly backSlot: number;
}

/** The families of one prefix. */
export type TokenReader = (reading: Reading, start: number, end: number, emit: Emit) => void;

/** So many dots may end the sentence that a token stands in. */
const PUNCTUATION = 8;

/** The shortest body that a form of several parts can have. */
const MIN_SHAPED = 6;

/**
 * Reads with each family that begins so, and passes over everything that begins inside a token that
 * was found.
 */
export function tokenReader(families: readonly TokenFamily[]): TokenReader {
  const all = families.map(
    (family): Compiled => ({
      ...family,
      slot: slotOf(family.alphabet),
      backSlot: slotOf(family.back?.[0] ?? 'url'),
    }),
  );
  const isWord = isAlnum(all[0]?.prefixes[0]?.charCodeAt(0) ?? 0);
  return (reading, start, end, emit) => {
    const { codes } = reading;
    if (start < reading.done) return;
    const isInside = isWord && start > 0 && isAlnum(codes[start - 1] ?? 0);
    for (const family of all) {
      if (family.back !== undefined) markedToken(reading, family, family.back, start, end, emit);
      else if (isInside) continue;
      else if (family.shape === undefined) bodyToken(reading, family, start, end, emit);
      else shapedToken(reading, family, family.shape, start, end, emit);
      if (start < reading.done) return;
    }
  };
}

function bodyToken(
  reading: Reading,
  { label, slot, min, max, look }: Compiled,
  from: number,
  body: number,
  emit: Emit,
): void {
  let end = runEnd(reading, slot, body, max + PUNCTUATION);
  if (end - body < min) return;
  while (end > body && (reading.codes[end - 1] === DOT || reading.codes[end - 1] === COLON))
    end -= 1;
  const length = end - body;
  if (length < min || length > max) return;
  spend(reading.effort, from, A_WORD);
  if (length > 2 && !looksGenerated(looksOf(reading, body, end), look)) return;
  emit(from, end, label);
  reading.done = end;
}

function shapedToken(
  reading: Reading,
  { label, look }: Compiled,
  shape: RegExp,
  start: number,
  body: number,
  emit: Emit,
): void {
  // A blank and a quote may stand between a scheme and what follows it; a prefix alone is the usual
  // case and needs no expression.
  if (
    reading.codes[body - 1] !== DOLLAR &&
    runEnd(reading, OPAQUE_RUN, body, MIN_SHAPED) - body < MIN_SHAPED &&
    !(reading.codes[body] === 32 && isAlnum(reading.codes[body - 1] ?? 0))
  )
    return;
  spend(reading.effort, start, A_WORD);
  shape.lastIndex = start;
  const match = shape.exec(reading.text);
  if (match === null) return;
  const end = start + match[0].length;
  const from = match[1] === undefined ? start : end - match[1].length;
  if (!looksGenerated(looksOf(reading, from, end), look)) return;
  emit(from, end, label);
  reading.done = end;
}

/**
 * A token whose mark stands inside it. What stands before the mark may begin inside a word only if
 * that is all of it.
 */
function markedToken(
  reading: Reading,
  family: Compiled,
  [, min, max]: readonly [unknown, number, number],
  mark: number,
  body: number,
  emit: Emit,
): void {
  const { codes } = reading;
  if (runEnd(reading, family.slot, body, family.min) - body < family.min) return;
  spend(reading.effort, mark, A_WORD);
  let from = mark;
  while (from > 0 && mark - from <= max && isIn(family.backSlot, codes[from - 1] ?? 0)) from -= 1;
  if (
    mark - from < min ||
    mark - from > max ||
    (from > 0 && isAlnum(codes[from] ?? 0) && isAlnum(codes[from - 1] ?? 0))
  )
    return;
  bodyToken(reading, family, from, body, emit);
}
