/** Random expressions about lists, tuples, dicts, and what is taken out of them. */

import { type Context, isRisky, listOf, several, within } from './context.ts';
import { keyOf, scalar } from './leaves.ts';
import { shortLiteral } from './literals.ts';
import {
  anything,
  binary,
  call,
  type Make,
  part,
  type Production,
  repeated,
} from './production.ts';

const index: Production = (context, depth, make) => {
  const more = isRisky(context) ? '' : ' + [1, "two", 3.0, None, (), False]';
  return `(${make(context, 'list', depth - 1)}${more})[${shortLiteral(context.random)}]`;
};
const lookup: Production = (context, depth, make) => {
  const key = keyOf(context);
  const source = make(context, 'dict', depth - 1);
  return isRisky(context)
    ? `${source}[${key}]`
    : `dict(${source}, a=1).get(${key}, ${anything(context, depth, make)})`;
};
/** Loops of a comprehension, with the names they bind. */
function clauses(
  context: Context,
  depth: number,
  make: Make,
): { readonly text: string; readonly inside: Context } {
  const { random } = context;
  const name = context.fresh('e');
  const other = context.fresh('e');
  const [head, variables] = random.pick([
    [`for ${name} in range(${shortLiteral(random)})`, [{ name, kind: 'int' as const }]],
    [`for ${name} in ${make(context, 'list', depth - 1)}`, [{ name, kind: 'any' as const }]],
    [
      `for ${name}, ${other} in enumerate(${make(context, 'list', depth - 1)})`,
      [
        { name, kind: 'int' as const },
        { name: other, kind: 'any' as const },
      ],
    ],
    [
      `for ${name}, ${other} in ${make(context, 'dict', depth - 1)}.items()`,
      [{ name: other, kind: 'any' as const }],
    ],
    [
      `for ${name} in ${make(context, 'string', depth - 1)}.elems()`,
      [{ name, kind: 'string' as const }],
    ],
  ]);
  const inside = within(context, {
    variables: [...context.variables, ...variables],
    loops: context.loops + 1,
  });
  const more = random.oneIn(3) ? ` if ${make(inside, 'bool', depth - 1)}` : '';
  return { text: `${head}${more}`, inside };
}

const comprehension: Production = (context, depth, make) => {
  const { text, inside } = clauses(context, depth, make);
  const second = context.random.oneIn(5) ? clauses(inside, 1, make) : undefined;
  const body = make(
    second?.inside ?? inside,
    context.random.pick(['int', 'string', 'tuple', 'bool']),
    depth - 1,
  );
  return `[${body} ${text}${second === undefined ? '' : ` ${second.text}`}]`;
};

const dictComprehension: Production = (context, depth, make) => {
  const { text, inside } = clauses(context, depth, make);
  return `{${make(inside, context.random.pick(['int', 'string']), depth - 1)}: ${make(inside, 'int', depth - 1)} ${text}}`;
};

const sorting: Production = (context, depth, make) => {
  const kind = context.random.pick(['int', 'string', 'float'] as const);
  const items = listOf(context, 4, () => make(context, kind, depth - 1));
  const suited =
    kind === 'string'
      ? ['len', 'lambda x: x[::-1]', 'str']
      : ['str', 'lambda x: -x', 'lambda x: x', 'type', 'float'];
  const key = context.random.pick([
    '',
    '',
    ', reverse=True',
    `, key=${context.random.pick(suited)}`,
  ]);
  return isRisky(context)
    ? `sorted(${make(context, 'list', depth - 1)}${key})`
    : `sorted([${items}]${key})`;
};

export const LISTS: readonly Production[] = [
  comprehension,
  comprehension,
  sorting,
  binary('list', ['+'], 'list'),
  repeated('list'),
  part('list'),
  (context, depth, make) =>
    `list(${make(context, context.random.pick(['list', 'tuple', 'dict', 'list']), depth - 1)})`,
  (context, depth, make) =>
    `${make(context, 'dict', depth - 1)}.${context.random.pick(['keys', 'values', 'items'])}()`,
  (context, depth, make) =>
    `${context.random.pick(['reversed', 'enumerate'])}(${make(context, 'list', depth - 1)})`,
  call('zip', 'list', 'list'),
  (context, depth, make) =>
    `enumerate(${make(context, 'tuple', depth - 1)}, ${shortLiteral(context.random)})`,
  (context) =>
    `list(range(${several(1 + context.random.below(2), () => shortLiteral(context.random)).join(', ')}))`,
  (context) =>
    `list(range(${shortLiteral(context.random)}, ${context.random.pick(['9', '-9', '20', '0'])}, ${isRisky(context) ? '0' : context.random.pick(['1', '2', '-1', '7'])}))`,
  (context, depth, make) => `[${listOf(context, 3, () => anything(context, depth, make))}]`,
];

export const TUPLES: readonly Production[] = [
  (context, depth, make) =>
    `(${make(context, 'int', depth - 1)}, ${anything(context, depth, make)})`,
  call('tuple', 'list'),
  binary('tuple', ['+'], 'tuple'),
  repeated('tuple'),
  part('tuple'),
];

export const DICTS: readonly Production[] = [
  dictComprehension,
  (context, depth, make) =>
    `{${listOf(context, 3, (place) => `${keyOf(context, place)}: ${anything(context, depth, make)}`)}}`,
  (context, depth, make) =>
    `dict(${make(context, 'dict', depth - 1)}, ${context.random.pick(['a', 'b'])}=${anything(context, depth, make)})`,
  (context) =>
    `dict([(${scalar(context)}, ${scalar(context)}), (${scalar(context)}, ${scalar(context)})])`,
  call('dict', 'dict'),
];

/** A value of any kind. */
export const ITEMS: readonly Production[] = [
  index,
  lookup,
  (context, depth, make) => make(context, context.random.pick(['int', 'string', 'list']), depth),
];

export const NOTHINGS: readonly Production[] = [
  () => 'None',
  (context, depth, make) =>
    `${make(context, 'list', depth - 1)}.append(${anything(context, depth, make)})`,
  (context, depth, make) => `${make(context, 'dict', depth - 1)}.get(${keyOf(context)})`,
];
