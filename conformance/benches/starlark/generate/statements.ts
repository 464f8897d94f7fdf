/** Random statements of a function's body. */

import {
  type Callable,
  type Context,
  isRisky,
  type Kind,
  several,
  type Variable,
  within,
} from './context.ts';
import { callOf, expression } from './expressions.ts';
import { shortLiteral, stringLiteral } from './literals.ts';
import { BODY_KINDS, randomParameters, spell } from './parameters.ts';

/** Lines of a block, and the names it leaves behind. */
export interface Written {
  readonly lines: readonly string[];
  readonly context: Context;
}

const indent = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);
const DEPTH = 3;

/** A block of up to `count` statements. */
export function block(context: Context, count: number, level: number): Written {
  let current = context;
  const lines: string[] = [];
  for (let made = 0; made < count; made += 1) {
    const written = statement(current, level);
    lines.push(...written.lines);
    current = written.context;
  }
  return { lines: lines.length === 0 ? ['pass'] : lines, context: current };
}

function statement(context: Context, level: number): Written {
  const { random } = context;
  const compound = level > 0 ? random.below(10) : 10;
  if (compound === 0) return conditional(context, level);
  if (compound <= 2) return loop(context, level);
  if (compound === 3 && context.loops === 0) return nested(context, level);
  return random.pick(SIMPLE)(context);
}

type Simple = (context: Context) => Written;
const plain = (context: Context, ...lines: readonly string[]): Written => ({ lines, context });

const assign: Simple = (context) => {
  const kind = context.random.pick(BODY_KINDS);
  const known = context.variables.filter(
    (variable) => variable.kind === kind && variable.isLocal === true,
  );
  const name =
    known.length > 0 && context.random.oneIn(3)
      ? context.random.pick(known).name
      : context.fresh('v');
  return named(context, { name, kind, isLocal: true }, `${name} = ${bounded(context, kind)}`);
};

/**
 * Inside loops what a name holds must not grow with every turn: two of them would double forever.
 */
function bounded(context: Context, kind: Kind): string {
  const made = expression(context, kind, context.loops > 0 ? DEPTH - 1 : DEPTH);
  if (context.loops === 0) return made;
  if (kind === 'int') return `(${made}) % 1000003`;
  if (kind === 'dict') return context.random.oneIn(2) ? `dict(${made})` : made;
  return kind === 'string' || kind === 'list' || kind === 'tuple' ? `(${made})[:6]` : made;
}

const named = (context: Context, variable: Variable, line: string): Written => ({
  lines: [line],
  context: within(context, {
    variables: [...context.variables.filter(({ name }) => name !== variable.name), variable],
  }),
});

const augment: Simple = (context) => {
  const { random } = context;
  const local = context.variables.filter(({ isLocal }) => isLocal === true);
  if (local.length === 0) return assign(context);
  const { name, kind } = random.pick(local);
  if (
    (kind === 'bool' || kind === 'dict' || kind === 'none' || kind === 'any') &&
    !isRisky(context)
  )
    return show(context);
  if (kind === 'list')
    return plain(context, `${name} += ${random.oneIn(4) ? 'range(3)' : '[1, "x"]'}`);
  if (kind === 'string') return plain(context, `${name} += "${random.pick(['x', 'é', ''])}"`);
  if (kind === 'tuple') return plain(context, `${name} += (1,)`);
  if (kind === 'float')
    return plain(
      context,
      `${name} ${random.pick(['+=', '-=', '/='])} ${expression(context, 'float', 1)}`,
    );
  const operator = random.pick([
    '+=',
    '-=',
    '//=',
    '%=',
    '|=',
    '^=',
    '&=',
    '>>=',
    context.loops > 0 ? '-=' : '*=',
  ]);
  return plain(
    context,
    `${name} ${operator} ${operator === '>>=' || operator === '*=' ? '2' : expression(context, 'int', 1)}`,
  );
};

