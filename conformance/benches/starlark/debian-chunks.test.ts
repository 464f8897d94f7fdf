import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tableRows } from '../../../docs/check-docs.ts';
import { type ChunkFigure, judgeChunk } from './chunk-figures.ts';
import { complaintsAbout, readAllChunks, splitChunks } from './chunks.ts';
import { NATIVE_SOURCES, type Oracle, oracleProblem, startOracle } from './oracle.ts';
import type { Outcome } from './outcome.ts';

const root = resolve(import.meta.dirname, '../../..');
const problem = oracleProblem();
const isSkipped = problem !== null && process.env.CI !== 'true';
if (isSkipped)
  process.stderr.write(`the native interpreter's chunks are not compared: ${problem}\n`);

const WANTED_SHARE = 0.98;

describe.skipIf(isSkipped)('the test data of the native interpreter', () => {
  let oracle: Oracle;
  let figures: readonly ChunkFigure[];
  beforeAll(async () => {
    expect(problem, 'CI compares with the native interpreter').toBeNull();
    oracle = await startOracle(root);
    const judged: ChunkFigure[] = [];
    for (const chunk of readAllChunks(NATIVE_SOURCES)) judged.push(await judgeChunk(chunk, oracle));
    figures = judged;
  }, 120_000);
  afterAll(() => oracle.close());

  it('is there: folders without chunks would prove nothing', () => {
    expect(figures.length).toBeGreaterThan(150);
    expect(figures.filter(({ native }) => native === 'whole').length).toBeGreaterThan(140);
    expect(figures.filter(({ native }) => native === 'in part').length).toBeGreaterThan(8);
  });

  it('passes here where it passes there', () => {
    const asked = figures.filter(({ native }) => native !== 'not');
    const passed = asked.filter(({ complaints }) => complaints.length === 0);

    expect(
      passed.length / asked.length,
      asked
        .flatMap(({ complaints }) => complaints)
        .slice(0, 50)
        .join('\n'),
    ).toBeGreaterThanOrEqual(WANTED_SHARE);
  });

  it('passes here wherever the docs name no exception', () => {
    const failing = figures
      .filter(({ complaints }) => complaints.length > 0)
      .map(({ name }) => name);

    expect(failing).toEqual(
      tableRows(readFileSync(join(root, 'docs/starlark.md'), 'utf8'), 'Chunks that differ').map(
        ([name]) => name,
      ),
    );
  });

  it('is left out only where the docs say so', () => {
    const found = figures
      .filter(({ native }) => native !== 'whole')
      .map(({ name, leftOut }) => [name, leftOut]);
    const documented = tableRows(
      readFileSync(join(root, 'docs/starlark.md'), 'utf8'),
      'Chunks left out',
    ).map((row) => row.slice(0, 2));

    expect(documented).toEqual(found);
  });
});

const outcome = (changes: Partial<Outcome>): Outcome => ({
  ok: true,
  globals: {},
  prints: [],
  reports: [],
  ...changes,
});
const FILE =
  'load("assert.star", "assert")\nx = 1 // 0 ### "division"\n---\n\ny = z ### `undefined: \\w`\n';

describe('splitChunks', () => {
  it('keeps the lines of the file and reads what must fail', () => {
    const [first, second] = splitChunks('a/b.star', FILE, 'run');

    expect(first).toMatchObject({
      name: 'b.star:1',
      source: '\nx = 1 // 0 ### "division"',
      expected: new Map([[2, 'division']]),
    });
    expect(second).toMatchObject({ name: 'b.star:4', expected: new Map([[5, 'undefined: \\w']]) });
    expect(second?.source.split('\n')[4]).toBe('y = z ### `undefined: \\w`');
  });
});

describe('complaintsAbout', () => {
  const [chunk] = splitChunks('a/b.star', FILE, 'run');
  if (chunk === undefined) throw new Error('there is a first chunk');
  const failing = (line: number, text: string): Outcome =>
    outcome({ ok: false, error: { kind: 'eval', text, line, column: 1 } });

  it('has none where the right line fails with the right text', () => {
    expect(complaintsAbout(chunk, failing(2, 'floored division by zero'))).toEqual([]);
  });

  it.each([
    ['no error at all', outcome({})],
    ['another text', failing(2, 'out of range')],
    ['another line', failing(1, 'floored division by zero')],
    [
      'an assertion that does not hold',
      { ...failing(2, 'division'), reports: [{ line: 2, column: 1, text: '1 != 2' }] },
    ],
  ])('finds %s', (_what, found) => {
    expect(complaintsAbout(chunk, found).length).toBeGreaterThan(0);
  });
});
