import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { canonicalJson } from '../../core/json/canonical.ts';
import { type ArgumentPattern, covers, patternFor, patternProblem } from './argument-pattern.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const one = (value: object): ArgumentPattern => ({ arguments: { value } }) as never;
const fits = (pattern: object, value: JsonValue) => covers(one(pattern), { value });

const argsOf = fc.dictionary(
  fc.string({ unit: 'grapheme' }),
  fc.jsonValue(),
) as fc.Arbitrary<JsonObject>;

/** Every way to change one leaf, or to add or leave out one member. */
function* changed(value: JsonValue): Generator<JsonValue> {
  if (typeof value !== 'object' || value === null) {
    yield `${String(value)}!`;
    yield { inside: value };
    return;
  }
  const entries = Object.entries(value);
  const rebuilt = (members: readonly (readonly [string, JsonValue])[]): JsonValue =>
    Array.isArray(value) ? members.map(([, item]) => item) : Object.fromEntries(members);
  yield rebuilt([...entries, ['added', 1]]);
  for (const [at, [name, item]] of entries.entries()) {
    yield rebuilt(entries.filter((_, index) => index !== at));
    for (const other of changed(item)) yield rebuilt(entries.with(at, [name, other]));
  }
}

describe('patternFor', () => {
  it('covers the arguments it was made from', () => {
    fc.assert(fc.property(argsOf, (args) => covers(patternFor(args), args)));
  });

  it('covers nothing that differs in one leaf or one member', () => {
    fc.assert(
      fc.property(argsOf, (args) => {
        const pattern = patternFor(args);
        return [...changed(args)].every(
          (other) =>
            canonicalJson(other) === canonicalJson(args) || !covers(pattern, other as JsonObject),
        );
      }),
      { numRuns: howMany(100, 300) },
    );
  });

  it('keeps no arguments', () => {
    expect(JSON.stringify(patternFor({ password: 'hunter2' }))).not.toContain('hunter2');
  });

  it('does not mind the order of members', () => {
    expect(covers(patternFor({ a: 1, b: 2 }), { b: 2, a: 1 })).toBe(true);
  });
});

describe('covers', () => {
  it.each([
    [{ equals: { a: [1] } }, { a: [1] }, true],
    [{ equals: 1 }, '1', false],
    [{ equals: null }, null, true],
    [{ oneOf: ['r', 'w'] }, 'w', true],
    [{ oneOf: ['r', 'w'] }, 'rw', false],
    [{ any: true }, { whatever: [null] }, true],
  ])('%j and %j: %s', (pattern, value, expected) => {
    expect(fits(pattern, value)).toBe(expected);
  });

  it('is closed: no argument more, and none less', () => {
    const pattern: ArgumentPattern = { arguments: { path: { equals: 'a' }, mode: { any: true } } };

    expect(covers(pattern, { path: 'a', mode: 1 })).toBe(true);
    expect(covers(pattern, { path: 'a' })).toBe(false);
    expect(covers(pattern, { path: 'a', mode: 1, force: true })).toBe(false);
    expect(covers({ arguments: {} }, {})).toBe(true);
    expect(covers({ arguments: {} }, { a: 1 })).toBe(false);
  });

  it('looks at own members only', () => {
    expect(covers({ arguments: { constructor: { any: true as const } } }, { other: 1 })).toBe(
      false,
    );
    expect(
      covers(
        { arguments: { toString: { any: true as const } } },
        JSON.parse('{"__proto__":1}') as JsonObject,
      ),
    ).toBe(false);
    expect(covers({ arguments: { a: { any: true } } }, { a: undefined } as never)).toBe(false);
  });

  it.each([
    null,
    undefined,
    1,
    'a',
    [],
    {},
    { exact: 1 },
    { exact: 'sha256:' },
    { exact: 'a', arguments: {} },
    { arguments: null },
    { any: false },
  ])('covers nothing by the pattern %j', (pattern) => {
    expect(covers(pattern as never, {})).toBe(false);
    expect(patternProblem(pattern)).not.toBeNull();
  });

  it.each([
    [{}],
    [{ any: false }],
    [{ any: 1 }],
    [{ equals: 1, any: true }],
    [{ oneOf: [] }],
    [{ oneOf: 'abc' }],
    [{ glob: 5 }],
    [{ glob: '../**' }],
    [{ glob: 'a**' }],
    [{ prefixWords: [] }],
    [{ prefixWords: 'ls' }],
    [{ prefixWords: ['ls;'] }],
    [{ prefixWords: ['bash'] }],
    [{ prefixWords: ['python3.12'] }],
    [{ prefixWords: ['sudo', 'ls'] }],
    [{ prefixWords: ['find', '.', '-exec'] }],
    [{ prefixWords: ['-ls'] }],
    [{ prefixWords: ['coproc', 'ls'] }],
    [{ prefixWords: ['test', '1', '-eq'] }],
    [{ prefixWords: ['/usr/bin/env', 'A=1'] }],
    [{ prefixWords: ['A=1', 'ls'] }],
    [{ unheard: 1 }],
    [{ equals: Number.NaN }],
    [{ equals: 'x'.repeat(9000) }],
  ])('covers nothing by the entry %j', (entry) => {
    expect(patternProblem(one(entry))).not.toBeNull();
    expect(fits(entry, 'ls')).toBe(false);
  });
});

