import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/index.ts';
import { mismatches, unknownForm } from './match.ts';

const differs = (expected: JsonValue, got: JsonValue | undefined) =>
  mismatches(expected, got, 'x', new Map()).length > 0;

const PAIRS: readonly [
  name: string,
  expected: JsonValue,
  fits: readonly (JsonValue | undefined)[],
  not: readonly (JsonValue | undefined)[],
][] = [
  [
    'an object by subset',
    { a: 1 },
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 2 }, { b: 1 }, null, undefined, [], 'a'],
  ],
  ['an empty object', {}, [{}, { a: 1 }], [null, undefined, [], 1]],
  [
    'a list item by item',
    [1, { a: 1 }],
    [[1, { a: 1, b: 2 }]],
    [[1], [1, { a: 1 }, 3], [{ a: 1 }, 1], {}, undefined],
  ],
  ['a scalar', 0, [0], [false, '', null, undefined, '0']],
  ['null', null, [null], [undefined, 0, {}]],
  ['$exact', { $exact: { a: [1] } }, [{ a: [1] }], [{ a: [1], b: 1 }, { a: [1, 2] }, undefined]],
  ['$absent', { $absent: true }, [undefined], [null, 0, '']],
  ['$absent: false', { $absent: false }, [null, 0, {}], [undefined]],
  ['$any', { $any: true }, [null, 0, {}], [undefined]],
  ['$any of a type', { $any: 'list' }, [[], [1]], [{}, null, 'list', undefined]],
  ['$any null', { $any: 'null' }, [null], [undefined, {}, 'null']],
  ['$regex', { $regex: '^a.c$' }, ['abc', 'a\nc'], ['abcd', 1, undefined]],
  [
    '$ordered',
    { $ordered: [1, 3] },
    [
      [1, 2, 3],
      [1, 3],
    ],
    [[3, 1], [1], [], undefined, { 0: 1, 1: 3 }],
  ],
  ['$ordered twice the same', { $ordered: [1, 1] }, [[1, 2, 1]], [[1, 2]]],
  ['$contains', { $contains: [3, 1] }, [[1, 2, 3]], [[1, 2], undefined]],
  ['$contains twice the same', { $contains: [1, 1] }, [[1, 1]], [[1, 2]]],
  [
    '$unordered',
    { $unordered: [3, 1] },
    [
      [1, 3],
      [3, 1],
    ],
    [[1, 2, 3], [1], undefined],
  ],
  ['$length', { $length: 2 }, [[1, 2], 'ab'], [[1], 'abc', { length: 2 }, undefined]],
  [
    '$count',
    { $count: { of: { a: 1 }, is: 2 } },
    [[{ a: 1 }, { a: 1, b: 2 }, { a: 2 }]],
    [[{ a: 1 }], [{ a: 1 }, { a: 1 }, { a: 1 }], undefined],
  ],
  ['$not', { $not: { a: 1 } }, [{ a: 2 }, undefined], [{ a: 1, b: 2 }]],
  ['$oneOf', { $oneOf: [1, { a: 1 }] }, [1, { a: 1, b: 2 }], [2, undefined]],
  ['$atLeast', { $atLeast: 2 }, [2, 3], [1, '3', undefined]],
  ['$atMost', { $atMost: 2 }, [2, 1], [3, '1', undefined]],
  ['a member that is inherited', { constructor: { $absent: true } }, [{}], [{ constructor: 1 }]],
];

describe('mismatches', () => {
  it.each(PAIRS)('takes what fits %s, and nothing else', (_name, expected, fits, not) => {
    for (const got of fits)
      expect({ got, differs: differs(expected, got) }).toEqual({ got, differs: false });
    for (const got of not)
      expect({ got, differs: differs(expected, got) }).toEqual({ got, differs: true });
  });

  it('$same: takes the first value and demands it everywhere else', () => {
    const both = { a: { $same: 'id' }, b: { $same: 'id' } };

    expect(differs(both, { a: { x: 1 }, b: { x: 1 } })).toBe(false);
    expect(differs(both, { a: 1, b: 2 })).toBe(true);
    expect(differs(both, { a: 1 })).toBe(true);
  });

  it('$differs: demands another value than the one seen before', () => {
    const both = { a: { $same: 'id' }, b: { $differs: 'id' } };

    expect(differs(both, { a: 1, b: 2 })).toBe(false);
    expect(differs(both, { a: 1, b: 1 })).toBe(true);
    expect(differs({ b: { $differs: 'nobody' } }, { b: 1 })).toBe(true);
  });

  it('forgets what a try that failed saw under a name', () => {
    const expected = { $ordered: [{ id: { $same: 'id' }, n: 2 }] };

    expect(
      differs(
        [expected, { $same: 'id' }],
        [
          [
            { id: 'a', n: 1 },
            { id: 'b', n: 2 },
          ],
          'b',
        ],
      ),
    ).toBe(false);
  });

  it('says where, what was expected and what was seen', () => {
    expect(mismatches({ a: [{ b: 1 }] }, { a: [{ b: 2 }] }, 'result', new Map())).toEqual([
      { path: 'result.a[0].b', expected: '1', got: '2' },
    ]);
  });

  it('says all of it at once', () => {
    expect(
      mismatches({ a: 1, b: 2, c: 3 }, { b: 2 }, 'x', new Map()).map(({ path }) => path),
    ).toEqual(['x.a', 'x.c']);
  });

  it('cuts what is long', () => {
    const [first] = mismatches('a', 'b'.repeat(10_000), 'x', new Map());

    expect(first?.got.length).toBeLessThan(500);
  });
});

describe('unknownForm', () => {
  it.each<[JsonValue, string | null]>([
    [{ a: { $regex: 'x' } }, null],
    [{ a: [{ $regexp: 'x' }] }, '$regexp'],
    [{ $regex: 'x', more: 1 }, '$regex'],
    [{ $exact: { $anything: 1 } }, null],
    ['$regex', null],
  ])('of %j is %j', (expected, name) => {
    expect(unknownForm(expected)).toBe(name);
  });
});
