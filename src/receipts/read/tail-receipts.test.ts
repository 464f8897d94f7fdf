import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  makeReceipt,
  receiptFiles,
  testFolder,
  testSink,
  writeReceipts,
} from '../receipts.fixture.ts';
import { tailReceipts, type TailOptions } from './tail-receipts.ts';

async function idsOf(path: string, options?: TailOptions): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { tool_call_id } of tailReceipts(path, options)) ids.push(tool_call_id);
  return ids;
}

const ids = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `c${from + index}`);

describe('tailReceipts', () => {
  it('lines: gives the last ones, oldest first', async () => {
    const path = await writeReceipts(testFolder(), 200);

    expect(await idsOf(path)).toEqual(ids(191, 200));
    expect(await idsOf(path, { lines: 150 })).toEqual(ids(51, 200));
    expect(await idsOf(path, { lines: 1000 })).toEqual(ids(1, 200));
    expect(await idsOf(path, { lines: 0 })).toEqual([]);
  });

  it('goes back into earlier segments', async () => {
    const dir = testFolder();
    await writeReceipts(dir, 40, { maxFileBytes: 4096 });
    const first = receiptFiles(dir).find((path) => !/\.\d+\.jsonl$/.test(path)) ?? '';

    expect(await idsOf(first, { lines: 25 })).toEqual(ids(16, 40));
  });

  it('gives receipts that are larger than one piece of the file', async () => {
    const dir = testFolder();
    const sink = testSink(dir);
    for (const callId of ['a', 'b', 'c'])
      await sink(makeReceipt({ tool_call_id: callId, reason: 'r'.repeat(60_000) }));
    await sink.close();

    expect(await idsOf(receiptFiles(dir)[0] ?? '', { lines: 2 })).toEqual(['b', 'c']);
  });

  it('leaves a torn line out', async () => {
    const path = await writeReceipts(testFolder(), 3);
    appendFileSync(path, '{"schema_version":1,"record":"receipt","tool_call_id":"torn"');

    expect(await idsOf(path, { lines: 1 })).toEqual(['c3']);
  });

  it('follow, signal: gives what comes, also in later segments, until it is stopped', async () => {
    const dir = testFolder();
    const stop = new AbortController();
    const sink = testSink(dir, { maxFileBytes: 4096 });
    await sink(makeReceipt({ session_id: 's', tool_call_id: 'c1' }));
    const seen: string[] = [];
    for await (const { tool_call_id } of tailReceipts(receiptFiles(dir)[0] ?? '', {
      follow: true,
      signal: stop.signal,
    })) {
      seen.push(tool_call_id);
      if (seen.length === 20) stop.abort();
      else await sink(makeReceipt({ session_id: 's', tool_call_id: `c${seen.length + 1}` }));
    }
    await sink.close();

    expect(seen).toEqual(ids(1, 20));
    expect(receiptFiles(dir).length).toBeGreaterThan(3);
  });

  it('clock: looks again when the system tells of nothing', async () => {
    const dir = testFolder();
    const path = await writeReceipts(dir, 1);
    const stop = new AbortController();
    const looks: number[] = [];
    const clock = {
      now: Date.now,
      monotonic: Date.now,
      after: (ms: number, task: () => void) => (
        looks.push(ms), looks.length === 3 ? stop.abort() : queueMicrotask(task), () => {}
      ),
    };

    expect(await idsOf(path, { follow: true, signal: stop.signal, clock })).toEqual(['c1']);
    expect(looks).toEqual([1000, 1000, 1000]);
  });

  it('gives the newest of all sessions of a folder, by time', async () => {
    const dir = testFolder();
    const sink = testSink(dir);
    for (const [nth, session] of ['z', 'a', 'z', 'b', 'a'].entries()) {
      await sink(
        makeReceipt({
          session_id: session,
          tool_call_id: `c${nth}`,
          emitted_at: `2026-01-01T00:00:0${nth}.000Z`,
        }),
      );
    }
    await sink.close();

    expect(await idsOf(dir, { lines: 3 })).toEqual(['c2', 'c3', 'c4']);
    expect(await idsOf(dir, { lines: 0 })).toEqual([]);
  });

  it('follow: gives what comes in any session of a folder, also in one that begins later', async () => {
    const dir = testFolder();
    const stop = new AbortController();
    const sink = testSink(dir);
    await sink(makeReceipt({ session_id: 's0', tool_call_id: 'c1' }));
    const seen: string[] = [];
    for await (const { tool_call_id } of tailReceipts(dir, { follow: true, signal: stop.signal })) {
      seen.push(tool_call_id);
      if (seen.length === 12) stop.abort();
      else
        await sink(
          makeReceipt({ session_id: `s${seen.length % 4}`, tool_call_id: `c${seen.length + 1}` }),
        );
    }
    await sink.close();

    expect(seen).toEqual(ids(1, 12));
  });

  it('signal: gives nothing once it is aborted', async () => {
    expect(
      await idsOf(await writeReceipts(testFolder(), 3), {
        follow: true,
        signal: AbortSignal.abort(),
      }),
    ).toEqual([]);
  });

  it.each(['gone.jsonl', 'gone'])('throws a typed error for %j', async (name) => {
    await expect(idsOf(join(testFolder(), name))).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
    });
  });

  it.each([{ lines: -1 }, { follow: 1 }, { signal: {} }, { line: 3 }])(
    'refuses %j',
    async (options) => {
      const path = join(testFolder(), 'a.jsonl');
      writeFileSync(path, '');

      // Deliberately wrong.
      await expect(idsOf(path, options as object)).rejects.toMatchObject({
        code: 'ERR_INVALID_OPTION',
      });
    },
  );
});
