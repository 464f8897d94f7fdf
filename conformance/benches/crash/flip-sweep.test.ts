import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { verifyReceipts } from '../../../src/receipts/index.ts';
import { flipSweep } from './flip-sweep.ts';

/** Believes every line that can be parsed. */
const naiveVerify: typeof verifyReceipts = async (file) => {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const line = lines.findIndex((text) => !isJson(text)) + 1;
  const problems =
    line === 0 ? [] : [{ file, line, kind: 'malformed' as const, message: 'it cannot be read' }];
  return { ok: line === 0, count: lines.length, head: null, key: 'unknown', problems };
};

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('flipSweep', () => {
  it('misses no changed byte of a receipt, names the line of each, and changes each once, however many share them', async () => {
    const shares = await Promise.all(
      [1, 2, 3].map((nth) => flipSweep(1, { nth, of: 3 }, () => {})),
    );

    expect(shares.map(({ missed }) => missed)).toEqual([0, 0, 0]);
    expect(shares.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(shares[0]?.ofBytes);
    expect(shares[0]?.ofBytes).toBeGreaterThan(1500);
  });

  it('sees that somebody who only reads the lines misses changes', async () => {
    const { bytes, missed } = await flipSweep(1, { nth: 1, of: 1 }, () => {}, naiveVerify);

    expect(missed).toBeGreaterThan(bytes / 2);
  });
});