const destructure: Simple = (context) => {
  const [one, two, three] = [context.fresh('v'), context.fresh('v'), context.fresh('v')];
  const int = (): string => bounded(context, 'int');
  const line = context.random.pick([
    `${one}, ${two} = ${int()}, ${int()}`,
    `(${one}, [${two}, ${three}]) = (${int()}, [${int()}, ${int()}])`,
    isRisky(context)
      ? `[${one}, ${two}] = ${expression(context, 'list', 1)}`
      : `[${one}, ${two}] = [${int()}, ${int()}]`,
    isRisky(context)
      ? `${one}, ${two}, ${three} = ${expression(context, 'tuple', 1)}`
      : `${one}, ${two}, ${three} = ${int()}, 2, ${int()}`,
  ]);
  const names = [one, two, three].filter((name) => line.split('=')[0]?.includes(name));
  const variables = names.map((name) => ({ name, kind: 'int' as const, isLocal: true }));
  return {
    lines: [line],
    context: within(context, { variables: [...context.variables, ...variables] }),
  };
};

const nameOf = (context: Context, kind: Kind): string => {
  const known = context.variables.filter((variable) => variable.kind === kind);
  return known.length > 0 ? context.random.pick(known).name : expression(context, kind, 0);
};
const any = (context: Context, depth = 1): string =>
  expression(context, context.random.pick(BODY_KINDS), depth);

/**
 * What is put into containers holds none: one that takes copies of itself soon has a text without
 * end.
 */
const flat = (context: Context): string =>
  expression(context, context.random.pick(['int', 'string', 'float', 'bool']), 1);

const mutateList: Simple = (context) => {
  const { random } = context;
  const list = nameOf(context, 'list');
  const position = shortLiteral(random);
  return plain(
    context,
    random.pick([
      `${list}.append(${flat(context)})`,
      `${list}.extend(${isRisky(context) ? stringLiteral(random) : random.pick(['[1, "x"]', 'range(3)', '{"a": 1}', '(None,)', '"é".elems()'])})`,
      `${list}.insert(${position}, ${flat(context)})`,
      guarded(context, list, `print(${list}.pop(${random.oneIn(2) ? position : ''}))`),
      `${list}.insert(0, 7); ${list}.remove(${isRisky(context) ? expression(context, 'int', 0) : '7'})`,
      guarded(context, list, `${list}[${position}] = ${flat(context)}`),
      `${list}.insert(0, 1); ${list}[0] += ${expression(context, 'int', 0)}`,
      `${list}.clear()`,
    ]),
  );
};

/** An index that is most likely there. */
const guarded = (context: Context, list: string, line: string): string =>
  isRisky(context) ? line : `${list}.extend([0, 1, 2, 3, 4, 5]); ${line}`;

const mutateDict: Simple = (context) => {
  const { random } = context;
  const dict = nameOf(context, 'dict');
  const key = expression(context, random.pick(['string', 'int', 'string', 'tuple']), 0);
  return plain(
    context,
    random.pick([
      `${dict}[${key}] = ${flat(context)}`,
      `${dict}[${key}] = ${flat(context)}`,
      `${dict}.update([(${key}, ${flat(context)})], z=${flat(context)})`,
      `print(${dict}.setdefault(${key}, ${flat(context)}))`,
      `print(${dict}.pop(${key}, ${flat(context)}))`,
      isRisky(context)
        ? `print(${dict}.pop(${key}))`
        : `${dict}[${key}] = 1; print(${dict}.pop(${key}), ${dict})`,
      isRisky(context)
        ? `print(${dict}.popitem())`
        : `${dict}[${key}] = 1; print(${dict}.popitem(), ${dict})`,
      `${dict}.clear()`,
      isRisky(context) ? `${dict}[${key}] += 1` : `${dict}[${key}] = 1.5; ${dict}[${key}] += 1`,
    ]),
  );
};

const show: Simple = (context) => {
  const end = context.random.oneIn(10) ? ', sep="|"' : '';
  return plain(
    context,
    `print(${several(1 + context.random.below(3), () => any(context, 2)).join(', ')}${end})`,
  );
};
const useCall: Simple = (context) =>
  context.functions.length === 0
    ? show(context)
    : plain(context, `print(${callOf(context, context.random.pick(context.functions), 2)})`);