describe('a glob', () => {
  it.each([
    ['src/*.ts', 'src/a.ts'],
    ['src/**', 'src/a/b.ts'],
    ['src/**/b.ts', 'src/b.ts'],
    ['src/**/b.ts', 'src/x/y/b.ts'],
    ['/work/**', '/work/a'],
    ['.github/*', '.github/a.yml'],
    ['app/[id]/*', 'app/[id]/page.tsx'],
  ])('%s covers %s', (glob, path) => {
    expect(fits({ glob }, path)).toBe(true);
  });

  it.each([
    ['src/*.ts', 'src/a/b.ts'],
    ['src/*', 'src'],
    ['src/**', 'src'],
    ['a/**/b/**', 'a/x/b'],
    ['src/**', 'src/../etc/passwd'],
    ['src/**', 'src/a/..'],
    ['src/**', 'src/.. /b'],
    ['src/**', 'src/‥/b'],
    ['src/**', 'src/．．/b'],
    ['src/**', 'src/a／..／b'],
    ['src/**', 'src/..\\b'],
    ['src/**', 'src/%2e%2e/b'],
    ['src/**', 'src//b'],
    ['src/**', 'src/./b'],
    ['src/**', 'src/a/'],
    ['src/**', 'src/a\u0000b'],
    ['src/**', 'src/.git/hooks'],
    ['src/*', 'src/.env'],
    ['src/**', '/src/a'],
    ['**', '/etc/passwd'],
    ['**', '~/.ssh'],
    ['*/*', '~/a'],
    ['**', 'C:/a'],
    ['**', 'file:///etc/passwd'],
    ['SRC/**', 'src/a'],
  ])('%s does not cover %s', (glob, path) => {
    expect(fits({ glob }, path)).toBe(false);
  });

  it('covers nothing but text', () => {
    for (const value of [1, null, ['src/a'], { path: 'src/a' }])
      expect(fits({ glob: 'src/*' }, value)).toBe(false);
  });

  it('never leads up, however it is spelt', () => {
    const part = fc.constantFrom(
      '..',
      '.',
      '',
      'src',
      'a',
      '*',
      '**',
      '.. ',
      '%2e%2e',
      '..\\',
      '‥',
      '．．',
      '...',
    );
    const path = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join('/'));
    const leadsUp = (text: string) =>
      /(^|[/\\])\.\.[ .]*([/\\]|$)/.test(decodeURIComponent(text).normalize('NFKC'));

    fc.assert(
      fc.property(path, path, (glob, value) => !leadsUp(value) || !fits({ glob }, value)),
      { numRuns: howMany(1_250, 5_000) },
    );
    fc.assert(
      fc.property(path, (value) => !leadsUp(value) || !fits({ glob: 'src/**' }, `src/${value}`)),
      { numRuns: howMany(1_250, 5_000) },
    );
  });

  it('takes no time that grows with a power', () => {
    expect(fits({ glob: `${'**/'.repeat(100)}x` }, `${'a/'.repeat(1000)}y`)).toBe(false);
  });
});

describe('the naive glob, a regular expression over the whole path', () => {
  it('leads up: the twin that the cases above catch', () => {
    const naive = (glob: string, path: string) =>
      new RegExp(`^${glob.replaceAll('**', '.*')}$`).test(path);

    expect(naive('src/**', 'src/../etc/passwd')).toBe(true);
  });
});

describe('first words', () => {
  it.each([
    [['ls'], 'ls'],
    [['ls'], 'ls src docs'],
    [['git', 'log', '--oneline'], 'git log --oneline main'],
  ])('%j cover %s', (prefixWords, command) => {
    expect(fits({ prefixWords }, command)).toBe(true);
  });

  it.each([
    'rm -rf /',
    'lsof',
    'ls; rm -rf /',
    'ls;rm',
    'ls && rm a',
    'ls | sh',
    'ls $(rm a)',
    'ls `rm a`',
    'ls\nrm a',
    'ls\trm',
    'ls > a',
    'ls < a',
    'ls & rm a',
    'ls *',
    'ls ~root',
    'ls {a,b}',
    "ls 'a'",
    'ls "a"',
    'ls \\a',
    'ls --color',
    'ls -R',
    'ls %PATH%',
    'ls ^a',
    'ls #a',
    'ls !a',
    'LS',
    ' ls',
    'ls ',
    'ls  a',
    'A=1 ls',
    'ls \u00a0rm',
    'ls \u202ea',
  ])('["ls"] do not cover %j', (command) => {
    expect(fits({ prefixWords: ['ls'] }, command)).toBe(false);
  });

  it('cover nothing but text', () => {
    expect(fits({ prefixWords: ['ls'] }, ['ls'])).toBe(false);
  });
});

describe('the naive prefix', () => {
  it('lets a second command through: the twin that the cases above catch', () => {
    expect('ls; rm -rf /'.startsWith('ls')).toBe(true);
  });
});
