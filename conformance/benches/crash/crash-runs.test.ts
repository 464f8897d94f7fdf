import { describe, expect, it } from 'vitest';
import { built } from '../../../src/stores/built.fixture.ts';
import { crashRuns } from './crash-runs.ts';
import { howMany } from '../../how-many.fixture.ts';

const writerFile = built('conformance/benches/crash/crash-writer.ts');

describe('crashRuns', () => {
  it('finds no acknowledged receipt lost', async () => {
    const kills = howMany(5, 30);
    const figures = await crashRuns({ kills, seed: 20_260_101, kind: 'allium', writerFile });

    expect(figures).toMatchObject({ kills, lost: 0, problems: [] });
    // Enough to lose some, also on a busy machine where a writer is killed soon after its first
    // receipt.
    expect(figures.acknowledged).toBeGreaterThan(kills * 6);
  });

  it('finds what a writer loses that acknowledges before it has written', async () => {
    const figures = await crashRuns({ kills: 5, seed: 1, kind: 'buffered', writerFile });

    expect(figures.lost).toBeGreaterThan(0);
  });
});
