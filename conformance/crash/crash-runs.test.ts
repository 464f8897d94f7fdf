import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildWriter } from './children.fixture.ts';
import { crashRuns } from './crash-runs.ts';

let built = { writerFile: '', remove: () => {} };
beforeAll(() => {
  built = buildWriter();
}, 120_000);
afterAll(() => built.remove());

describe('crashRuns', () => {
  it('finds no acknowledged receipt lost in 30 kills', async () => {
    const figures = await crashRuns({ kills: 30, seed: 20_260_101, kind: 'allium', writerFile: built.writerFile });

    expect(figures).toMatchObject({ kills: 30, lost: 0, problems: [] });
    // Enough to lose some, also on a busy machine where a writer is killed soon after its first receipt.
    expect(figures.acknowledged).toBeGreaterThan(200);
  });

  it('finds what a writer loses that acknowledges before it has written', async () => {
    const figures = await crashRuns({ kills: 5, seed: 1, kind: 'buffered', writerFile: built.writerFile });

    expect(figures.lost).toBeGreaterThan(0);
  });
});
