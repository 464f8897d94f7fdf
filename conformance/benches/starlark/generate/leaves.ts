/** Names and literals: what expressions are made of in the end. */

import { type Context, isRisky, type Kind, listOf, several } from './context.ts';
import { floatLiteral, intLiteral, stringLiteral } from './literals.ts';

/** A name of the kind, or a literal. */
export function leaf(context: Context, kind: Kind): string {
  const known = context.variables.filter((variable) => variable.kind === kind);
  return known.length > 0 && context.random.below(3) > 0
    ? context.random.pick(known).name
    : LITERALS[kind](context);
}

const LITERALS: Readonly<Record<Kind, (context: Context) => string>> = {
  int: ({ random }) => (random.oneIn(6) ? `-${intLiteral(random)}` : intLiteral(random)),
  float: ({ random }) => (random.oneIn(5) ? `-${floatLiteral(random)}` : floatLiteral(random)),
  string: ({ random }) => stringLiteral(random),
  bool: ({ random }) => random.pick(['True', 'False']),
  list: (context) => `[${listOf(context, 4, () => scalar(context))}]`,
  tuple: (context) =>
    context.random.oneIn(6)
      ? '()'
      : `(${several(1 + context.random.below(3), () => `${scalar(context)}, `)
          .join('')
          .trimEnd()})`,
  dict: (context) =>
    `{${listOf(context, 3, (index) => `${keyOf(context, index)}: ${scalar(context)}`)}}`,
  none: () => 'None',
  any: (context) => scalar(context),
};

/** A leaf that is no container. */
export const scalar = (context: Context): string =>
  leafOf(context, context.random.pick(['int', 'int', 'string', 'string', 'float', 'bool', 'none']));
const leafOf = (context: Context, kind: Kind): string =>
  kind === 'list' ? '[]' : leaf(context, kind);

const KEYS = [
  ['"a"', '1', '"k"', '(1, "x")', '1.0'],
  ['"b"', '2', '"é"', '(2,)', 'None', '2.5'],
  ['"c"', '10000000000000000000000', 'True', '()', '"d"', '-1'],
];

/** Keys of one literal are distinct, because equal ones are an error, which must occur too. */
export function keyOf(context: Context, index = context.random.below(KEYS.length)): string {
  if (isRisky(context))
    return context.random.oneIn(3)
      ? '[1]'
      : leafOf(context, context.random.pick(['int', 'string', 'tuple', 'bool', 'float']));
  return context.random.pick(KEYS[index] ?? []);
}
