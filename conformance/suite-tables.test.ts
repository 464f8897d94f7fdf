import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadScenarios } from './scenarios/load-scenarios.ts';
import { type Ancestry, ancestryOf, ancestryProblems } from './suite-tables.ts';

const root = resolve(import.meta.dirname, '..');
const suite = join(root, 'conformance/suite');
const readTests = (path: string) =>
  existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : null;

describe('the table of earlier systems', () => {
  it('says only what scenarios and tests bear out', () => {
    const scenarios = new Set(loadScenarios(suite).map(({ scenario }) => scenario.id));

    expect(ancestryOf(suite).length).toBeGreaterThan(200);
    expect(ancestryProblems(ancestryOf(suite), { scenarios, readTests })).toEqual([]);
  });
});

describe('the check of that table', () => {
  const evidence = {
    scenarios: new Set(['consent.asks']),
    readTests: (path: string) => (path === 'a.test.ts' ? "it('asks', () => {})" : null),
  };
  const problemsOf = (row: Partial<Ancestry>) =>
    ancestryProblems([{ system: 'S', section: '1', statement: 'It asks.', ...row }], evidence);

  it.each<[Partial<Ancestry>]>([
    [{ scenarios: ['consent.asks'] }],
    [{ tests: ['a.test.ts › asks'] }],
    [{ notKept: 'nobody is asked, as consent.asks shows (docs/policy.md)' }],
  ])('takes %j', (row) => {
    expect(problemsOf(row)).toEqual([]);
  });

  it.each<[Partial<Ancestry>]>([
    [{}],
    [{ scenarios: [] }],
    [{ scenarios: ['consent.asks'], notKept: 'never' }],
    [{ scenarios: ['consent.gone'] }],
    [{ tests: ['a.test.ts › gone'] }],
    [{ tests: ['a.test.ts'] }],
    [{ tests: ['gone.test.ts › asks'] }],
    [{ notKept: 'as consent.gone shows' }],
    [{ notKept: 'comes with the permission engine' }],
    [{ notKept: 'which no layer answers with yet' }],
    [{ notKept: 'Kept, but no scenario can show it' }],
  ])('finds %j', (row) => {
    expect(problemsOf(row)).toHaveLength(1);
  });
});
