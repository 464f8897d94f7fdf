import { closeSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSigner, type Signer } from '../checkpoint.ts';
import { GENESIS } from '../receipt-line.ts';
import { receiptText } from '../write/receipt-text.ts';
import {
  makeReceipt,
  publicKey,
  receiptFiles,
  signingKey,
  testFolder,
  testSink,
  writeReceipts,
} from '../receipts.fixture.ts';
import { addLine, openLines, renderBatch } from '../write/render-batch.ts';
import { writeSignedHead } from '../signed-head.ts';
import { verifyReceipts, type VerifyProgress } from './verify-receipts.ts';

const linesIn = (path: string) => readFileSync(path, 'latin1').split('\n').slice(0, -1);

/**
 * A chain of receipts with a checkpoint behind each, in which some signatures are wrong and
 * everything else is right.
 */
function forgedChain(dir: string, count: number, isForged: (nth: number) => boolean): string {
  const real = createSigner('test', signingKey);
  let nth = -1;
  const sign: Signer['sign'] = (fields) => {
    nth += 1;
    const text = real.sign(fields);
    return isForged(nth)
      ? text.replace(/"signature":"(.)/, (_, first) => `"signature":"${first === 'A' ? 'B' : 'A'}`)
      : text;
  };
  const rules = {
    chain: 'forged-1',
    signer: { ...real, sign },
    checkpointEvery: 1,
    checkpointMs: 1000,
    maxFileBytes: 1e9,
    clock: { now: () => 0 },
  };
  const start = {
    segment: 1,
    size: 0,
    count: 0,
    head: GENESIS,
    unsigned: 0,
    due: true,
    signedAt: 0,
    notes: {},
    isEnded: true,
  };
  const open = Buffer.from(receiptText(makeReceipt(), null));
  const receipts = openLines();
  for (let seq = 1; seq <= count; seq += 1) addLine(receipts, open, open.length, seq);
  const { bytes, checkpoint } = renderBatch(rules, start, receipts, 0);
  const path = join(dir, 'forged-1.jsonl');
  writeFileSync(path, bytes);
  const head = openSync(join(dir, 'forged-1.head'), 'w');
  writeSignedHead(head, checkpoint ?? '', 0);
  closeSync(head);
  return path;
}

describe('verifyReceipts on its way', () => {
  it('onProgress: tells how far it is, and ends at the end', async () => {
    const dir = testFolder();
    const sink = testSink(dir, { maxFileBytes: 512 * 1024 });
    for (let nth = 0; nth < 2000; nth += 1)
      sink.append(`s${nth % 2}`, () => makeReceipt(), 'background');
    await sink.close();
    const told: VerifyProgress[] = [];

    const { count } = await verifyReceipts(dir, {
      publicKey,
      onProgress: (progress) => void told.push(progress),
    });

    const totalBytes = receiptFiles(dir).reduce((sum, path) => sum + statSync(path).size, 0);
    expect(count).toBe(2000);
    expect(told.at(-1)).toEqual({ bytes: totalBytes, totalBytes, receipts: 2000 });
    expect(told.length).toBeGreaterThanOrEqual(4);
    expect(told.map(({ bytes }) => bytes)).toEqual(
      told.map(({ bytes }) => bytes).toSorted((a, b) => a - b),
    );
  });

  it('signal: rejects with its reason, and reports no problem instead', async () => {
    const path = await writeReceipts(testFolder(), 3000);
    const stop = new AbortController();
    const onProgress = () => stop.abort(new Error('enough'));

    await expect(
      verifyReceipts(path, { signal: AbortSignal.abort(new Error('too late')) }),
    ).rejects.toThrow('too late');
    await expect(verifyReceipts(path, { signal: stop.signal, onProgress })).rejects.toThrow(
      'enough',
    );
  });

  it('finds every forged signature in the middle of a chain, in the order of the lines', async () => {
    const path = forgedChain(testFolder(), 300, (nth) => nth % 50 === 25);
    const lines = linesIn(path);
    writeFileSync(
      path,
      `${lines.map((line, at) => (at % 100 === 53 ? line.replace('echo', 'ecHo') : line)).join('\n')}\n`,
    );

    const { problems } = await verifyReceipts(path, { publicKey });

    // A checkpoint comes behind each receipt: the nth is on line 2n + 1.
    const expected = [0, 1, 2, 3, 4, 5].flatMap((nth) => [
      `${100 * nth + 51} signature`,
      `${100 * nth + 54} hash`,
    ]);
    expect(problems.map(({ line, kind }) => `${line} ${kind}`)).toEqual(expected);
  });

  it('keeps a thousand problems, in their order, and says that there are more', async () => {
    const path = await writeReceipts(testFolder(), 1500, { checkpointEvery: 1 });
    const lines = linesIn(path);
    writeFileSync(
      path,
      `${lines.map((line, nth) => (nth % 2 === 1 ? line.replace('echo', 'ecHo') : line)).join('\n')}\n`,
    );

    const { problems } = await verifyReceipts(path, { publicKey });

    expect(problems.length).toBe(1001);
    expect(problems.slice(0, 1000).map(({ line, kind }) => [line, kind])).toEqual(
      Array.from({ length: 1000 }, (_, nth) => [2 * nth + 2, 'hash']),
    );
    expect(problems.at(-1)).toMatchObject({ kind: 'more', line: 2002 });
  });
});
