/** Random expressions of a wanted kind. */

import { type Callable, type Context, isRisky, type Kind, KINDS, listOf, several, within } from './context.ts';
import { floatLiteral, intLiteral, shortLiteral, stringLiteral } from './literals.ts';
import { TEXT_TO_BOOL, TEXT_TO_INT, TEXT_TO_LIST, TEXT_TO_TEXT, TEXT_TO_TUPLE } from './text-expressions.ts';

type Production = (context: Context, depth: number) => string;

/** An expression that is most often of the kind. Depth 0 is a literal or a name. */
export function expression(context: Context, kind: Kind, depth: number): string {
  const { random } = context;
  if (isRisky(context)) return expression(within(context, { mistakes: 1e9 }), random.pick(KINDS), depth);
  if (depth <= 0) return leaf(context, kind);
  if (random.oneIn(5)) return leaf(context, kind);
  if (random.oneIn(8)) return general(context, kind, depth);
  const productions = PRODUCTIONS[kind];
  return random.pick([...productions.own, ...(random.oneIn(2) ? productions.text : [])])(context, depth);
}

function leaf(context: Context, kind: Kind): string {
  const known = context.variables.filter((variable) => variable.kind === kind);
  return known.length > 0 && context.random.below(3) > 0 ? context.random.pick(known).name : LITERALS[kind](context);
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
  dict: (context) => `{${listOf(context, 3, (index) => `${keyOf(context, index)}: ${scalar(context)}`)}}`,
  none: () => 'None',
  any: (context) => scalar(context),
};

const scalar = (context: Context): string =>
  leafOf(context, context.random.pick(['int', 'int', 'string', 'string', 'float', 'bool', 'none']));
const leafOf = (context: Context, kind: Kind): string => (kind === 'list' ? '[]' : leaf(context, kind));

const KEYS = [
  ['"a"', '1', '"k"', '(1, "x")', '1.0'],
  ['"b"', '2', '"é"', '(2,)', 'None', '2.5'],
  ['"c"', '10000000000000000000000', 'True', '()', '"d"', '-1'],
];

/** Keys of one literal are distinct, because equal ones are an error, which must occur too. */
function keyOf(context: Context, index = context.random.below(KEYS.length)): string {
  if (isRisky(context))
    return context.random.oneIn(3) ? '[1]' : leafOf(context, context.random.pick(['int', 'string', 'tuple', 'bool', 'float']));
  return context.random.pick(KEYS[index] ?? []);
}

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
    if (form === 'star') made.push(...(isNamed ? [] : several(random.below(3), () => expression(context, 'int', 0))));
    else if (form === 'starstar') made.push(...several(random.below(2), () => `${context.fresh('k')}=${value}`));
    else if (form === 'optional' && random.oneIn(2)) isNamed = true;
    else if (form === 'named' || isNamed || random.oneIn(5)) made.push(`${parameter}=${value}`);
    else made.push(value);
    isNamed ||= made.at(-1)?.startsWith(`${parameter}=`) === true || form === 'star';
  }
  if (mistakes === 0) made.pop();
  if (mistakes === 1) made.push(`${parameters[0]?.name ?? 'nothing'}=1`);
  if (mistakes === 2) made.push('unknown_name=1');
  if (mistakes === 3) made.push(`*${expression(context, 'list', 0)}`);
  if (mistakes === 4) made.push(`**${expression(context, 'dict', 0)}`);
  return `${name}(${made.join(', ')})`;
}

const binary =
  (left: Kind, operators: readonly string[], right: Kind): Production =>
  (context, depth) =>
    `(${expression(context, left, depth - 1)} ${context.random.pick(operators)} ${expression(context, right, depth - 1)})`;
const call =
  (name: string, ...kinds: readonly Kind[]): Production =>
  (context, depth) =>
    `${name}(${kinds.map((kind) => expression(context, kind, depth - 1)).join(', ')})`;
const oneOf =
  (...kinds: readonly Kind[]): Production =>
  (context, depth) =>
    expression(context, context.random.pick(kinds), depth - 1);

/** A slice, or an index, of something that has an order. */
const part =
  (kind: Kind): Production =>
  (context, depth) =>
    `${expression(context, kind, depth - 1)}[${slice(context)}]`;

