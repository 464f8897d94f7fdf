/** Ways to write an expression that several kinds share. */

import { type Context, isRisky, type Kind } from './context.ts';
import { shortLiteral } from './literals.ts';

/**
 * Makes an expression of a kind. Handed in, because expressions of all kinds are made of each
 * other.
 */
export type Make = (context: Context, kind: Kind, depth: number) => string;
export type Production = (context: Context, depth: number, make: Make) => string;

export const binary =
  (left: Kind, operators: readonly string[], right: Kind): Production =>
  (context, depth, make) =>
    `(${make(context, left, depth - 1)} ${context.random.pick(operators)} ${make(context, right, depth - 1)})`;
export const call =
  (name: string, ...kinds: readonly Kind[]): Production =>
  (context, depth, make) =>
    `${name}(${kinds.map((kind) => make(context, kind, depth - 1)).join(', ')})`;
const oneOf =
  (...kinds: readonly Kind[]): Production =>
  (context, depth, make) =>
    make(context, context.random.pick(kinds), depth - 1);

/** A slice, or an index, of something that has an order. */
export const part =
  (kind: Kind): Production =>
  (context, depth, make) =>
    `${make(context, kind, depth - 1)}[${slice(context)}]`;

const slice = (context: Context): string => {
  const bound = (): string => (context.random.oneIn(3) ? '' : shortLiteral(context.random));
  return `${bound()}:${bound()}${context.random.oneIn(3) ? `:${context.random.pick(['1', '2', '-1', '-2', '', isRisky(context) ? '0' : '3'])}` : ''}`;
};

export const repeated =
  (kind: Kind): Production =>
  (context, depth, make) =>
    `(${make(context, kind, depth - 1)} * ${isRisky(context) ? '(1 << 40)' : shortLiteral(context.random)})`;

export const anything: Production = oneOf(
  'int',
  'float',
  'string',
  'bool',
  'list',
  'tuple',
  'dict',
  'none',
  'any',
);
