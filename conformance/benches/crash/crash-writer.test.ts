import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifyReceipts } from '../../../src/receipts/index.ts';
import { built } from '../../../src/stores/built.fixture.ts';
import { acknowledgedIn, type CrashPlace, createPlace, missing, ordersFor } from './crash-runs.ts';
import type { WriterOrders } from './crash-writer.ts';

const writerFile = built('conformance/benches/crash/crash-writer.ts');

function testPlace(): CrashPlace {
  const place = createPlace();
  onTestFinished(() => rmSync(place.folder, { recursive: true, force: true }));
  return place;
}

const run = (orders: WriterOrders): Promise<number | null> =>
  new Promise((resolve) => {
    spawn(process.execPath, [writerFile, JSON.stringify(orders)], { stdio: 'ignore' }).once(
      'close',
      resolve,
    );
  });

const filesIn = (place: CrashPlace) =>
  readdirSync(place.dir).filter((file) => file.endsWith('.jsonl'));

describe('writers in several processes', () => {
  it('of one session corrupt and lose nothing', async () => {
    const place = testPlace();
    const codes = await Promise.all(
      ['a', 'b', 'c'].map((name) => run({ ...ordersFor(place, name), receipts: 300 })),
    );

    expect(codes).toEqual([0, 0, 0]);
    expect(acknowledgedIn(place)).toHaveLength(900);
    expect(await missing(place)).toEqual([]);
    expect(await verifyReceipts(place.dir, { publicKey: place.publicKey })).toMatchObject({
      ok: true,
      count: 900,
    });
    expect(readdirSync(place.dir).filter((file) => !/\.(jsonl|head)$/.test(file))).toEqual([
      'sessions.index',
    ]);
  });

  it('that find the same dead owner do not both take its file', async () => {
    const place = testPlace();
    await run({ ...ordersFor(place, 'first'), receipts: 2 });
    const [first = ''] = filesIn(place);
    writeFileSync(join(place.dir, first.replace('.jsonl', '.lock')), '');
    await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => run({ ...ordersFor(place, name), receipts: 50 })),
    );

    expect(await missing(place)).toEqual([]);
    expect(await verifyReceipts(place.dir, { publicKey: place.publicKey })).toMatchObject({
      ok: true,
      count: 202,
    });
  });
});

describe('a writer on a disk without room', () => {
  it('acknowledges only what is whole, tells the rest, and leaves files that can be taken up', async () => {
    const place = testPlace();
    const orders = { ...ordersFor(place, 'full'), receipts: 400, maxFileBytes: 64 * 1024 * 1024 };
    // The shell counts in blocks of 512 or 1024 bytes: either way less than what would be written.
    const { stdout, status } = spawnSync(
      'sh',
      ['-c', 'ulimit -f 60; exec "$@"', 'sh', process.execPath, writerFile, JSON.stringify(orders)],
      {
        encoding: 'utf8',
      },
    );

    expect(status).toBe(0);
    expect(stdout).toContain('EFBIG');
    expect(acknowledgedIn(place).length).toBeGreaterThan(10);
    expect(acknowledgedIn(place).length).toBeLessThan(400);
    expect(await missing(place)).toEqual([]);
    expect(await verifyReceipts(place.dir, { publicKey: place.publicKey })).toMatchObject({
      ok: true,
    });
    await run({ ...ordersFor(place, 'after'), receipts: 4 });
    expect(await verifyReceipts(place.dir, { publicKey: place.publicKey })).toMatchObject({
      ok: true,
    });
  });
});
