import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { howMany } from '../../conformance/how-many.fixture.ts';
import { type FairTable, fairTable } from './fair-table.ts';

interface Row {
  readonly key: string;
  readonly owner: string;
  readonly value: number;
}

/** A list from the row used longest ago to the one used last, which is searched from end to end. */
function naiveTable(): FairTable<number> {
  let rows: readonly Row[] = [];
  /** Owners, each once for every time they were active. */
  const active: string[] = [];
  const without = (key: string) => rows.filter((row) => row.key !== key);
  const countOf = (owner: string) => rows.filter((row) => row.owner === owner).length;
  return {
    get size() {
      return rows.length;
    },
    get: (key) => rows.find((row) => row.key === key)?.value,
    set(key, owner, value) {
      const before = rows.find((row) => row.key === key);
      if (before !== undefined && before.owner !== owner) active.push(before.owner);
      rows = [...without(key), { key, owner, value }];
      active.push(owner);
    },
    delete(key) {
      const before = rows.find((row) => row.key === key);
      if (before !== undefined) active.push(before.owner);
      rows = without(key);
    },
    countOf,
    loser() {
      const most = Math.max(0, ...rows.map(({ owner }) => countOf(owner)));
      const [idle] = [...new Set(rows.map(({ owner }) => owner))]
        .filter((owner) => countOf(owner) === most)
        .toSorted((a, b) => active.lastIndexOf(a) - active.lastIndexOf(b));
      return rows.find(({ owner }) => owner === idle) ?? null;
    },
  };
}

const steps = fc.array(
  fc.record({
    what: fc.constantFrom('set', 'set', 'set', 'delete', 'drop'),
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', '__proto__'),
    owner: fc.constantFrom('x', 'y', 'z'),
  }),
  { maxLength: 60 },
);

const lookOf = (table: FairTable<number>) => {
  const loser = table.loser();
  return {
    size: table.size,
    values: ['a', 'b', 'c', 'd', 'e', 'f', 'g', '__proto__'].map((key) => table.get(key)),
    counts: ['x', 'y', 'z', 'nobody'].map((owner) => table.countOf(owner)),
    loser: loser === null ? null : [loser.key, loser.owner, loser.value],
  };
};

describe('fairTable', () => {
  it('takes from whoever holds most, and of those from the one idle longest', () => {
    const table = fairTable<number>();
    table.set('a', 'x', 1);
    table.set('b', 'y', 1);
    table.set('c', 'x', 1);
    table.set('d', 'y', 1);

    expect(table.loser()).toMatchObject({ key: 'a', owner: 'x' });
    table.set('a', 'x', 2);
    expect(table.loser()).toMatchObject({ key: 'b', owner: 'y' });
    table.set('e', 'x', 3);
    expect(table.loser()).toMatchObject({ key: 'c', owner: 'x' });
  });

  it('does what a list that is searched from end to end does', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const table = fairTable<number>();
        const naive = naiveTable();
        for (const [index, { what, key, owner }] of taken.entries()) {
          for (const each of [table, naive]) {
            if (what === 'set') each.set(key, owner, index);
            else each.delete(what === 'delete' ? key : (each.loser()?.key ?? key));
          }
          expect(lookOf(table)).toEqual(lookOf(naive));
        }
      }),
      { numRuns: howMany(300, 3_000) },
    );
  });
});
