import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { queryReceipts, type ReceiptFilter } from './query-receipts.ts';
import type { Receipt } from './receipt.ts';
import { makeReceipt, testFolder, testSink, writeReceipts } from './receipts.fixture.ts';

async function written(receipts: readonly Partial<Receipt>[]): Promise<string> {
  const dir = testFolder();
  const sink = testSink(dir);
  for (const receipt of receipts) await sink(makeReceipt(receipt));
  await sink.close();
  return dir;
}

async function idsOf(path: string, filter?: ReceiptFilter): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { tool_call_id } of queryReceipts(path, filter)) ids.push(tool_call_id);
  return ids;
}

const dir = () =>
  written([
    { tool_call_id: 'a', session_id: 'one', tool_name: 'read_file', emitted_at: '2026-01-01T00:00:00.000Z' },
    {
      tool_call_id: 'b',
      session_id: 'one',
      tool_name: '__proto__',
      status: 'consent_denied',
      executed: 'no',
      emitted_at: '2026-01-02T00:00:00.000Z',
    },
    { tool_call_id: 'c', session_id: 'two', tool_name: 'read_file', executed: 'unknown', emitted_at: '2026-01-03T00:00:00.000Z' },
  ]);

describe('queryReceipts', () => {
  it.each<[ReceiptFilter, readonly string[]]>([
    [{}, ['a', 'b', 'c']],
    [{ session: 'one' }, ['a', 'b']],
    [{ tool: 'read_file' }, ['a', 'c']],
    [{ tool: '__proto__' }, ['b']],
    [{ status: 'consent_denied' }, ['b']],
    [{ executed: 'unknown' }, ['c']],
    [{ callId: 'b' }, ['b']],
    [{ callId: 'b', session: 'two' }, []],
    [{ since: '2026-01-02T00:00:00.000Z' }, ['b', 'c']],
    [{ until: Date.UTC(2026, 0, 2) }, ['a']],
    [{ limit: 2 }, ['a', 'b']],
    [{ limit: 0 }, []],
  ])('answers %j', async (filter, ids) => {
    expect(await idsOf(await dir(), filter)).toEqual(ids);
  });

  it('gives receipts with their place, and no checkpoints', async () => {
    for await (const receipt of queryReceipts(await dir(), { callId: 'b' })) {
      expect(receipt).toMatchObject({
        record: 'receipt',
        seq: 2,
        prev_hash: expect.any(String) as string,
        hash: expect.any(String) as string,
      });
    }
  });

  it('reads all segments of a file', async () => {
    const path = await writeReceipts(testFolder(), 30, { maxFileBytes: 8192 });

    expect((await idsOf(path.replace(/(\.\d+)?\.jsonl$/, '.jsonl'))).length).toBe(30);
  });

  it('finds sessions whose names were cut in the file', async () => {
    const session = '😀'.repeat(30_000);

    expect(await idsOf(await written([{ tool_call_id: 'x', session_id: session }]), { session })).toEqual(['x']);
  });

  it('is not fooled by a name inside another text', async () => {
    const path = await written([{ tool_call_id: 'x', reason: '"tool_call_id":"y"', audit: { tool_call_id: 'y' } }]);

    expect(await idsOf(path, { callId: 'y' })).toEqual([]);
  });

  it('passes over what it cannot read', async () => {
    const folder = await dir();
    mkdirSync(join(folder, 'folder.jsonl'));
    appendFileSync(join(folder, 'other.jsonl'), '{"schema_version":1,"record":"receipt",broken\n\n{"torn');

    expect(await idsOf(folder)).toEqual(['a', 'b', 'c']);
  });

  it.each([{ since: 'yesterday' }, { limit: -1 }, { executed: 'maybe' }, { sesion: 'x' }])('refuses %j', async (filter) => {
    // Deliberately wrong.
    await expect(idsOf(testFolder(), filter as object)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
  });
});