const slice = (context: Context): string => {
  const bound = (): string => (context.random.oneIn(3) ? '' : shortLiteral(context.random));
  return `${bound()}:${bound()}${context.random.oneIn(3) ? `:${context.random.pick(['1', '2', '-1', '-2', '', isRisky(context) ? '0' : '3'])}` : ''}`;
};

const index: Production = (context, depth) => {
  const more = isRisky(context) ? '' : ' + [1, "two", 3.0, None, (), False]';
  return `(${expression(context, 'list', depth - 1)}${more})[${shortLiteral(context.random)}]`;
};
const lookup: Production = (context, depth) => {
  const key = keyOf(context);
  const source = expression(context, 'dict', depth - 1);
  return isRisky(context) ? `${source}[${key}]` : `dict(${source}, a=1).get(${key}, ${anything(context, depth)})`;
};
const repeated =
  (kind: Kind): Production =>
  (context, depth) =>
    `(${expression(context, kind, depth - 1)} * ${isRisky(context) ? '(1 << 40)' : shortLiteral(context.random)})`;

/** Loops of a comprehension, with the names they bind. */
function clauses(context: Context, depth: number): { readonly text: string; readonly inside: Context } {
  const { random } = context;
  const name = context.fresh('e');
  const other = context.fresh('e');
  const [head, variables] = random.pick([
    [`for ${name} in range(${shortLiteral(random)})`, [{ name, kind: 'int' as const }]],
    [`for ${name} in ${expression(context, 'list', depth - 1)}`, [{ name, kind: 'any' as const }]],
    [
      `for ${name}, ${other} in enumerate(${expression(context, 'list', depth - 1)})`,
      [
        { name, kind: 'int' as const },
        { name: other, kind: 'any' as const },
      ],
    ],
    [`for ${name}, ${other} in ${expression(context, 'dict', depth - 1)}.items()`, [{ name: other, kind: 'any' as const }]],
    [`for ${name} in ${expression(context, 'string', depth - 1)}.elems()`, [{ name, kind: 'string' as const }]],
  ]);
  const inside = within(context, { variables: [...context.variables, ...variables], loops: context.loops + 1 });
  const more = random.oneIn(3) ? ` if ${expression(inside, 'bool', depth - 1)}` : '';
  return { text: `${head}${more}`, inside };
}

const comprehension: Production = (context, depth) => {
  const { text, inside } = clauses(context, depth);
  const second = context.random.oneIn(5) ? clauses(inside, 1) : undefined;
  const body = expression(second?.inside ?? inside, context.random.pick(['int', 'string', 'tuple', 'bool']), depth - 1);
  return `[${body} ${text}${second === undefined ? '' : ` ${second.text}`}]`;
};

const dictComprehension: Production = (context, depth) => {
  const { text, inside } = clauses(context, depth);
  return `{${expression(inside, context.random.pick(['int', 'string']), depth - 1)}: ${expression(inside, 'int', depth - 1)} ${text}}`;
};

const sorting: Production = (context, depth) => {
  const kind = context.random.pick(['int', 'string', 'float'] as const);
  const items = listOf(context, 4, () => expression(context, kind, depth - 1));
  const suited = kind === 'string' ? ['len', 'lambda x: x[::-1]', 'str'] : ['str', 'lambda x: -x', 'lambda x: x', 'type', 'float'];
  const key = context.random.pick(['', '', ', reverse=True', `, key=${context.random.pick(suited)}`]);
  return isRisky(context) ? `sorted(${expression(context, 'list', depth - 1)}${key})` : `sorted([${items}]${key})`;
};

const DIVISORS = {
  int: ['3', '-7', '10', '18446744073709551616', '-9007199254740993'],
  float: ['3', '2.5', '-0.3', '1e300', '-7', '0.1'],
} as const;

/** By what is seldom zero. */
const divided =
  (kind: 'int' | 'float', operators: readonly string[]): Production =>
  (context, depth) => {
    const by = isRisky(context) ? expression(context, kind, depth - 1) : context.random.pick(DIVISORS[kind]);
    return `(${expression(context, kind, depth - 1)} ${context.random.pick(operators)} ${by})`;
  };

