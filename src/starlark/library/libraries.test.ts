// The libraries re, string and hash.

import { describe, expect, test } from 'vitest';
import { compileStarlark, newThread, runProgram } from '../index.ts';
import { errorOf, evaluate } from './evaluate.fixture.ts';
import { libraries } from './libraries.ts';

describe('re', () => {
  test.each([
    ['re.match("a(b)?(c)?", "abd")', '["ab", "b", None]'],
    ['re.match("b", "ab")', 'None'],
    ['re.search("b", "ab")', '["b"]'],
    ['re.search("x", "ab")', 'None'],
    ['re.search("(?P<word>é+)", "aéé")', '["éé", "éé"]'],
    ['re.findall("[0-9]+", "a1b22")', '["1", "22"]'],
    ['re.findall("(a)|b", "ab")', '[["a", "a"], ["b", None]]'],
    ['re.findall("", "ab")', '["", "", ""]'],
    ['re.findall("x", "ab")', '[]'],
    ['re.search(".", "\\xff")', '["�"]'],
  ])('%s is %s', (expression, expected) => {
    expect(evaluate(expression)).toBe(expected);
  });

  test.each([
    ['re.match("(", "a")', 're.match: error parsing regexp: missing closing ): `(`'],
    [
      're.search("(?=a)", "a")',
      're.search: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    ],
    ['re.match("a" * 5000, "a")', 're.match: pattern is longer than 4096 bytes'],
    ['re.match("a")', 're.match: got 1 arguments, want 2'],
    ['re.match("é(", 1)', 're.match: for parameter 2: got int, want string'],
    ['re.findall("é(", "")', 're.findall: error parsing regexp: missing closing ): `é(`'],
  ])('%s is refused: %s', (expression, message) => {
    expect(errorOf(expression).message).toBe(message);
  });

  test('more patterns than are kept still match', () => {
    expect(evaluate('[len(re.findall("a{%d}" % n, "a" * 300)) for n in range(1, 200)][-1]')).toBe(
      '1',
    );
  });

  test('a pattern that would explode in a backtracking engine does not', () => {
    expect(evaluate('re.search("(x+x+)+y", "x" * 20000)')).toBe('None');
  });
});

describe('string.truncate', () => {
  test.each([
    ['string.truncate("abc", 3)', '"abc"'],
    ['string.truncate("abcd", 3)', '"ab…"'],
    ['string.truncate("éüöä", 3)', '"éü…"'],
    ['string.truncate("abcd", 3, ellipsis="...")', '"..."'],
    ['string.truncate("abcd", 2, "...")', '".."'],
    ['string.truncate("abcd", 3, "")', '"abc"'],
    ['string.truncate("abcd", 0)', '""'],
    ['string.truncate(s="😀😀", n=1, ellipsis="")', '"😀"'],
  ])('%s is %s', (expression, expected) => {
    expect(evaluate(expression)).toBe(expected);
  });

  test('a negative length is refused', () => {
    expect(errorOf('string.truncate("a", -1)').message).toBe(
      'string.truncate: for parameter n: got -1, want at least 0',
    );
  });
});

function digestOf(expression: string): unknown {
  const program = compileStarlark(expression, {
    file: 'test.star',
    mode: 'expression',
    predeclared: ['hash'],
  });
  return runProgram(program, { predeclared: libraries, thread: newThread() }).get('$value');
}

describe('hash', () => {
  test.each([
    ['md5', '900150983cd24fb0d6963f7d28e17f72'],
    ['sha1', 'a9993e364706816aba3e25717850c26c9cd0d89d'],
    ['sha256', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ])('%s of abc is the published one', (algorithm, expected) => {
    expect(digestOf(`hash.${algorithm}("abc")`)).toBe(expected);
  });

  test('sha512 has 128 digits', () => {
    expect(digestOf('hash.sha512("abc")')).toMatch(/^ddaf35a193617aba[0-9a-f]{112}$/);
  });

  test('text is hashed as its UTF-8', () => {
    expect(digestOf('hash.md5("é")')).toBe('66ddcd97cfdeabb2f6fb8a999b4bc76f');
  });
});
