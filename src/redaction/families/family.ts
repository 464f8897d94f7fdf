/** What a family of tokens is: rows of these tables are data, read by `tokens.ts`. */

import type { Alphabet, Look } from '../characters.ts';

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
