import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aliasNames, type Provider } from './alias.ts';

const LEGAL: Readonly<Record<Provider, RegExp>> = {
  openai: /^[a-zA-Z0-9_-]{1,64}$/,
  anthropic: /^[a-zA-Z0-9_-]{1,128}$/,
  gemini: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/,
  mcp: /^[A-Za-z0-9_.-]{1,128}$/,
};
const PROVIDERS = Object.keys(LEGAL) as Provider[]; // The keys of that very record.

describe('aliasNames', () => {
  it.each(PROVIDERS)('leaves names alone that %s takes', (provider) => {
    const map = aliasNames(['read_file', 'Get-User', 'constructor'], provider);

    expect(map.entries).toEqual([
      ['read_file', 'read_file'],
      ['Get-User', 'Get-User'],
      ['constructor', 'constructor'],
    ]);
  });

  it('spells a dotted name with underscores, and finds it again', () => {
    const map = aliasNames(['github.search'], 'openai');

    expect(map.toProvider('github.search')).toBe('github_search');
    expect(map.fromProvider('github_search')).toBe('github.search');
  });

  it('keeps dots where they are legal', () => {
    expect(aliasNames(['a.b'], 'gemini').toProvider('a.b')).toBe('a.b');
    expect(aliasNames(['a.b'], 'mcp').toProvider('a.b')).toBe('a.b');
  });

  it('mends the first character for Gemini', () => {
    expect(aliasNames(['2fast'], 'gemini').toProvider('2fast')).toBe('_2fast');
  });

  it('cuts long names and tells them apart by a hash of the whole', () => {
    const stem = 'x'.repeat(80);
    const map = aliasNames([`${stem}1`, `${stem}2`], 'openai');
    const aliases = map.entries.map(([, alias]) => alias);

    expect(new Set(aliases).size).toBe(2);
    for (const alias of aliases) expect(alias).toMatch(/^x{55}_[0-9a-f]{8}$/);
  });

  it('gives way to a legal name', () => {
    const map = aliasNames(['a.b', 'a_b'], 'openai');

    expect(map.toProvider('a_b')).toBe('a_b');
    expect(map.toProvider('a.b')).toMatch(/^a_b_[0-9a-f]{8}$/);
  });

  it('gives way to a legal name that squats on the hash', () => {
    const squatted = aliasNames(['a.b', 'a_b'], 'openai').toProvider('a.b');
    const map = aliasNames(['a.b', 'a_b', squatted], 'openai');

    expect(map.toProvider(squatted)).toBe(squatted);
    expect(map.toProvider('a.b')).not.toBe(squatted);
    expect(map.fromProvider(map.toProvider('a.b'))).toBe('a.b');
  });

  it('answers undefined for aliases it never gave out, inherited ones too', () => {
    const map = aliasNames(['a.b'], 'openai');

    for (const alias of ['a.b', 'constructor', '__proto__', 'toString'])
      expect(map.fromProvider(alias)).toBeUndefined();
  });

  it.each(['nobody', 'constructor', '__proto__'])('throws for the unknown name "%s"', (name) => {
    const map = aliasNames(['a.b'], 'openai');

    expect(() => map.toProvider(name)).toThrow(/no alias was made/);
  });

  it('refuses a provider it does not know', () => {
    const attempt = () => aliasNames(['a'], 'constructor' as Provider);

    expect(attempt).toThrow(/"provider" must be one of/);
  });
});

describe('aliasNames, for any names', () => {
  const hard = fc.stringMatching(/^[ab._/:1-]{0,4}$/);
  const long = fc.stringMatching(/^[ab.]{60,140}$/);
  const names = fc.uniqueArray(
    fc.oneof({ weight: 5, arbitrary: hard }, long, fc.string({ unit: 'binary', maxLength: 5 })),
    {
      maxLength: 30,
    },
  );

  it.each(PROVIDERS)('is one to one and legal for %s', (provider) => {
    fc.assert(
      fc.property(names, (given) => {
        const map = aliasNames(given, provider);
        const aliases = given.map((name) => map.toProvider(name));

        expect(new Set(aliases).size).toBe(given.length);
        expect(aliases.map((alias) => map.fromProvider(alias))).toEqual(given);
        expect(aliases.filter((alias) => !LEGAL[provider].test(alias))).toEqual([]);
        expect(
          given.filter((name) => LEGAL[provider].test(name) && map.toProvider(name) !== name),
        ).toEqual([]);
      }),
    );
  });

  it('does not depend on the order', () => {
    fc.assert(
      fc.property(names, (given) => {
        const [map, reversed] = [
          aliasNames(given, 'openai'),
          aliasNames(given.toReversed(), 'openai'),
        ];

        expect(given.map((name) => reversed.toProvider(name))).toEqual(
          given.map((name) => map.toProvider(name)),
        );
      }),
    );
  });

  it('does not depend on the order where even the hashes meet', () => {
    // Lone surrogates are the same bytes in UTF-8, and so the same hash.
    const twins = ['\ud800', '\ud801'];
    const [map, reversed] = [aliasNames(twins, 'openai'), aliasNames(twins.toReversed(), 'openai')];

    expect(new Set(map.entries.map(([, alias]) => alias)).size).toBe(2);
    for (const name of twins) expect(reversed.toProvider(name)).toBe(map.toProvider(name));
  });

  it('is needed: replacing characters alone is not reversible', () => {
    const naive = (name: string) => name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64);

    expect(naive('a.b')).toBe(naive('a/b'));
    expect(
      new Set(aliasNames(['a.b', 'a/b'], 'openai').entries.map(([, alias]) => alias)).size,
    ).toBe(2);
  });
});
