import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../core/json/json-value.ts';
import { areUnique, equalityKey, memberOf } from './unique-items.ts';

const UNIQUE: [string, JsonValue[]][] = [
  ['nothing', []],
  ['1, true and "1"', [1, true, '1', null, 'null', 'true', 0, false, '']],
  ['a list and its text', [[1], '[1]', [[1]], { a: 1 }, '{"a":1}', ['a', 1]]],
  ['names and values that look alike', [{ 'a":1,"b': 1 }, { a: 1, b: 1 }]],
  ['lists in another order', [[1, 2], [2, 1], [12], ['1,2']]],
  ['an own toString', [{ toString: 1 }, { toString: 2 }, {}, { constructor: {} }]],
];

const REPEATED: [string, JsonValue[]][] = [
  ['1 and 1.0', [1, 1.0]],
  ['0 and -0', [0, -0]],
  ['0 and -0 inside', [[0], [-0]]],
  [
    'objects with members in another order',
    [
      { a: 1, b: { c: 1, d: [2] } },
      { b: { d: [2], c: 1 }, a: 1 },
    ],
  ],
  ['empty objects', [{}, {}]],
  ['an own toString', [{ toString: 1 }, { toString: 1 }]],
];

describe('areUnique', () => {
  it.each(UNIQUE)('tells apart %s', (_what, items) => {
    expect(areUnique(items)).toBe(true);
  });

  it.each(REPEATED)('finds the same in %s', (_what, items) => {
    expect(areUnique(items)).toBe(false);
    expect(areUnique([...items].reverse())).toBe(false);
  });

  it('agrees with comparing all pairs', () => {
    // fast-check has its own name for the same type.
    const item = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>;
    const byPairs = (items: readonly JsonValue[]): boolean =>
      items.every((one, index) =>
        items.slice(index + 1).every((other) => equalityKey(one) !== equalityKey(other)),
      );

    fc.assert(fc.property(fc.array(item), (items) => areUnique(items) === byPairs(items)));
  });
});

describe('memberOf', () => {
  it.each([...UNIQUE, ...REPEATED])('knows its members by value: %s', (_what, members) => {
    const isMember = memberOf(members);

    expect(members.every((member) => isMember(structuredClone(member)))).toBe(true);
    expect([isMember('another'), isMember({ another: 1 }), isMember([members])]).toEqual([
      false,
      false,
      false,
    ]);
  });
});