const NUMERALS: readonly (readonly [text: string, base: string])[] = [
  ...([
    ['"ff"', '16'],
    ['"0x1F"', '0'],
    ['"0x1f"', '16'],
    ['"-101"', '2'],
    ['"zz"', '36'],
    ['"0b11"', '0'],
    ['"777"', '8'],
    ['"-0o17"', '0'],
  ] as const),
  ...([
    ['"12_3"', '10'],
    ['""', '10'],
    ['"9"', '8'],
    ['"1"', '1'],
    ['"1"', '37'],
    ['"0x"', '16'],
    ['"08"', '0'],
    ['" 1"', '10'],
    ['"--1"', '10'],
  ] as const),
];
const parsedInt: Production = (context) => `int(${context.random.pick(NUMERALS.slice(0, isRisky(context) ? undefined : 8)).join(', ')})`;

const METHOD_TEXT = { int: TEXT_TO_INT, string: TEXT_TO_TEXT, bool: TEXT_TO_BOOL, list: TEXT_TO_LIST, tuple: TEXT_TO_TUPLE } as const;
const textOf = (kind: keyof typeof METHOD_TEXT): readonly Production[] =>
  METHOD_TEXT[kind].map((make) => (context, depth) => make(context, depth, expression));

interface Productions {
  readonly own: readonly Production[];
  readonly text: readonly Production[];
}

const anything: Production = oneOf('int', 'float', 'string', 'bool', 'list', 'tuple', 'dict', 'none', 'any');

