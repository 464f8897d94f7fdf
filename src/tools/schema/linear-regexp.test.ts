import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAlliumError } from '../../core/contract/errors.ts';
import { linearPattern, linearRegExp } from './linear-regexp.ts';
import { metered, STOPPED } from './steps.ts';

describe('linear-regexp', () => {
  it('loads the engine with the first pattern and not before', () => {
    const module = resolve(
      import.meta.dirname,
      '../../../dist/programs/src/tools/schema/linear-regexp.js',
    );
    const program = `
      import { createRequire } from 'node:module';
      import { linearPattern } from ${JSON.stringify(pathToFileURL(module).href)};
      const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('re2js'));
      const before = isLoaded();
      linearPattern('a');
      console.log(before, isLoaded());`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
    });

    expect(stdout).toBe('false true\n');
  });
});

const TEXTS = [
  ...[
    '',
    'a',
    'A',
    'ab',
    'aab',
    'b',
    '1',
    'a1',
    '-',
    '.',
    '_',
    ' ',
    '\t',
    '\n',
    'a\n',
    '\na',
    '\r',
    '\v',
    '\f',
    '\b',
    '\0',
    '\u0001',
  ],
  ...[
    '[',
    ']',
    '{',
    '}',
    'a{',
    '(',
    '/',
    '\\',
    '^',
    '$',
    '&',
    ':',
    '~',
    'x',
    'é',
    'Ω',
    '😀',
    '\ud83d',
    '\u1234',
  ],
  ...[
    '\u00a0',
    '\u1680',
    '\u180e',
    '\u200a',
    '\u200b',
    '\u2028',
    '\u202f',
    '\u205f',
    '\u3000',
    '\ufeff',
    'z 9',
  ],
];

const PATTERNS = [
  ...[
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '[\\s]',
    '[\\S]',
    '[^\\s]',
    '[^\\S]',
    '[\\s\\S]',
    '\\b',
    '\\B',
    '[\\b]',
    '[^\\w]',
  ],
  ...[
    '.',
    '^.$',
    '^a$',
    '^$',
    '[]',
    '[^]',
    '[[:alpha]',
    '[^a]',
    '[-a]',
    '[a-]',
    '[a-c]',
    '[\\]]',
    '[\\^]',
    '[.]',
    '[&~:]',
    '[a\\-c]',
  ],
  ...[
    '\\/',
    '\\.',
    '\\^',
    '\\$',
    '\\\\',
    '\\u1234',
    '\\u{1F600}',
    '\\ud83d\\ude00',
    '[\\ud83d\\ude00]',
    '\\x41',
    '\\cA',
    '\\0',
    '\\t',
  ],
  ...[
    '(?<name>a)b',
    '(?:a|b)+',
    'a*?b',
    '^a{2}',
    '^a{1,2}b$',
    '^a{2,}',
    '(a|b)*',
    '^(a+)+$',
    'a|',
    '[\\u0041-\\u005a]',
  ],
  ...[
    '\\p{L}',
    '\\P{L}',
    '[\\p{L}\\d]',
    '\\p{Lu}',
    '\\p{Letter}',
    '\\p{Script=Greek}',
    '\\p{sc=Greek}',
    '\\p{General_Category=Lu}',
    '\\p{gc=Nd}',
  ],
];

describe('linearPattern', () => {
  it.each(PATTERNS)('finds with %j what JavaScript finds', (pattern) => {
    const native = new RegExp(pattern, 'u');
    const linear = linearPattern(pattern);

    expect(TEXTS.filter((text) => linear.test(text))).toEqual(
      TEXTS.filter((text) => native.test(text)),
    );
  });

  it('finds what JavaScript finds, whatever the pieces', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '.',
      '\\d',
      '\\s',
      '[ab]',
      '[^a]',
      '^',
      '$',
      '\\b',
      '[\\w-]',
      '\\u0061',
      '(?:a|b)',
      '(b)',
      '|',
    );
    const repeated = fc
      .tuple(
        fc.constantFrom('a', '[ab]', '(?:ab|a)', '\\w'),
        fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '*?', '{0,}'),
      )
      .map(([atom, times]) => atom + times);
    const pattern = fc
      .array(fc.oneof(piece, repeated), { maxLength: 6 })
      .map((parts) => parts.join(''));
    const text = fc
      .array(fc.constantFrom('a', 'b', '1', ' ', '-', '\n', 'é'), { maxLength: 8 })
      .map((parts) => parts.join(''));

    fc.assert(
      fc.property(
        pattern,
        text,
        (one, other) => linearPattern(one).test(other) === new RegExp(one, 'u').test(other),
      ),
    );
  });

  it.each([
    ['^[\\w-.]+$', 'a-.', '+'],
    ['^[.-\\d]+$', '.-1', '/'],
    ['^\\-$', '-', 'a'],
    ['^\\_$', '_', 'a'],
    ['^{a}$', '{a}', 'a'],
    ['^(?P<n>a)$', 'a', 'n'],
  ])('reads %j as people mean it, which strict JavaScript refuses', (pattern, inside, outside) => {
    expect(() => new RegExp(pattern, 'u')).toThrow(SyntaxError);
    expect([linearPattern(pattern).test(inside), linearPattern(pattern).test(outside)]).toEqual([
      true,
      false,
    ]);
  });

  it.each([
    ['(?=a)', /looks ahead/],
    ['(?!a)', /looks ahead/],
    ['(?<=a)', /looks ahead/],
    ['(?<!a)', /looks ahead/],
    ['(a)\\1', /backreference/],
    ['(?<n>a)\\k<n>', /backreference/],
    ['(?i)a', /unknown kind of group/],
    ['(?#x)', /unknown kind of group/],
    ['\\Aa\\Z', /an escape that JavaScript/],
    ['\\', /an escape that JavaScript/],
    ['\\07', /octal/],
    ['\\u{110000}', /does not exist/],
    ['(a', /not closed/],
    ['a)', /not open/],
    ['[a', /not closed/],
    ['*a', /cannot be compiled/],
    ['[b-a]', /cannot be compiled/],
    ['\\p{Nope}', /cannot be compiled/],
    ['a{1001}', /cannot be compiled/],
    ['(?:a{50}){50}', /repeats too much/],
    [`(?:${'ab'.repeat(500)}){1000}`, /repeats too much/],
    ['('.repeat(1500), /not closed/],
    ['a'.repeat(2001), /longer than 2000/],
  ])('refuses %j and does not repeat it', (pattern, reason) => {
    const act = (): unknown => linearPattern(pattern);

    expect(act).toThrow(reason);
    expect(act).toThrow(
      expect.toSatisfy(
        (thrown) =>
          isAlliumError(thrown, 'ERR_SCHEMA_UNSUPPORTED') && !thrown.message.includes(pattern),
      ),
    );
  });

  it('is told apart from every other pattern by its text, by which ajv keeps it', () => {
    expect(String(linearRegExp('a'))).not.toBe(String(linearRegExp('b')));
  });

  it('stops when the work is out of proportion', () => {
    const pattern = linearPattern('[ab]*a[ab]{900}$');

    expect(metered('', () => pattern.test('ab'.repeat(100_000)))).toBe(STOPPED);
    expect(metered('', () => pattern.test('ab'.repeat(10)))).toBe(false);
  });

  it('stays right when more patterns are in use than engines are kept', () => {
    const patterns = Array.from({ length: 300 }, (_, index) => linearPattern(`^kept ${index}$`));

    expect(
      patterns.every(
        (pattern, index) => pattern.test(`kept ${index}`) && !pattern.test(`kept ${index + 1}`),
      ),
    ).toBe(true);
  });
});
