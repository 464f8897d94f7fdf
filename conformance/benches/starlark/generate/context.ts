/** What the makers of random programs share: names in reach, and the draw of kinds. */

import type { Random } from '../../fuzz/random.ts';

/** What an expression is meant to be. Now and then it is something else: programs must fail too. */
export type Kind = 'int' | 'float' | 'string' | 'bool' | 'list' | 'tuple' | 'dict' | 'none' | 'any';

export const KINDS: readonly Kind[] = [
  'int',
  'float',
  'string',
  'bool',
  'list',
  'tuple',
  'dict',
  'none',
  'any',
];

export interface Variable {
  readonly name: string;
  readonly kind: Kind;
  /** Whether it may be assigned here; a name of the function around would become another one. */
  readonly isLocal?: boolean;
}

export interface Parameter extends Variable {
  readonly form: 'required' | 'optional' | 'named' | 'star' | 'starstar';
}

export interface Callable {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly returns: Kind;
}

/** One block of a program being written. */
export interface Context {
  readonly random: Random;
  readonly variables: readonly Variable[];
  readonly functions: readonly Callable[];
  /** Loops around this place. What grows inside loops is kept short. */
  readonly loops: number;
  /** How seldom something is of the wrong kind, or out of range: about once in so many chances. */
  readonly mistakes: number;
  /** A name that nothing else has. */
  readonly fresh: (stem: string) => string;
}

/** The context inside a block, with more names. */
export const within = (context: Context, changes: Partial<Context>): Context => ({
  ...context,
  ...changes,
});

/** Whether to do what most likely fails. */
export const isRisky = ({ random, mistakes }: Context): boolean => random.oneIn(mistakes);

/** So many texts, made one by one. */
export const several = (count: number, make: (index: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** A comma-separated list of up to `limit` texts. */
export const listOf = (
  { random }: Context,
  limit: number,
  make: (index: number) => string,
): string => several(random.below(limit + 1), make).join(', ');
