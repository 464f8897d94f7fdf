import { describe, expect, it } from 'vitest';
import { built } from '../../../src/stores/built.fixture.ts';
import { everyNth } from '../../how-many.fixture.ts';
import { BEHAVIOURS } from './behaviours.ts';
import { CASES, FACTORS, runMatrix } from './matrix.ts';
import type { MatrixCase } from './run-case.ts';
import { pairsOf, pairwise } from './pairwise.ts';
import { noProxy } from './proxy-command.ts';

const dualFile = built('conformance/benches/mcp/dual-server.ts');

describe('pairwise', () => {
  it('covers with few connections every pair that occurs in the matrix', () => {
    const chosen = pairwise(CASES, FACTORS);
    const pairs = (cases: readonly MatrixCase[]) =>
      new Set(cases.flatMap((each) => pairsOf(each, FACTORS)));

    expect(pairs(chosen)).toEqual(pairs(CASES));
    expect(chosen.length).toBeGreaterThanOrEqual(24);
    expect(chosen.length).toBeLessThan(CASES.length / 4);
  });

  it('misses pairs where only every value is covered', () => {
    const perValue = FACTORS.flatMap((factor) => [
      ...new Map(CASES.map((each) => [each[factor], each])).values(),
    ]);
    const covered = new Set(perValue.flatMap((each) => pairsOf(each, FACTORS)));

    expect(covered.size).toBeLessThan(
      new Set(CASES.flatMap((each) => pairsOf(each, FACTORS))).size,
    );
  });
});

describe('the matrix without a proxy', () => {
  /** What a server does to a call of this behaviour by itself, if anything. */
  const UNGOVERNED = new Set(['cancel while running', 'own reason']);
  const behaviours = everyNth(3, BEHAVIOURS);
  const cases = behaviours.map(
    ({ name }) =>
      ({ client: 'v1', server: 'dual', behaviour: name, route: 'stdio', era: 'legacy' }) as const,
  );

  it('finds what is missing in the result, at the server or in the question, and not only that there is no receipt', async () => {
    const rows = await runMatrix({ cases, startProxy: noProxy, dualFile, concurrency: 3 });
    const caught = rows.filter(({ findings }) => findings.some(({ about }) => about !== 'receipt'));

    expect(
      rows.flatMap(({ findings }) => findings).filter(({ about }) => about === 'process'),
    ).toEqual([]);
    expect(rows.every(({ findings }) => findings.some(({ about }) => about === 'receipt'))).toBe(
      true,
    );
    expect(caught.map(({ behaviour }) => behaviour)).toEqual(
      behaviours.map(({ name }) => name).filter((name) => !UNGOVERNED.has(name)),
    );
  });
});
