/** Random expressions about text: methods, `%` and `format`. */

import type { Context, Kind } from './context.ts';
import { isRisky, several } from './context.ts';
import { shortLiteral } from './literals.ts';
import { anything, binary, type Make, part, type Production, repeated } from './production.ts';

const text = (context: Context, depth: number, make: Make): string => {
  const made = make(context, 'string', depth - 1);
  return /^["'r(]|^\w+$/.test(made) ? made : `(${made})`;
};

const stringMethod =
  (name: string, ...kinds: readonly Kind[]): Production =>
  (context, depth, make) =>
    `${text(context, depth, make)}.${name}(${kinds.map((kind) => make(context, kind, 0)).join(', ')})`;

/** A separator may not be empty. */
const separator = (context: Context, make: Make): string =>
  isRisky(context)
    ? make(context, 'string', 0)
    : context.random.pick(['","', '" "', '"a"', '"-"', '"é"', '"\\n"', '"bc"']);

const withBounds =
  (name: string, isStrict = false): Production =>
  (context, depth, make) => {
    if (isStrict && !isRisky(context))
      return `("xab" + ${text(context, depth, make)}).${name}("ab")`;
    const bounds = several(context.random.below(3), () =>
      context.random.oneIn(6) ? 'None' : shortLiteral(context.random),
    );
    return `${text(context, depth, make)}.${name}(${[make(context, 'string', 0), ...bounds].join(', ')})`;
  };

const withMaximum =
  (name: string): Production =>
  (context, depth, make) => {
    const chosen = context.random.oneIn(4) ? 'None' : separator(context, make);
    const maximum = context.random.oneIn(2) ? `, ${shortLiteral(context.random)}` : '';
    return `${text(context, depth, make)}.${name}(${context.random.oneIn(4) ? '' : `${chosen}${maximum}`})`;
  };

/** Strings that no method makes. */
export const TEXTS: readonly Production[] = [
  binary('string', ['+'], 'string'),
  repeated('string'),
  part('string'),
  (context, depth, make) =>
    `${context.random.pick(['str', 'repr', 'type'])}(${anything(context, depth, make)})`,
  (context) =>
    `chr(${context.random.pick(['65', '233', '0x65e5', '0x1F600', '0', '55296', '-1', '0x110000'].slice(0, isRisky(context) ? undefined : 6))})`,
  (context, depth, make) => `str(${make(context, 'float', depth - 1)})`,
  (context, depth, make) => `repr(${make(context, 'string', depth - 1)})`,
];

/** Methods of strings that give a string. */
export const TEXT_TO_TEXT: readonly Production[] = [
  ...['upper', 'lower', 'title', 'capitalize', 'strip', 'lstrip', 'rstrip'].map((name) =>
    stringMethod(name),
  ),
  ...['strip', 'lstrip', 'rstrip'].map((name) => stringMethod(name, 'string')),
  stringMethod('replace', 'string', 'string'),
  (context, depth, make) =>
    `${stringMethod('replace', 'string', 'string')(context, depth, make).slice(0, -1)}, ${shortLiteral(context.random)})`,
  (context, depth, make) =>
    `${text(context, depth, make)}.join([${several(context.random.below(4), () => make(context, 'string', 0)).join(', ')}])`,
  percent,
  formatted,
];

export const TEXT_TO_INT: readonly Production[] = [
  ...['find', 'rfind', 'count'].map((name) => withBounds(name)),
  ...['index', 'rindex'].map((name) => withBounds(name, true)),
];

export const TEXT_TO_BOOL: readonly Production[] = [
  ...['isalpha', 'isdigit', 'isalnum', 'isspace', 'islower', 'isupper', 'istitle'].map((name) =>
    stringMethod(name),
  ),
  ...['startswith', 'endswith'].map((name) => withBounds(name)),
  (context, depth, make) =>
    `${text(context, depth, make)}.startswith((${make(context, 'string', 0)}, ${make(context, 'string', 0)}))`,
];

export const TEXT_TO_LIST: readonly Production[] = [
  ...['split', 'rsplit'].map(withMaximum),
  (context, depth, make) =>
    `${text(context, depth, make)}.splitlines(${context.random.pick(['', 'True', 'False'])})`,
  (context, depth, make) =>
    `list(${text(context, depth, make)}.${context.random.pick(['elems', 'elem_ords', 'codepoints', 'codepoint_ords'])}())`,
];

export const TEXT_TO_TUPLE: readonly Production[] = ['partition', 'rpartition'].map(
  (name) => (context, depth, make) =>
    `${text(context, depth, make)}.${name}(${separator(context, make)})`,
);

const CONVERSIONS: readonly (readonly [string, Kind])[] = [
  ...(['s', 'r'] as const).flatMap((letter) =>
    (['int', 'string', 'list', 'float', 'dict', 'tuple', 'none'] as const).map(
      (kind) => [letter, kind] as const,
    ),
  ),
  ...(['d', 'i', 'o', 'x', 'X'] as const).map((letter) => [letter, 'int'] as const),
  ...(['e', 'f', 'g', 'E', 'F', 'G', 'd'] as const).map((letter) => [letter, 'float'] as const),
];

function percent(context: Context, depth: number, make: Make): string {
  const { random } = context;
  const chosen = several(random.below(4), () => '').map(() => random.pick(CONVERSIONS));
  const values = chosen.map(([, kind]) => make(context, kind, depth - 1));
  if (isRisky(context)) values.push(make(context, 'int', 0));
  if (random.oneIn(20))
    return `"%c%c" % (${random.pick(['65', '233', '0x1F600', '"x"', '"é"'])}, ${isRisky(context) ? '"ab"' : '"y"'})`;
  const template = chosen
    .map(
      ([letter]) => `${random.pick(['', 'x', ' ', '%%', 'é'])}%${isRisky(context) ? 'q' : letter}`,
    )
    .join('');
  if (random.oneIn(30))
    return `"%(a)s-%(b)d" % {"a": ${make(context, 'string', 0)}, "b": ${make(context, 'int', 0)}}`;
  const [only] = values;
  const isBare =
    values.length === 1 && only !== undefined && chosen[0]?.[1] !== 'tuple' && random.oneIn(2);
  return `"${template}" % ${isBare ? `(${only})` : `(${values.map((value) => `${value},`).join(' ')})`}`;
}

const TEMPLATES: readonly (readonly [
  template: string,
  positional: number,
  named: readonly string[],
])[] = [
  ['{}', 1, []],
  ['{}-{}', 2, []],
  ['{1}{0}', 2, []],
  ['{a} {b!r}', 0, ['a', 'b']],
  ['{!r}', 1, []],
  ['{!s}{{}}', 1, []],
  ['{0!r}{a}', 1, ['a']],
  ['{}{0}', 1, []],
  ['{', 1, []],
  ['}', 1, []],
  ['{a.b}', 0, ['a']],
  ['{0[1]}', 1, []],
  ['{:3}', 1, []],
  ['{!x}', 1, []],
  ['{2}', 2, []],
  ['{z}', 0, ['a']],
  ['é{}', 1, []],
];

function formatted(context: Context, depth: number, make: Make): string {
  const { random } = context;
  const [template, positional, named] = random.pick(
    TEMPLATES.slice(0, isRisky(context) ? undefined : 7),
  );
  const any = (): string =>
    make(context, random.pick(['int', 'string', 'float', 'list', 'bool']), depth - 1);
  return `"${template}".format(${[...several(positional, any), ...named.map((name) => `${name}=${any()}`)].join(', ')})`;
}
