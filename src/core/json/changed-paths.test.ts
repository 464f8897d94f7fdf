import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from './json-value.ts';
import { canonicalJson } from './canonical.ts';
import { changedPaths } from './changed-paths.ts';
import { isSnapshot } from './json.ts';

describe('changedPaths', () => {
  it('answers with a snapshot, which goes into records as it is', () => {
    expect(isSnapshot(changedPaths({ a: 1 }, { a: 2 }))).toBe(true);
    expect(isSnapshot(changedPaths({}, {}))).toBe(true);
  });

  it.each<[string, JsonValue, JsonValue, readonly string[]]>([
    ['nothing for equal values', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ['nothing for another order of members', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    ['a member that changed', { a: 1, b: 2 }, { a: 1, b: 3 }, ['b']],
    ['a member that went and one that came', { a: 1 }, { b: 1 }, ['a', 'b']],
    [
      'the deepest member',
      { headers: { token: 'x', kept: 1 } },
      { headers: { token: 'y', kept: 1 } },
      ['headers.token'],
    ],
    ['items by their place', { items: [1, 2, 3] }, { items: [1, 9] }, ['items[1]', 'items[2]']],
    ['a member that is null instead of absent', {}, { a: null }, ['a']],
    ['a list that became an object', { a: [] }, { a: {} }, ['a']],
    ['a value that became another kind', { a: '1' }, { a: 1 }, ['a']],
    ['another order of items', [1, 2], [2, 1], ['[0]', '[1]']],
  ])('names %s', (_name, before, after, paths) => {
    expect(changedPaths(before, after)).toEqual(paths);
  });

  it('finds a difference exactly where the canonical texts differ', () => {
    const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;

    fc.assert(
      fc.property(
        json,
        json,
        (a, b) => (changedPaths(a, b).length === 0) === (canonicalJson(a) === canonicalJson(b)),
      ),
    );
  });

  it('never names a value', () => {
    expect(changedPaths({ a: 'sk-123', b: ['sk-456'] }, { a: 'sk-789', b: [] })).toEqual([
      'a',
      'b[0]',
    ]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('takes a member called %s for one', (name) => {
    const holding = JSON.parse(`{"${name}":1}`) as JsonValue;

    expect(changedPaths(holding, {})).toEqual([name]);
    expect(changedPaths({}, holding)).toEqual([name]);
    expect(changedPaths(holding, holding)).toEqual([]);
  });

  it('does not take what every object inherits for a member', () => {
    expect(changedPaths(JSON.parse('{"__proto__":{}}') as JsonValue, {})).toEqual(['__proto__']);
  });

  it('stops at fifty and says that there are more', () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`m${index}`, index]),
    );
    const paths = changedPaths(many, {});

    expect(paths).toHaveLength(51);
    expect(paths.at(-1)).toBe('…');
    expect(changedPaths(Object.fromEntries(Object.entries(many).slice(0, 50)), {}).at(-1)).toBe(
      'm49',
    );
  });

  it('cuts long names and keeps every path on one line', () => {
    const [long = '', forged = '', half = ''] = changedPaths(
      { ['x'.repeat(100_000)]: 1, 'a\nb\u2028c': 1, 'd\ud800': 1 },
      {},
    );

    expect(long).toBe(`${'x'.repeat(64)}…`);
    expect(forged).toBe('a b c');
    expect(half.isWellFormed()).toBe(true);
  });

  it('compares half characters, which have no canonical text', () => {
    expect(changedPaths({ a: '\ud800' }, { a: '\ud801' })).toEqual(['a']);
    expect(changedPaths({ a: '\ud800' }, { a: '\ud800' })).toEqual([]);
  });
});
