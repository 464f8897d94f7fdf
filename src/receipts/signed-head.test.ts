import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSigner } from './checkpoint.ts';
import { chainLine, GENESIS } from './receipt-line.ts';
import { signingKey, testFolder } from './receipts.fixture.ts';
import { readSignedHead, writeSignedHead } from './signed-head.ts';

const signer = createSigner('test', signingKey);
const lineOf = (count: number) =>
  chainLine(
    signer.sign({
      chain: 'a-1',
      segment: 1,
      count,
      head: GENESIS,
      time: '2026-01-01T00:00:00.000Z',
    }),
    count,
    GENESIS,
  ).text;

/** A head file with some checkpoints written one after the other. */
function headWith(...counts: readonly number[]): string {
  const path = join(testFolder(), 'a.head');
  const file = openSync(path, 'w+');
  counts.forEach((count, turn) => writeSignedHead(file, lineOf(count), turn));
  closeSync(file);
  return path;
}

const countOf = (path: string) => {
  const head = readSignedHead(path);
  return typeof head === 'string' ? head : (head?.fields.count ?? null);
};

describe('a signed head', () => {
  it.each([[[1]], [[1, 2]], [[1, 2, 3]], [[1, 2, 3, 10]]])('is the newest of %j', (counts) => {
    expect(countOf(headWith(...counts))).toBe(counts.at(-1));
  });

  it('is the one before where the newest was torn', () => {
    const path = headWith(1, 2, 3);
    const bytes = readFileSync(path);
    bytes.fill(0, 100, 4096);
    writeFileSync(path, bytes);

    expect(countOf(path)).toBe(2);
  });

  it('is not read where it was changed', () => {
    const path = headWith(5);
    writeFileSync(path, readFileSync(path, 'latin1').replace('"count":5', '"count":9'));

    expect(countOf(path)).toBeNull();
  });

  it('is missing where there is no file, and not there where it is empty', () => {
    const path = join(testFolder(), 'a.head');

    expect(readSignedHead(path)).toBe('missing');
    writeFileSync(path, '');
    expect(readSignedHead(path)).toBeNull();
  });
});
