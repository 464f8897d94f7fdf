import { describe, expect, it } from 'vitest';
import { flipSweep } from './flip-sweep.ts';

describe('flipSweep', () => {
  it('misses no changed byte of a receipt, and names the line of each', async () => {
    const { bytes, missed } = await flipSweep(1, () => {});

    expect(missed).toBe(0);
    expect(bytes).toBeGreaterThan(1500);
  });
});
