/**
 * Receipts on disk: written, verified, asked, and tampered with. Everything is in a temporary
 * folder.
 */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashCanonical } from 'allium';
import { testClock } from 'allium/conformance';
import {
  localReceiptSink,
  queryReceipts,
  type Receipt,
  tailReceipts,
  verifyReceipts,
} from 'allium/receipts';

const folder = await mkdtemp(join(tmpdir(), 'allium-example-'));
process.env.ALLIUM_STATE_DIR = folder;
const clock = testClock();

const receiptOf = (callId: string, uri: string | null = null): Receipt => {
  const hash = hashCanonical({ path: 'notes.md' });
  return {
    schema_version: 1,
    record: 'receipt',
    session_id: 'session-1',
    run_id: null,
    tool_call_id: callId,
    tool_name: 'read_file',
    iteration: 1,
    turn_index: null,
    emit_order: 0,
    reason: 'to answer the question',
    kind: 'read',
    executor: 'local',
    status: 'ok',
    error_category: null,
    executed: 'yes',
    blocked_by: null,
    duration_ms: 3,
    requested_hash: hash,
    approved_hash: null,
    executed_hash: hash,
    args_hash: hash,
    result_hash: hashCanonical('the notes'),
    model: null,
    provider: null,
    audit: uri === null ? null : { receipt_uri: uri },
    emitted_at: '2026-01-01T00:00:00.000Z',
  };
};

try {
  // #region write
  const sink = localReceiptSink({ checkpointEvery: 4, clock });

  await sink(receiptOf('call_1'));
  const { uri, kept } = sink.append('session-1', (own) => receiptOf('call_2', own), 'fsync');
  await kept;
  sink.append('session-1', () => receiptOf('call_3'), 'background');
  await sink.close();

  assert.match(uri, /^file:.*\/receipts\/session-1-[0-9a-f]{8}\.jsonl#seq=2$/);
  // #endregion write

  // #region verify
  const publicKey = readFileSync(join(folder, 'keys', 'receipts-ed25519.pub.pem'), 'utf8');
  const report = await verifyReceipts(join(folder, 'receipts'), { publicKey });

  const { head, index, ...rest } = report;

  assert.deepEqual(rest, { ok: true, count: 3, key: 'known', problems: [] });
  assert.match(head ?? '', /^sha256:[0-9a-f]{64}$/);
  assert.equal(index?.count, 2);
  // #endregion verify

  // #region ask
  const file = join(
    folder,
    'receipts',
    readdirSync(join(folder, 'receipts')).find((name) => name.endsWith('.jsonl')) ?? '',
  );
  const seen: string[] = [];
  for await (const { tool_call_id, seq } of queryReceipts(file, {
    tool: 'read_file',
    since: '2026-01-01T00:00:00Z',
    limit: 2,
  })) {
    seen.push(`${seq} ${tool_call_id}`);
  }
  for await (const { tool_call_id, seq } of tailReceipts(file, { lines: 1 }))
    seen.push(`${seq} ${tool_call_id}`);

  assert.deepEqual(seen, ['1 call_1', '2 call_2', '3 call_3']);
  // #endregion ask

  const text = readFileSync(file, 'latin1');
  const kinds = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { record: string; seq: number; count?: number });
  console.log(
    kinds
      .map(
        ({ record, seq, count }) =>
          `${record} seq=${seq}${count === undefined ? '' : ` count=${count}`}`,
      )
      .join('\n'),
  );

  // #region tamper
  writeFileSync(file, text.replace('"status":"ok"', '"status":"no"'));
  const changed = await verifyReceipts(file, { publicKey });

  assert.deepEqual(
    changed.problems.map(({ line, kind }) => [line, kind]),
    [[2, 'hash']],
  );

  writeFileSync(file, text);
  truncateSync(file, text.indexOf('{"schema_version":1,"record":"receipt"'));
  const cut = await verifyReceipts(file, { publicKey });

  assert.deepEqual(
    cut.problems.map(({ line, kind }) => [line, kind]),
    [[2, 'truncated']],
  );
  // #endregion tamper

  // #region witness
  writeFileSync(file, text);
  const atLeast = index ?? 0;

  assert.equal((await verifyReceipts(join(folder, 'receipts'), { publicKey, atLeast })).ok, true);
  // #endregion witness
} finally {
  rmSync(folder, { recursive: true });
}
