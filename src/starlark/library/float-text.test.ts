// Floats as text and back.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { floatText, formatFloat, parseFloatText, shortestText } from './float-text.ts';

describe('floatText', () => {
  test.each([
    [0, '0.0'],
    [-0, '-0.0'],
    [1, '1.0'],
    [123456, '123456.0'],
    [1234567, '1.234567e+06'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [1e100, '1e+100'],
    [5e-324, '5e-324'],
    [Number.POSITIVE_INFINITY, '+inf'],
    [Number.NEGATIVE_INFINITY, '-inf'],
    [Number.NaN, 'nan'],
  ])('%d is %s', (value, expected) => {
    expect(floatText(value)).toBe(expected);
  });

  test('what it writes reads back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (value) =>
        Object.is(parseFloatText(floatText(value)), value),
      ),
    );
  });

  test('an integral float of JSON has no point', () => {
    expect([1, -0, 1e21].map(shortestText)).toEqual(['1', '-0', '1e+21']);
  });
});

describe('formatFloat', () => {
  test('ties go to the even digit', () => {
    expect([1 / 128, 3 / 128, -1 / 128].map((value) => formatFloat(value, 'f'))).toEqual([
      '0.007812',
      '0.023438',
      '-0.007812',
    ]);
    expect([1.0000005e7, 10000025, 10000015].map((value) => formatFloat(value, 'e'))).toEqual([
      '1.000000e+07',
      '1.000002e+07',
      '1.000002e+07',
    ]);
  });

  test('large numbers have all their digits', () => {
    expect(formatFloat(1e22, 'f')).toBe('10000000000000000000000.000000');
  });

  test('capital verbs write capital exponents, and F answers itself', () => {
    expect([formatFloat(1e100, 'E'), formatFloat(1e100, 'G'), formatFloat(1, 'F')]).toEqual([
      '1.000000E+100',
      '1E+100',
      '%F',
    ]);
  });
});

describe('parseFloatText', () => {
  test.each([
    '',
    ' 1',
    '1 ',
    '1e',
    '.',
    '0x1',
    '0x.p1',
    '1__0',
    '_1',
    '1_',
    '1._5',
    'infinit',
    '++1',
    '1f',
  ])('%j is no number', (text) => {
    expect(parseFloatText(text)).toBeUndefined();
  });

  test.each([
    ['0x1p-2', 0.25],
    ['0x1.fffffffffffff8p0', 2],
    ['0x1.fffffffffffff7p0', 1.9999999999999998],
    ['0x1.8p-1075', 5e-324],
    ['0x1p-1075', 0],
    ['0x1p5000', Number.POSITIVE_INFINITY],
    ['1_000.5', 1000.5],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    ['nan', Number.NaN],
  ])('%s is %d', (text, expected) => {
    expect(parseFloatText(text)).toBe(expected);
  });
});
