/** Receipts, keys and folders for tests. */

import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ChainFiles, systemFiles } from './chain-files.ts';
import { createSink, type LocalReceiptSinkOptions } from './write/local-receipt-sink.ts';
import type { LocalReceiptSink, Receipt } from './receipt.ts';

const keys = generateKeyPairSync('ed25519');

/** A key pair that is made once per test file. */
export const signingKey = keys.privateKey;
export const publicKey = keys.publicKey;

/** A complete receipt. */
export const makeReceipt = (partial: Partial<Receipt> = {}): Receipt => ({
  schema_version: 1,
  record: 'receipt',
  session_id: 'session-1',
  run_id: null,
  tool_call_id: 'call-1',
  tool_name: 'echo',
  iteration: 1,
  turn_index: null,
  emit_order: 0,
  reason: null,
  kind: 'read',
  executor: 'local',
  status: 'ok',
  error_category: null,
  executed: 'yes',
  blocked_by: null,
  duration_ms: 1,
  requested_hash: `sha256:${'a'.repeat(64)}`,
  approved_hash: null,
  executed_hash: `sha256:${'a'.repeat(64)}`,
  args_hash: `sha256:${'a'.repeat(64)}`,
  result_hash: null,
  model: null,
  provider: null,
  audit: null,
  emitted_at: '2026-01-01T00:00:00.000Z',
  ...partial,
});

/** A folder that goes away with the test. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-receipts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * A sink with the keys of the test file, on a file system that may be made to fail. How long a test
 * takes does not show in its files.
 */
export function testSink(
  dir: string,
  options: LocalReceiptSinkOptions = {},
  files: Partial<ChainFiles> = {},
): LocalReceiptSink {
  return createSink(
    { dir, key: false, signingKey, checkpointMs: 3_600_000, ...options },
    { ...systemFiles, ...files },
  );
}

/** The `.jsonl` files of a folder, in their order. */
export const receiptFiles = (dir: string): readonly string[] =>
  readdirSync(dir)
    .filter((file) => file.endsWith('.jsonl'))
    .sort()
    .map((file) => join(dir, file));

/** The lines of a file, parsed. */
export const linesIn = (path: string): readonly Record<string, unknown>[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** The call ids of the receipts in a folder, file by file. */
export const callIdsIn = (dir: string): readonly unknown[] =>
  receiptFiles(dir)
    .flatMap(linesIn)
    .filter(({ record }) => record !== 'checkpoint')
    .map(({ tool_call_id }) => tool_call_id);

/** Writes receipts `c1`, `c2` … of one session and closes the sink. */
export async function writeReceipts(
  dir: string,
  count: number,
  options: LocalReceiptSinkOptions = {},
): Promise<string> {
  const sink = testSink(dir, options);
  for (let nth = 1; nth <= count; nth += 1)
    sink.append('session-1', () => makeReceipt({ tool_call_id: `c${nth}` }), 'background');
  await sink.close();
  return receiptFiles(dir)[0] ?? '';
}
