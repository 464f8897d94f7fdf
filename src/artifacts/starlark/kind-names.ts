// How messages name the kinds of expression.

import type { Expression } from './ast.ts';

/** Kinds of expression as messages name them. */
export const KIND_NAMES: Readonly<Record<Expression['kind'], string>> = {
  name: 'ident',
  literal: 'literal',
  list: 'listexpr',
  tuple: 'tupleexpr',
  dict: 'dictexpr',
  comprehension: 'comprehension',
  conditional: 'condexpr',
  index: 'indexexpr',
  slice: 'sliceexpr',
  dot: 'dotexpr',
  call: 'callexpr',
  unary: 'unaryexpr',
  binary: 'binaryexpr',
  lambda: 'lambdaexpr',
  paren: 'parenexpr',
};
