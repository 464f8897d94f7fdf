// Texts with values put in. Each expectation is what the reference interpreter answers.

import { describe, expect, test } from 'vitest';
import { errorOf, evaluate } from './evaluate.fixture.ts';

const ANSWERS: readonly (readonly [expression: string, expected: string])[] = [
  ['"%F" % 1.0', '"%F"'],
  ['"%f" % (1/128.)', '"0.007812"'],
  ['"%e" % 1e100', '"1.000000e+100"'],
  ['"%E" % 1', '"1.000000E+00"'],
  ['"%G" % 1e100', '"1E+100"'],
  ['"%g" % 0', '"0.0"'],
  ['"%g" % -0.0', '"-0.0"'],
  ['"%c" % 0xD800', '"�"'],
  ['"%c" % 65', '"A"'],
  ['"%x" % -255', '"-ff"'],
  ['"%X" % 255', '"FF"'],
  ['"%o" % -8', '"-10"'],
  ['"%d" % 1e20', '"100000000000000000000"'],
  ['"%(a)s" % {"a":1}', '"1"'],
  ['"%(a)s %(a)s" % {"a":1}', '"1 1"'],
  ['"%s" % {"a":1}', '"{\\"a\\": 1}"'],
  ['"%(a)% x" % {"a":1}', '"% x"'],
  ['"%(a)%" % {"a":1}', '"%"'],
  ['"x" % ()', '"x"'],
  ['"{!r:}".format("a")', '"\\"a\\""'],
  ['"{{}}".format(a=1)', '"{}"'],
  ['"%d %s %r %x" % (1, "a", "a", 255)', '"1 a \\"a\\" ff"'],
  ['"%s" % (("a","b"),)', '"(\\"a\\", \\"b\\")"'],
  ['"%c%c" % ("é", 233)', '"éé"'],
  ['"%x" % 3.9', '"3"'],
  ['"é%s" % "ü"', '"éü"'],
  ['"%(é)s" % {"é": 1}', '"1"'],
  ['"{} {}".format(1, "a")', '"1 a"'],
  ['"{x} {0}".format(1, x="é")', '"é 1"'],
  ['"{0!r}{0!s}{0}".format("a")', '"\\"a\\"aa"'],
  ['"a".format(1,2,x=3)', '"a"'],
];

const ERRORS: readonly (readonly [expression: string, expected: string])[] = [
  ['"%z" % 1', 'unknown conversion %z'],
  ['"%\\xff" % 1', 'unknown conversion %ÿ'],
  ['"%d" % "x"', '%d format requires integer: cannot convert string to int'],
  ['"%(b)s" % {"a":1}', 'key not found: b'],
  ['"%(a)" % {"a":1}', 'incomplete format'],
  ['"%(a" % {"a":1}', 'incomplete format key'],
  ['"%%%" % ()', 'not enough arguments for format string'],
  ['"%" % 1', 'incomplete format'],
  ['"x" % {}', 'too many arguments for format string'],
  ['"x" % 1', 'too many arguments for format string'],
  ['"%s%s" % (1,)', 'not enough arguments for format string'],
  ['"{!x}".format(1)', 'format: unknown conversion "x"'],
  ['"{:3}".format(1)', 'format spec features not supported in replacement fields: 3'],
  [
    '"{0}{}".format(1)',
    'format: cannot switch from manual field specification to automatic field numbering',
  ],
  [
    '"{}{0}".format(1)',
    'format: cannot switch from automatic field numbering to manual field specification',
  ],
  [
    '"{a.b}".format(a=1)',
    'format: attribute syntax x.y is not supported in replacement fields: a.b',
  ],
  [
    '"{a[0]}".format(a=1)',
    'format: element syntax a[i] is not supported in replacement fields: a[0]',
  ],
  ['"{{}".format(a=1)', "format: single '}' in format"],
  ['"{".format(a=1)', "format: unmatched '{' in format"],
  ['"{a{b}}".format(a=1)', 'format: nested replacement fields not supported'],
  ['"{999999999999999999999}".format(a=1)', 'format: keyword 999999999999999999999 not found'],
  ['"{!}".format(1)', 'format: unknown conversion ""'],
  ['"%c" % "ab"', '%c format requires a single-character string'],
  ['"%c" % ""', '%c format requires a single-character string'],
  ['"%c" % -1', '%c format requires a valid Unicode code point, got -1'],
  ['"%c" % 1.5', '%c format requires int or single-character string, not float'],
  ['"%c" % (1<<40)', '%c format requires a valid Unicode code point, got 1099511627776'],
  ['"%e" % "a"', '%e format requires float, not string'],
  ['"%d" % None', '%d format requires integer: cannot convert NoneType to int'],
  ['"%d" % float("inf")', '%d format requires integer: cannot convert float infinity to integer'],
  ['"%i" % True', '%i format requires integer: cannot convert bool to int'],
  ['"%(x)s" % {"é": 1}', 'key not found: x'],
  ['"%(é)s" % {"x": 1}', 'key not found: é'],
  ['"{}}".format(1)', "format: single '}' in format"],
  ['"}{".format(1)', "format: single '}' in format"],
  ['"{é}".format()', 'format: keyword é not found'],
  ['"{!é}".format(1)', 'format: unknown conversion "é"'],
  ['"{:é}".format(1)', 'format spec features not supported in replacement fields: é'],
  ['"{:!r}".format(1)', 'format: keyword : not found'],
];

describe('percent and format', () => {
  test.each(ANSWERS)('%s is %s', (expression, expected) => {
    expect(evaluate(expression)).toBe(expected);
  });

  test.each(ERRORS)('%s is refused: %s', (expression, message) => {
    expect(errorOf(expression).message).toBe(message);
  });
});