const PRODUCTIONS: Readonly<Record<Kind, Productions>> = {
  int: {
    own: [
      binary('int', ['+', '-', '*'], 'int'),
      divided('int', ['//', '%']),
      binary('int', ['&', '|', '^'], 'int'),
      (context, depth) =>
        `(${expression(context, 'int', depth - 1)} ${context.random.pick(['<<', '>>'])} ${context.random.pick(['0', '1', '5', '31', '63', '70', '-1', '600'].slice(0, isRisky(context) ? 8 : 6))})`,
      (context, depth) => `${context.random.pick(['-', '+', '~', '- -'])}${expression(context, 'int', depth - 1)}`,
      (context, depth) => `len(${expression(context, context.random.pick(['list', 'tuple', 'dict', 'string']), depth - 1)})`,
      (context, depth) =>
        `int(${isRisky(context) ? expression(context, 'float', depth - 1) : context.random.pick(['1.9', '-1.9', '1e20', '0.5'])})`,
      (context, depth) =>
        `int(${isRisky(context) ? expression(context, 'string', depth - 1) : context.random.pick(['"12"', '"-7"', '"+5"', '"007"'])})`,
      parsedInt,
      (context) =>
        `ord(${isRisky(context) ? stringLiteral(context.random) : context.random.pick(['"a"', '"é"', '"日"', '"😀"', '"\\n"'])})`,
      call('hash', 'string'),
      (context, depth) =>
        `([${scalar(context)}, 5] + ${expression(context, 'list', depth - 1)}).index(${isRisky(context) ? scalar(context) : '5'})`,
    ],
    text: textOf('int'),
  },
  float: {
    own: [
      binary('float', ['+', '-', '*'], 'float'),
      binary('int', ['-', '*', '+'], 'float'),
      binary('float', ['*', '-', '+'], 'int'),
      divided('float', ['/', '//', '%']),
      divided('int', ['/']),
      (context, depth) => `-${expression(context, 'float', depth - 1)}`,
      call('float', 'int'),
    ],
    text: [
      (context) =>
        `float(${context.random.pick(['"1.5"', '"1e3"', '"nan"', '"-Inf"', '"+5"', '"infinity"', '"0x1p-2"', '" 1"', '"1_0"', '""', '"x"'].slice(0, isRisky(context) ? undefined : 6))})`,
    ],
  },
  string: {
    own: [
      binary('string', ['+'], 'string'),
      repeated('string'),
      part('string'),
      (context, depth) => `${context.random.pick(['str', 'repr', 'type'])}(${anything(context, depth)})`,
      (context) =>
        `chr(${context.random.pick(['65', '233', '0x65e5', '0x1F600', '0', '55296', '-1', '0x110000'].slice(0, isRisky(context) ? undefined : 6))})`,
      (context, depth) => `str(${expression(context, 'float', depth - 1)})`,
      (context, depth) => `repr(${expression(context, 'string', depth - 1)})`,
    ],
    text: textOf('string'),
  },
  bool: {
    own: [
      binary('int', ['<', '<=', '>', '>=', '==', '!='], 'int'),
      binary('float', ['<', '<=', '>', '>=', '==', '!='], 'int'),
      binary('float', ['<', '==', '!=', '>='], 'float'),
      binary('string', ['<', '<=', '>', '==', '!='], 'string'),
      (context, depth) => binary('list', isRisky(context) ? ['<', '>='] : ['==', '!='], 'list')(context, depth),
      (context, depth) => binary('tuple', isRisky(context) ? ['<=', '>'] : ['==', '!='], 'tuple')(context, depth),
      (context) =>
        `([${listOf(context, 3, () => leaf(context, 'int'))}] ${context.random.pick(['<', '<=', '>', '>='])} [${listOf(context, 3, () => leaf(context, 'int'))}])`,
      binary('dict', ['==', '!='], 'dict'),
      (context, depth) => `(${anything(context, depth)} ${context.random.pick(['==', '!='])} ${anything(context, depth)})`,
      (context, depth) =>
        `(${scalar(context)} ${context.random.pick(['in', 'not in'])} ${expression(context, context.random.pick(['list', 'tuple', 'dict']), depth - 1)})`,
      binary('string', ['in', 'not in'], 'string'),
      (context, depth) => `(not ${anything(context, depth)})`,
      (context, depth) => `${context.random.pick(['any', 'all', 'bool'])}(${expression(context, 'list', depth - 1)})`,
      binary('bool', ['and', 'or'], 'bool'),
      (context) => `hasattr(${scalar(context)}, ${context.random.pick(['"append"', '"upper"', '"items"'])})`,
    ],
    text: textOf('bool'),
  },
  list: {
    own: [
      comprehension,
      comprehension,
      sorting,
      binary('list', ['+'], 'list'),
      repeated('list'),
      part('list'),
      (context, depth) => `list(${expression(context, context.random.pick(['list', 'tuple', 'dict', 'list']), depth - 1)})`,
      (context, depth) => `${expression(context, 'dict', depth - 1)}.${context.random.pick(['keys', 'values', 'items'])}()`,
      (context, depth) => `${context.random.pick(['reversed', 'enumerate'])}(${expression(context, 'list', depth - 1)})`,
      call('zip', 'list', 'list'),
      (context, depth) => `enumerate(${expression(context, 'tuple', depth - 1)}, ${shortLiteral(context.random)})`,
      (context) => `list(range(${several(1 + context.random.below(2), () => shortLiteral(context.random)).join(', ')}))`,
      (context) =>
        `list(range(${shortLiteral(context.random)}, ${context.random.pick(['9', '-9', '20', '0'])}, ${isRisky(context) ? '0' : context.random.pick(['1', '2', '-1', '7'])}))`,
      (context, depth) => `[${listOf(context, 3, () => anything(context, depth))}]`,
    ],
    text: textOf('list'),
  },
  tuple: {
    own: [
      (context, depth) => `(${expression(context, 'int', depth - 1)}, ${anything(context, depth)})`,
      call('tuple', 'list'),
      binary('tuple', ['+'], 'tuple'),
      repeated('tuple'),
      part('tuple'),
    ],
    text: textOf('tuple'),
  },
  dict: {
    own: [
      dictComprehension,
      (context, depth) => `{${listOf(context, 3, (place) => `${keyOf(context, place)}: ${anything(context, depth)}`)}}`,
      (context, depth) => `dict(${expression(context, 'dict', depth - 1)}, ${context.random.pick(['a', 'b'])}=${anything(context, depth)})`,
      (context) => `dict([(${scalar(context)}, ${scalar(context)}), (${scalar(context)}, ${scalar(context)})])`,
      call('dict', 'dict'),
    ],
    text: [],
  },
  any: { own: [index, lookup, (context, depth) => expression(context, context.random.pick(['int', 'string', 'list']), depth)], text: [] },
  none: {
    own: [
      () => 'None',
      (context, depth) => `${expression(context, 'list', depth - 1)}.append(${anything(context, depth)})`,
      (context, depth) => `${expression(context, 'dict', depth - 1)}.get(${keyOf(context)})`,
    ],
    text: [],
  },
};
