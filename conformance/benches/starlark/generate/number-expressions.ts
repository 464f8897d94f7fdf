/** Random expressions about numbers and truth. */

import { isRisky, listOf } from './context.ts';
import { leaf, scalar } from './leaves.ts';
import { stringLiteral } from './literals.ts';
import { anything, binary, call, type Production } from './production.ts';

const DIVISORS = {
  int: ['3', '-7', '10', '18446744073709551616', '-9007199254740993'],
  float: ['3', '2.5', '-0.3', '1e300', '-7', '0.1'],
} as const;

/** By what is seldom zero. */
const divided =
  (kind: 'int' | 'float', operators: readonly string[]): Production =>
  (context, depth, make) => {
    const by = isRisky(context)
      ? make(context, kind, depth - 1)
      : context.random.pick(DIVISORS[kind]);
    return `(${make(context, kind, depth - 1)} ${context.random.pick(operators)} ${by})`;
  };

const FACTORS = [
  '0',
  '1',
  '2',
  '-3',
  '10',
  '2147483648',
  '4294967297',
  '9007199254740991',
  '-18446744073709551616',
];

/**
 * Never of a sequence and a count of some million by mistake: it would fill the memory of the
 * machine.
 */
const product: Production = (context, depth, make) =>
  context.random.oneIn(2)
    ? `(int(${make(context, 'int', depth - 1)}) * int(${make(context, 'int', depth - 1)}))`
    : `(${make(context, 'int', depth - 1)} * ${context.random.pick(FACTORS)})`;

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
const parsedInt: Production = (context) =>
  `int(${context.random.pick(NUMERALS.slice(0, isRisky(context) ? undefined : 8)).join(', ')})`;

export const INTS: readonly Production[] = [
  binary('int', ['+', '-'], 'int'),
  product,
  divided('int', ['//', '%']),
  binary('int', ['&', '|', '^'], 'int'),
  (context, depth, make) =>
    `(${make(context, 'int', depth - 1)} ${context.random.pick(['<<', '>>'])} ${context.random.pick(['0', '1', '5', '31', '63', '70', '-1', '600'].slice(0, isRisky(context) ? 8 : 6))})`,
  (context, depth, make) =>
    `${context.random.pick(['-', '+', '~', '- -'])}${make(context, 'int', depth - 1)}`,
  (context, depth, make) =>
    `len(${make(context, context.random.pick(['list', 'tuple', 'dict', 'string']), depth - 1)})`,
  (context, depth, make) =>
    `int(${isRisky(context) ? make(context, 'float', depth - 1) : context.random.pick(['1.9', '-1.9', '1e20', '0.5'])})`,
  (context, depth, make) =>
    `int(${isRisky(context) ? make(context, 'string', depth - 1) : context.random.pick(['"12"', '"-7"', '"+5"', '"007"'])})`,
  parsedInt,
  (context) =>
    `ord(${isRisky(context) ? stringLiteral(context.random) : context.random.pick(['"a"', '"é"', '"日"', '"😀"', '"\\n"'])})`,
  call('hash', 'string'),
  (context, depth, make) =>
    `([${scalar(context)}, 5] + ${make(context, 'list', depth - 1)}).index(${isRisky(context) ? scalar(context) : '5'})`,
];

export const FLOATS: readonly Production[] = [
  binary('float', ['+', '-'], 'float'),
  (context, depth, make) =>
    `(float(${make(context, 'float', depth - 1)}) * ${make(context, 'float', depth - 1)})`,
  binary('int', ['-', '+'], 'float'),
  binary('float', ['-', '+'], 'int'),
  divided('float', ['/', '//', '%']),
  divided('int', ['/']),
  (context, depth, make) => `-${make(context, 'float', depth - 1)}`,
  call('float', 'int'),
  (context) =>
    `float(${context.random.pick(['"1.5"', '"1e3"', '"nan"', '"-Inf"', '"+5"', '"infinity"', '"0x1p-2"', '" 1"', '"1_0"', '""', '"x"'].slice(0, isRisky(context) ? undefined : 6))})`,
];

export const BOOLS: readonly Production[] = [
  binary('int', ['<', '<=', '>', '>=', '==', '!='], 'int'),
  binary('float', ['<', '<=', '>', '>=', '==', '!='], 'int'),
  binary('float', ['<', '==', '!=', '>='], 'float'),
  binary('string', ['<', '<=', '>', '==', '!='], 'string'),
  (context, depth, make) =>
    binary('list', isRisky(context) ? ['<', '>='] : ['==', '!='], 'list')(context, depth, make),
  (context, depth, make) =>
    binary('tuple', isRisky(context) ? ['<=', '>'] : ['==', '!='], 'tuple')(context, depth, make),
  (context) =>
    `([${listOf(context, 3, () => leaf(context, 'int'))}] ${context.random.pick(['<', '<=', '>', '>='])} [${listOf(context, 3, () => leaf(context, 'int'))}])`,
  binary('dict', ['==', '!='], 'dict'),
  (context, depth, make) =>
    `(${anything(context, depth, make)} ${context.random.pick(['==', '!='])} ${anything(context, depth, make)})`,
  (context, depth, make) =>
    `(${scalar(context)} ${context.random.pick(['in', 'not in'])} ${make(context, context.random.pick(['list', 'tuple', 'dict']), depth - 1)})`,
  binary('string', ['in', 'not in'], 'string'),
  (context, depth, make) => `(not ${anything(context, depth, make)})`,
  (context, depth, make) =>
    `${context.random.pick(['any', 'all', 'bool'])}(${make(context, 'list', depth - 1)})`,
  binary('bool', ['and', 'or'], 'bool'),
  (context) =>
    `hasattr(${scalar(context)}, ${context.random.pick(['"append"', '"upper"', '"items"'])})`,
];
