/** Random programs of the dialect. The same seed makes the same program. */

import { createRandom, type Random } from '../fuzz/random.ts';
import { callOf, expression } from './generate/expressions.ts';
import {
  type Callable,
  type Context,
  type Kind,
  type Variable,
  within,
} from './generate/context.ts';
import { block, definition } from './generate/statements.ts';

/** The function that is called once the module is made and its globals are frozen. */
export const ENTRY = 'main';

const GLOBAL_KINDS: readonly Kind[] = ['int', 'string', 'list', 'dict', 'tuple', 'float'];

/** The source of one program. About a third fail, each in one of many ways. */
export function generateProgram(seed: number): string {
  const random = createRandom(seed);
  const source = wellFormed(random);
  return random.oneIn(8) ? damaged(source, random) : source;
}

function wellFormed(random: Random): string {
  let made = 0;
  const fresh = (stem: string): string => {
    made += 1;
    return `${stem}${made}`;
  };
  let context: Context = {
    random,
    variables: [],
    functions: [],
    loops: 0,
    mistakes: random.pick([30, 200, 100_000]),
    fresh,
  };
  const lines: string[] = [];
  for (const kind of GLOBAL_KINDS.filter(() => !random.oneIn(3))) {
    const variable: Variable = { name: fresh('G'), kind };
    lines.push(`${variable.name} = ${expression(context, kind, 1)}`);
    context = within(context, { variables: [...context.variables, variable] });
  }
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    const written = definition(context, fresh('f'), 2);
    lines.push('', ...written.lines, '');
    context = withCalls(context, written.made, lines);
  }
  for (let count = random.below(4); count > 0; count -= 1) lines.push(topLevel(context));
  if (random.oneIn(12)) lines.push(random.pick(STATIC_MISTAKES));
  if (random.oneIn(3)) lines.push('', ...entry(context));
  return `${lines.join('\n')}\n`;
}

function withCalls(context: Context, made: Callable, lines: string[]): Context {
  const result: Variable = { name: context.fresh('R'), kind: made.returns };
  const known = within(context, { functions: [...context.functions, made] });
  lines.push(`${result.name} = ${callOf(known, made, 2)}`);
  return within(known, { variables: [...context.variables, result] });
}

function topLevel(context: Context): string {
  const { random } = context;
  const kind = random.pick(GLOBAL_KINDS);
  const made = expression(context, kind, 4);
  if (random.oneIn(3)) return `print(${made})`;
  // A name of the universe may be taken, and a global may not be taken twice.
  if (random.oneIn(40))
    return `${random.pick(['len', 'str', 'list', 'G1', 'f2', 'True'])} = ${made}`;
  return `${context.fresh('R')} = ${made}`;
}

const STATIC_MISTAKES = [
  ...[
    'for i in [1]:\n  pass',
    'if True:\n  pass',
    'while True:\n  pass',
    'return 1',
    'break',
    'continue',
    'G1 = 2',
    'f1 = 1\nf1 += 1',
    'x.y = 1',
  ],
  ...[
    'def d(a, a): pass',
    'def d(a=1, b): pass',
    'def d(*a, *b): pass',
    'def d(**a, b): pass',
    'def d(*, a): return a',
    'def d(*, **k): pass',
  ],
  ...[
    'f(a=1, a=2)',
    'f(a=1, 2)',
    'f(*[1], *[2])',
    'f(**{}, **{})',
    'f(**{}, *[])',
    'f(*[1], 2)',
    '1 = 2',
    'f() = 1',
    '(a, b) += 1',
    '[a for a in a]',
  ],
  ...[
    'lambda: undefined_one',
    'len = 3\nlen = 4',
    'print(undfined)',
    'def d():\n  while 1: pass',
    'def d():\n  load("a", "b")',
    'load("a.star", "b")',
  ],
  ...[
    'def d():\n  return set()',
    'def d(x):\n  def e(): return x\n  return e',
    'a, a = 1, 2',
    '[b, (b, c)] = 1, 2',
    'd = {1: 2, 1: 3}',
    '"a" "b"',
    'x = 1 < 2 < 3',
  ],
  ...[
    'def d():\n  break',
    'def d():\n  for x in []:\n    def e():\n      break',
    'def d(): d()\nd()',
    'def d(): return [e() for e in [d]]\nd()',
    'not 1 == 2',
  ],
];

/** Runs after the globals are frozen: what it changes of them must fail. */
function entry(context: Context): readonly string[] {
  const { lines } = block(context, 1 + context.random.below(3), 1);
  return [
    `def ${ENTRY}():`,
    ...lines.map((line) => `  ${line}`),
    `  return ${expression(context, 'tuple', 2)}`,
  ];
}

const TOKEN = /\s+|\w+|"[^"\n]*"|'[^'\n]*'|[^\s\w]/g;
const STRAYS = [
  ...[
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    ':',
    ',',
    '=',
    '==',
    '.',
    '*',
    '**',
    '\n',
    '\n  ',
    '  ',
    '\\\n',
    ';',
    '#',
    '"',
    "'",
    '"""',
    '@',
    '$',
    '!',
    '?',
    '0',
    '08',
  ],
  ...[
    '1.',
    '1e',
    '0x',
    '12ab',
    '1.2.3',
    'if',
    'else',
    'for',
    'in',
    'not',
    'and',
    'or',
    'def',
    'return',
    'break',
    'continue',
    'pass',
    'lambda',
    'load',
  ],
  ...[
    'while',
    'class',
    'import',
    'is',
    'None',
    'undefined_name',
    'set([1])',
    'é',
    '+=',
    '->',
    '//',
    '<<',
    '~',
    'a = b = 1',
    'del',
    'r',
    '\t',
    '%',
    '1 2',
  ],
];

/** A program with one or two tokens lost, doubled, exchanged or added. */
function damaged(source: string, random: Random): string {
  const tokens = source.match(TOKEN) ?? [];
  for (let count = 1 + random.below(2); count > 0; count -= 1) {
    const at = random.below(tokens.length);
    const token = tokens[at] ?? '';
    const choice = random.below(5);
    if (choice === 0) tokens.splice(at, 1);
    else if (choice === 1) tokens.splice(at, 0, token);
    else if (choice === 2) tokens.splice(at, 1, random.pick(tokens));
    else tokens.splice(at, 0, random.pick(STRAYS));
  }
  return tokens.join('');
}
