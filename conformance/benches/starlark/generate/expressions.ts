/** Random expressions of a wanted kind. */

import { DICTS, ITEMS, LISTS, NOTHINGS, TUPLES } from './container-expressions.ts';
import {
  type Callable,
  type Context,
  isRisky,
  type Kind,
  KINDS,
  several,
  within,
} from './context.ts';
import { leaf } from './leaves.ts';
import { shortLiteral } from './literals.ts';
import { BOOLS, FLOATS, INTS } from './number-expressions.ts';
import type { Production } from './production.ts';
import {
  TEXT_TO_BOOL,
  TEXT_TO_INT,
  TEXT_TO_LIST,
  TEXT_TO_TEXT,
  TEXT_TO_TUPLE,
  TEXTS,
} from './text-expressions.ts';

/** An expression that is most often of the kind. Depth 0 is a literal or a name. */
export function expression(context: Context, kind: Kind, depth: number): string {
  const { random } = context;
  if (isRisky(context))
    return expression(within(context, { mistakes: 1e9 }), random.pick(KINDS), depth);
  if (depth <= 0) return leaf(context, kind);
  if (random.oneIn(5)) return leaf(context, kind);
  if (random.oneIn(8)) return general(context, kind, depth);
  const { own, text = [] } = PRODUCTIONS[kind];
  return random.pick([...own, ...(random.oneIn(2) ? text : [])])(context, depth, expression);
}

/** Methods of strings are many; apart, so that they do not crowd out the rest. */
const PRODUCTIONS: Readonly<
  Record<Kind, { readonly own: readonly Production[]; readonly text?: readonly Production[] }>
> = {
  int: { own: INTS, text: TEXT_TO_INT },
  float: { own: FLOATS },
  string: { own: TEXTS, text: TEXT_TO_TEXT },
  bool: { own: BOOLS, text: TEXT_TO_BOOL },
  list: { own: LISTS, text: TEXT_TO_LIST },
  tuple: { own: TUPLES, text: TEXT_TO_TUPLE },
  dict: { own: DICTS },
  any: { own: ITEMS },
  none: { own: NOTHINGS },
};

/** Ways to a value of any kind. */
function general(context: Context, kind: Kind, depth: number): string {
  const { random } = context;
  const inner = (of: Kind = kind): string => expression(context, of, depth - 1);
  const suited = context.functions.filter(({ returns }) => returns === kind);
  switch (random.below(8)) {
    case 0:
      return `(${inner()} if ${inner('bool')} else ${inner()})`;
    case 1:
      return `(${inner()} ${random.pick(['or', 'and'])} ${inner()})`;
    case 2:
      return `[${inner()}, ${inner()}][${isRisky(context) ? shortLiteral(random) : random.pick(['0', '1', '-1', '-2'])}]`;
    case 3:
      return `{${inner('string')}: ${inner()}}.get(${inner('string')}, ${inner()})`;
    case 4:
      return `(lambda ${random.pick(['x', 'x, y=1', '*x', 'x=2'])}: ${inner()})(${inner('int')})`;
    case 5:
      if (kind !== 'int' && kind !== 'string' && kind !== 'float') return inner();
      return `${random.pick(['max', 'min'])}(${inner()}, ${inner()})`;
    default:
      return suited.length > 0 ? callOf(context, random.pick(suited), depth) : `(${inner()})`;
  }
}

/** A call that fits the parameters most of the time, with its arguments in any of the forms. */
export function callOf(context: Context, { name, parameters }: Callable, depth: number): string {
  const { random } = context;
  const mistakes = isRisky(context) ? random.below(5) : -1;
  const made: string[] = [];
  let isNamed = false;
  for (const { name: parameter, kind, form } of parameters) {
    const value = expression(context, kind, depth - 1);
    if (form === 'star')
      made.push(...(isNamed ? [] : several(random.below(3), () => expression(context, 'int', 0))));
    else if (form === 'starstar')
      made.push(...several(random.below(2), () => `${context.fresh('k')}=${value}`));
    else if (form === 'optional' && random.oneIn(2)) isNamed = true;
    else if (form === 'named' || isNamed || random.oneIn(5)) made.push(`${parameter}=${value}`);
    else made.push(value);
    isNamed ||= made.at(-1)?.startsWith(`${parameter}=`) === true || form === 'star';
  }
  if (mistakes === 0) made.pop();
  if (mistakes === 1) made.push(`${parameters[0]?.name ?? 'nothing'}=1`);
  if (mistakes === 2) made.push('unknown_name=1');
  if (mistakes === 3) made.push(`*${expression(context, 'list', 0)}`);
  if (mistakes === 4)
    made.push(
      `**${random.oneIn(2) ? expression(context, 'dict', 0) : `{"${parameters[0]?.name ?? 'nothing'}": 1}`}`,
    );
  return `${name}(${made.join(', ')})`;
}
