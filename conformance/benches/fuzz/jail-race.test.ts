import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FileOpener, raceJail } from './jail-race.ts';
import { howMany } from '../../how-many.fixture.ts';

/** Opens whatever the path leads to. */
const openBlindly = (root: string): FileOpener => ({
  open: (path, flags) => open(join(root, path), flags),
});

/** Refuses a link in the last part only, as one flag of the kernel's does. */
const refuseLastLink = (root: string): FileOpener => ({
  open: (path) => open(join(root, path), constants.O_RDWR | constants.O_NOFOLLOW),
});

/**
 * Races until somebody gets out: on a busy machine the other process may not get its turn for a
 * while.
 */
async function raceUntilEscape(opener: (root: string) => FileOpener) {
  for (let round = 1; ; round += 1) {
    const figures = await raceJail({ opens: 2_000, opener });
    if (figures.escapes > 0 || round === 50) return figures;
  }
}

describe('raceJail', () => {
  it('never leaves the root while links are swapped under it', async () => {
    const opens = howMany(2_000, 20_000);
    const figures = await raceJail({ opens });

    expect(figures).toMatchObject({ opens, escapes: 0, outsideChanged: false });
    // Both kinds were met: a race that nobody runs proves nothing.
    expect(figures.inside).toBeGreaterThan(100);
    expect(figures.refused).toBeGreaterThan(100);
  }, 300_000);

  it('notices who follows links', async () => {
    const figures = await raceUntilEscape(openBlindly);

    expect(figures.escapes).toBeGreaterThan(0);
    expect(figures.outsideChanged).toBe(true);
  });

  it('notices who refuses a link at the end of a path only', async () => {
    expect((await raceUntilEscape(refuseLastLink)).escapes).toBeGreaterThan(0);
  });
});