const failing: Simple = (context) =>
  isRisky(context)
    ? plain(context, `fail(${any(context)}, ${any(context)})`)
    : plain(context, any(context, 2));

const SIMPLE: readonly Simple[] = [
  assign,
  assign,
  assign,
  augment,
  augment,
  destructure,
  mutateList,
  mutateDict,
  show,
  show,
  useCall,
  failing,
];

function conditional(context: Context, level: number): Written {
  const { random } = context;
  const branch = (): readonly string[] =>
    indent(block(context, 1 + random.below(2), level - 1).lines);
  const lines = [`if ${expression(context, 'bool', 2)}:`, ...branch()];
  if (random.oneIn(3)) lines.push(`elif ${expression(context, 'bool', 2)}:`, ...branch());
  if (random.oneIn(2)) lines.push('else:', ...branch());
  return { lines, context };
}

function loop(context: Context, level: number): Written {
  const { random } = context;
  const name = context.fresh('i');
  const other = context.fresh('i');
  const list = nameOf(context, 'list');
  const [head, ...variables] = random.pick<readonly [string, ...Variable[]]>([
    [`for ${name} in range(${shortLiteral(random)}):`, { name, kind: 'int' }],
    [
      `for ${name} in range(${shortLiteral(random)}, ${shortLiteral(random)}, ${random.pick(['1', '2', '-1'])}):`,
      { name, kind: 'int' },
    ],
    [`for ${name} in ${isRisky(context) ? list : `list(${list})`}:`, { name, kind: 'any' }],
    [
      `for ${name}, ${other} in enumerate(${list}):`,
      { name, kind: 'int' },
      { name: other, kind: 'any' },
    ],
    [`for ${name}, ${other} in ${nameOf(context, 'dict')}.items():`, { name: other, kind: 'any' }],
    [
      `for ${name} in ${isRisky(context) ? nameOf(context, 'dict') : `list(${nameOf(context, 'dict')})`}:`,
      { name, kind: 'any' },
    ],
    [`for ${name} in ${expression(context, 'string', 1)}.codepoints():`, { name, kind: 'string' }],
  ]);
  const inside = within(context, {
    variables: [...context.variables, ...variables],
    loops: context.loops + 1,
  });
  const lines = [...block(inside, 1 + random.below(3), level - 1).lines];
  const stop = `if ${expression(inside, 'bool', 1)}:`;
  if (random.oneIn(3))
    lines.splice(
      random.below(lines.length + 1),
      0,
      ...(lines.some((line) => line.startsWith(' '))
        ? []
        : [stop, `  ${random.pick(['break', 'continue', 'pass'])}`]),
    );
  if (isRisky(context)) lines.push(`${list}.append(1)`);
  return { lines: [head, ...indent(lines)], context };
}

/** A function and its lines. Its own names are not known outside. */
export function definition(
  context: Context,
  name: string,
  level: number,
): { readonly lines: readonly string[]; readonly made: Callable } {
  const { random } = context;
  const parameters = randomParameters(context);
  const hasStar = parameters.some(({ form }) => form === 'star');
  const usable = parameters.filter(({ form }) => form !== 'named' || hasStar);
  const returns = random.pick(BODY_KINDS);
  const inner = within(context, {
    variables: [
      ...context.variables.map(asOuter),
      ...usable.map((one) => ({ ...one, isLocal: true })),
    ],
    loops: 0,
  });
  const body = block(inner, 1 + random.below(5), level - 1);
  const result = `return ${expression(body.context, returns, DEPTH)}`;
  const head = `def ${name}(${usable.map((parameter) => spell(context, parameter)).join(', ')}):`;
  return {
    lines: [head, ...indent([...body.lines, ...(random.oneIn(10) ? [] : [result])])],
    made: { name, parameters: usable, returns },
  };
}

const asOuter = ({ name, kind }: Variable): Variable => ({ name, kind });

function nested(context: Context, level: number): Written {
  const { lines, made } = definition(context, context.fresh('g'), level);
  return { lines, context: within(context, { functions: [...context.functions, made] }) };
}
