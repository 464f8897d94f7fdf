import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { optionNames, tableRows } from '../docs/check-docs.ts';
import { everyNth } from './how-many.fixture.ts';
import { commandSubject } from './scenarios/command-subject.ts';
import { builtinSubject } from './scenarios/create-subject.ts';
import { describeScenarios } from './scenarios/describe-scenarios.ts';
import { loadScenarios } from './scenarios/load-scenarios.ts';
import { runScenarios, type SuiteReport } from './scenarios/run-scenarios.ts';
import type { Subject } from './scenarios/subject.ts';
import { ancestryOf, ancestryRows, requirementRows, requirementsOf } from './suite-tables.ts';

const root = resolve(import.meta.dirname, '..');
const suite = join(root, 'conformance/suite');
const loaded = loadScenarios(suite);
const areas = [...new Set(loaded.map(({ scenario }) => scenario.id.split('.')[0] ?? ''))];
const failuresOf = ({ results }: SuiteReport) =>
  results.filter(({ ok }) => !ok).map(({ id }) => id);

describe('the suite on the bundled layers', () => {
  describeScenarios(suite, builtinSubject, { describe, it });
});

describe('the suite', () => {
  it('has enough scenarios to mean something', () => {
    expect(loaded.length).toBeGreaterThanOrEqual(150);
  });

  it('has each scenario in the file that its id names', () => {
    const misplaced = loaded.filter(
      ({ file, scenario }) =>
        resolve(file) !== join(suite, `${scenario.id.replace('.', '/')}.yaml`),
    );

    expect(misplaced.map(({ file }) => file)).toEqual([]);
  });

  it('comes to the same through a pipe', async () => {
    const subject = commandSubject(
      `"${process.execPath}" "${join(root, 'dist/programs/conformance/scenarios/serve-builtin.js')}"`,
    );
    onTestFinished(async () => await subject.close?.());
    const chosen = everyNth(4, areas);
    const reports = [];
    for (const area of chosen) reports.push(await runScenarios(join(suite, area), subject));

    expect(reports.map(({ total }) => total)).toEqual(
      chosen.map(
        (area) => loaded.filter(({ scenario }) => scenario.id.startsWith(`${area}.`)).length,
      ),
    );
    expect(reports.flatMap(failuresOf)).toEqual([]);
  });

  it('has a requirement and a source for every scenario', () => {
    const without = loaded.filter(
      ({ scenario: { requirement, source } }) => requirement === undefined || source === undefined,
    );

    expect(without.map(({ scenario }) => scenario.id)).toEqual([]);
  });

  it('states every requirement once, and proves each', () => {
    const requirements = requirementsOf(suite);

    expect(
      requirements.filter(({ statement }) => !/^[A-Z].*\.$/s.test(statement)).map(({ id }) => id),
    ).toEqual([]);
    expect(
      requirements.filter(({ scenarios }) => scenarios.length === 0).map(({ id }) => id),
    ).toEqual([]);
    expect(new Set(requirements.map(({ id }) => id)).size).toBe(requirements.length);
  });

  it('names the system in the source of every scenario that shows one of its statements', () => {
    const byId = new Map(
      loaded.map(({ scenario }) => [scenario.id, [scenario.source].flat().join('\n')]),
    );
    const unnamed = ancestryOf(suite).flatMap(({ system, scenarios = [] }) =>
      scenarios
        .filter((id) => byId.get(id)?.includes(system) !== true)
        .map((id) => `${system}: ${id}`),
    );

    expect(unnamed).toEqual([]);
    expect([...new Set(ancestryOf(suite).map(({ system }) => system))].sort()).toEqual([
      'AgentKit',
      'Harn',
      'TinyAgents',
      'ai-harness',
    ]);
  });

  it('is in the docs as it is', () => {
    const page = readFileSync(join(root, 'docs/conformance-tables.md'), 'utf8');

    expect(tableRows(page, 'Requirements')).toEqual(requirementRows(suite).map(plain));
    expect(tableRows(page, 'Earlier systems')).toEqual(ancestryRows(suite).map(plain));
  });
});

/** As `tableRows` gives cells back. */
const plain = (row: readonly string[]): readonly string[] =>
  row.map((cell) => cell.replace(/\s+/g, ' ').replace(/^`(.*)`$/, '$1'));

/** Options that data cannot give, and where they are tested instead. */
const NOT_DATA: Readonly<Record<string, readonly string[]>> = {
  hooks: ['pool'], // An object of the host's; middleware/hooks/hooks.test.ts gives one.
  summary: ['format'], // The layer takes the function itself, and every scenario of it gives one.
};

const layers = readdirSync(join(root, 'middleware'), { withFileTypes: true }).filter((entry) =>
  entry.isDirectory(),
);

describe.each(layers.map(({ name }) => name))('the scenarios of %s', (layer) => {
  it('use every option', () => {
    const own = loaded.filter(({ scenario }) => scenario.id.startsWith(`${layer}.`));
    const text = JSON.stringify(own.map(({ scenario }) => scenario.layers));
    const options = optionNames(
      ['options', layer]
        .map((file) => readFileSync(join(root, `middleware/${layer}/${file}.ts`), 'utf8'))
        .join('\n'),
    );

    expect(own.length).toBeGreaterThan(0);
    expect(
      options.filter(
        (option) => !text.includes(`"${option}":`) && !(NOT_DATA[layer] ?? []).includes(option),
      ),
    ).toEqual([]);
  });
});

const naive = readdirSync(join(root, 'conformance/benches/naive')).filter(
  (name) => name.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(name),
);

interface NaiveModule {
  readonly default: Subject;
  readonly fails: readonly string[];
}

describe('naive subjects', () => {
  it('are there for every area', () => {
    expect(areas.filter((area) => !naive.some((name) => name.startsWith(area)))).toEqual([]);
  });

  it.each(naive)('%s fails where it must, and nowhere else in its area', async (name) => {
    const { default: subject, fails } = (await import(
      join(root, 'conformance/benches/naive', name)
    )) as NaiveModule; // Looked at right here.
    const area =
      areas.filter((one) => name.startsWith(one)).sort((a, b) => b.length - a.length)[0] ?? '';
    const report = await runScenarios(join(suite, area), subject);

    expect([...failuresOf(report)].sort()).toEqual([...fails].sort());
    expect(fails.length).toBeGreaterThanOrEqual(2);
    expect(report.passed).toBeGreaterThan(0);
  });
});
