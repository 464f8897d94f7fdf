import { describe, expect, it } from 'vitest';
import { built } from '../../../src/stores/built.fixture.ts';
import { approvalRuns } from './approval-runs.ts';
import { howMany } from '../../how-many.fixture.ts';

const hostFile = built('conformance/benches/crash/crash-host.ts');

describe('a host that is killed with approved calls', () => {
  it('leaves calls that run once after the restart, or are unknown, and none that runs twice', async () => {
    const kills = howMany(4, 20);
    const figures = await approvalRuns({ kills, seed: 20_260_101, kind: 'allium', hostFile });

    expect(figures).toMatchObject({ kills, twice: 0, problems: [] });
    expect(figures.resumed).toBeGreaterThan(0);
    expect(figures.unknown).toBeGreaterThan(0);
  }, 240_000);

  it('runs calls twice where it keeps in memory that it took them up, and the runs find it', async () => {
    expect(
      (await approvalRuns({ kills: 4, seed: 1, kind: 'forgetful', hostFile })).twice,
    ).toBeGreaterThan(0);
  }, 120_000);
});
