import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesTool } from './layer.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

/** The textbook way. Right, but it backtracks on names that somebody made up for it. */
const byPattern = (pattern: string, name: string): boolean =>
  new RegExp(`^${pattern.replace(/[\\^$.|?+()[\]{}]/g, '\\$&').replace(/\*+/g, '.*')}$`, 's').test(
    name,
  );

describe('matchesTool', () => {
  it.each([
    ['echo', 'echo'],
    ['*', 'echo'],
    ['*', ''],
    ['**', 'echo'],
    ['gh_*', 'gh_issue'],
    ['gh_*', 'gh_'],
    ['*_file', 'read_file'],
    ['gh_**_issue', 'gh_open_issue'],
    ['g*_*e', 'gh_issue'],
    ['a*b*a', 'aba'],
    ['*ab*ab*', 'ababab'],
    ['a*', 'a\nb'],
  ])('means by %s the tool %j', (pattern, name) => {
    expect(matchesTool([pattern], name)).toBe(true);
  });

  it.each([
    ['echo', 'echo2'],
    ['echo', 'Echo'],
    ['', 'echo'],
    ['gh_*', 'agh_issue'],
    ['*_file', 'read_files'],
    ['a*b*a', 'ab'],
    ['a*a', 'a'],
    ['ab*bc', 'abc'],
    ['*ab*ab*', 'aba'],
  ])('does not mean by %s the tool %j', (pattern, name) => {
    expect(matchesTool([pattern], name)).toBe(false);
  });

  it('takes the characters of regular expressions as they are', () => {
    expect(matchesTool(['a.b*'], 'a.bc')).toBe(true);
    expect(matchesTool(['a.b*'], 'axbc')).toBe(false);
    expect(matchesTool(['(a|b)+*'], '(a|b)+x')).toBe(true);
    expect(matchesTool(['[a-z]*', '^a*', 'a?*', '\\w*'], 'abc')).toBe(false);
  });

  it('means none by an empty list', () => {
    expect(matchesTool([], 'echo')).toBe(false);
  });

  it('asks every pattern of a list', () => {
    expect(matchesTool(['read_*', 'write_*'], 'write_file')).toBe(true);
    expect(matchesTool(['read_*', 'write_*'], 'delete_file')).toBe(false);
  });

  it('knows names of Object.prototype only as names', () => {
    expect(matchesTool(['constructor'], 'constructor')).toBe(true);
    expect(matchesTool(['echo'], 'constructor')).toBe(false);
  });

  it('agrees with the textbook on every pattern and name', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 8 });

    fc.assert(
      fc.property(letters, letters, (pattern, name) => {
        expect(matchesTool([pattern], name)).toBe(pattern === name || byPattern(pattern, name));
      }),
      { numRuns: howMany(1_250, 5_000) },
    );
  });

  it('answers at once for a name made to backtrack', () => {
    expect(matchesTool(['*a*a*a*a*a*b'], 'a'.repeat(100_000))).toBe(false);
  });
});
