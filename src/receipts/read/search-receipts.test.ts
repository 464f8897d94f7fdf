import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Receipt } from '../receipt.ts';
import { makeReceipt, testFolder, testSink, writeReceipts } from '../receipts.fixture.ts';
import { queryReceipts, type ReceiptFilter } from './search-receipts.ts';

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
    {
      tool_call_id: 'a',
      session_id: 'one',
      tool_name: 'read_file',
      emitted_at: '2026-01-01T00:00:00.000Z',
    },
    {
      tool_call_id: 'b',
      session_id: 'one',
      tool_name: '__proto__',
      status: 'consent_denied',
      executed: 'no',
      emitted_at: '2026-01-02T00:00:00.000Z',
    },
    {
      tool_call_id: 'c',
      session_id: 'two',
      tool_name: 'read_file',
      executed: 'unknown',
      emitted_at: '2026-01-03T00:00:00.000Z',
    },
  ]);

describe('queryReceipts', () => {
  it.each<[ReceiptFilter, readonly string[]]>([
    [{}, ['a', 'b', 'c']],
    [{ session: 'one' }, ['a', 'b']],
    [{ tool: 'read_file' }, ['a', 'c']],
    [{ tool: '__proto__' }, ['b']],
    [{ tool: 'read_*' }, ['a', 'c']],
    [{ tool: '*o*', session: 'one' }, ['b']],
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

    expect(
      await idsOf(await written([{ tool_call_id: 'x', session_id: session }]), { session }),
    ).toEqual(['x']);
  });

  it('is not fooled by a name inside another text', async () => {
    const path = await written([
      { tool_call_id: 'x', reason: '"tool_call_id":"y"', audit: { tool_call_id: 'y' } },
    ]);

    expect(await idsOf(path, { callId: 'y' })).toEqual([]);
  });

  it.each(['"', '\\', 'é😀', '\u2028', 'a\nb', '\u007f', ' '])(
    'finds the call %j as it is escaped in the file',
    async (callId) => {
      const path = await written([{ tool_call_id: 'x', reason: callId }, { tool_call_id: callId }]);

      expect(await idsOf(path, { callId })).toEqual([callId]);
    },
  );

  it('finds a call wherever in a large file it lies, also across two pieces of it', async () => {
    const path = await writeReceipts(testFolder(), 3000);
    const ids = Array.from({ length: 3000 }, (_, nth) => `c${nth + 1}`);
    // Every line of the places where a piece of a mebibyte ends, and some others.
    const wanted = ids.filter(
      (_, nth) => nth % 250 === 0 || (nth > 900 && nth < 1000) || (nth > 1900 && nth < 2000),
    );

    for (const callId of wanted) expect(await idsOf(path, { callId })).toEqual([callId]);
  });

  it('signal: throws its reason, before and on the way', async () => {
    const path = await writeReceipts(testFolder(), 3000);
    const stop = new AbortController();
    const seen: number[] = [];
    const query = async (signal: AbortSignal): Promise<void> => {
      for await (const { seq } of queryReceipts(path, {}, { signal }))
        if (seen.push(seq) === 5) stop.abort(new Error('enough'));
    };

    await expect(query(AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
    expect(seen).toEqual([]);
    await expect(query(stop.signal)).rejects.toThrow('enough');
    expect(seen.length).toBeLessThan(3000);
  });

  it('passes over receipts whose fields are not what they must be', async () => {
    const folder = await dir();
    const line = (fields: object) =>
      `${JSON.stringify({ ...makeReceipt(), seq: 1, prev_hash: '', hash: '', ...fields })}\n`;
    const broken = [
      { tool_name: 1 },
      { emitted_at: { toString: 1 } },
      { status: [] },
      { duration_ms: 'x' },
      { session_id: null },
    ];
    appendFileSync(join(folder, 'other.jsonl'), broken.map(line).join(''));

    expect(await idsOf(folder, { since: 0 })).toEqual(['a', 'b', 'c']);
  });

  it('passes over what it cannot read', async () => {
    const folder = await dir();
    mkdirSync(join(folder, 'folder.jsonl'));
    appendFileSync(
      join(folder, 'other.jsonl'),
      '{"schema_version":1,"record":"receipt",broken\n\n{"torn',
    );

    expect(await idsOf(folder)).toEqual(['a', 'b', 'c']);
  });

  it.each([{ since: 'yesterday' }, { limit: -1 }, { executed: 'maybe' }, { sesion: 'x' }])(
    'refuses %j',
    async (filter) => {
      // Deliberately wrong.
      await expect(idsOf(testFolder(), filter as object)).rejects.toMatchObject({
        code: 'ERR_INVALID_OPTION',
      });
    },
  );
});
