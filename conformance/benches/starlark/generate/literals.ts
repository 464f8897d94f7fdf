/** Random literals, the awkward ones more often than chance would have them. */

import type { Random } from '../../fuzz/random.ts';

const EDGES = [31n, 32n, 53n, 63n, 64n, 100n].flatMap((bits) =>
  [-1n, 0n, 1n].map((more) => String((1n << bits) + more)),
);
const SMALL = [
  '0',
  '1',
  '2',
  '3',
  '4',
  '5',
  '7',
  '10',
  '16',
  '42',
  '97',
  '100',
  '255',
  '256',
  '1000',
  '65535',
];
const SPELT = ['0x0', '0xff', '0XFFFFFFFFFFFFFFFFFF', '0o17', '0O777', '0b1011', '0B1'];

/** An int of any size, without a sign. */
export function intLiteral(random: Random): string {
  if (random.below(10) < 6) return random.pick(SMALL);
  if (random.oneIn(3)) return random.pick(EDGES);
  if (random.oneIn(3)) return random.pick(SPELT);
  return `${1 + random.below(9)}${Array.from({ length: random.below(40) }, () => random.below(10)).join('')}`;
}

/** An int that may stand for a length, a count or an index. */
export const shortLiteral = (random: Random): string =>
  random.pick(['0', '1', '2', '3', '4', '-1', '-2', '5']);

const FLOATS = [
  ...[
    '0.0',
    '1.0',
    '1.5',
    '0.1',
    '2.5',
    '3.25',
    '.5',
    '5.',
    '1e10',
    '1e21',
    '1e100',
    '1e-7',
    '123456789.125',
    '1.7976931348623157e308',
  ],
  ...[
    '5e-324',
    '9007199254740993.0',
    '1e16',
    '1e17',
    '0.000012345',
    '100000.0',
    '1e3',
    '2.0e-3',
    '4.35',
    '1E5',
  ],
  ...['float("inf")', 'float("-inf")', 'float("nan")'],
];

/** A float without a sign; three of them are no literals. */
export const floatLiteral = (random: Random): string => random.pick(FLOATS);

const LETTERS = [
  ...['a', 'b', 'c', 'A', 'Z', 'x', '0', '1', '9', ' ', '-', '_', '.', ',', '%', '{', '}', '/'],
  ...['é', 'ß', 'Σ', 'ς', 'ǆ', 'İ', 'ı', 'я', '日', '本', '😀', '\u00a0', '\u2028', '\u0301'],
];
const ESCAPES = [
  '\\n',
  '\\t',
  '\\\\',
  '\\"',
  "\\'",
  '\\x41',
  '\\x7f',
  '\\101',
  '\\0',
  '\\r',
  '\\a',
  '\\v',
  '\\xff',
  '\\xc3',
];
/** Not of the version that is compared with, or of none. */
const WRONG_ESCAPES = ['\\u00e9', '\\U0001F600', '\\q', '\\x4', '\\777', '\\8'];
const WORDS = [
  '',
  'a',
  'abc',
  'abc def',
  'Hello, World',
  'one two  three',
  'a,b,c',
  'a-b-c',
  'AbC',
  'tEST',
  '12',
  '-7',
  '3.5',
  'ἀρχή',
  'naïve',
  'line\\nline\\r\\nend\\n',
];

/** A string in one of the spellings of the language. */
export function stringLiteral(random: Random): string {
  if (random.below(10) < 5) return quoted(random, random.pick(WORDS));
  const body = Array.from({ length: random.below(7) }, () => letter(random)).join('');
  if (random.oneIn(12)) return `r${quoted(random, body.replaceAll(/["'\\]/g, ''))}`;
  if (random.oneIn(12))
    return `"""${body.replaceAll('"', '')}\n${body.replaceAll(/["\\]/g, '')}"""`;
  return quoted(random, body);
}

function letter(random: Random): string {
  if (random.oneIn(1500)) return random.pick(WRONG_ESCAPES);
  return random.oneIn(5) ? random.pick(ESCAPES) : random.pick(LETTERS);
}

const quoted = (random: Random, body: string): string =>
  random.oneIn(3) ? `'${body}'` : `"${body}"`;
