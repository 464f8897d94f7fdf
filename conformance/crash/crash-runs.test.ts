import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildWriter } from './children.fixture.ts';
import { crashRuns } from './crash-runs.ts';
import { howMany } from '../how-many.fixture.ts';

let built = { writerFile: '', remove: () => {} };
beforeAll(() => {
  built = buildWriter();
}, 120_000);
afterAll(() => built.remove());

describe('crashRuns', () => {
  it('finds no acknowledged receipt lost', async () => {
    const kills = howMany(5, 30);
    const figures = await crashRuns({
      kills,
      seed: 20_260_101,
      kind: 'allium',
      writerFile: built.writerFile,
    });

    expect(figures).toMatchObject({ kills, lost: 0, problems: [] });
    // Enough to lose some, also on a busy machine where a writer is killed soon after its first receipt.
    expect(figures.acknowledged).toBeGreaterThan(kills * 6);
  });

  it('finds what a writer loses that acknowledges before it has written', async () => {
    const figures = await crashRuns({
      kills: 5,
      seed: 1,
      kind: 'buffered',
      writerFile: built.writerFile,
    });

    expect(figures.lost).toBeGreaterThan(0);
  });
});
