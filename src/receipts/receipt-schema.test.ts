import { describe, expect, it } from 'vitest';
import { runEveryEnding } from '../../conformance/every-ending.fixture.ts';
import { recordingSink } from '../../conformance/test-kit.ts';
import { auditLog } from '../../middleware/index.ts';
import { brokenCopies, strictCheck, undescribed } from '../core/wire/schema-check.fixture.ts';
import { STATUSES } from '../core/contract/status.ts';
import type { Receipt } from './receipt.ts';
import { RECEIPT_SCHEMA } from './receipt-schema.ts';
import { linesIn, makeReceipt, receiptFiles, testFolder, testSink } from './receipts.fixture.ts';

const problems = strictCheck(RECEIPT_SCHEMA);

/** Every line that every ending leaves, of every file. */
async function linesOfAllEndings(): Promise<readonly Record<string, unknown>[]> {
  const dir = testFolder();
  const sink = testSink(dir, {
    checkpointEvery: 16,
    key: { id: 'k1', secret: 's' },
    maxFileBytes: 65_536,
  });
  await runEveryEnding([auditLog({ sink, intent: true })]);
  await sink.close();
  return receiptFiles(dir).flatMap(linesIn);
}

const CHAINED = { seq: 1, prev_hash: `sha256:${'0'.repeat(64)}`, hash: `sha256:${'1'.repeat(64)}` };
const RECEIPT = {
  ...makeReceipt({ approved_hash: `hmac-sha256:k_1:${'a'.repeat(64)}`, audit: { layers: [] } }),
  ...CHAINED,
};
const INTENT = {
  ...RECEIPT,
  record: 'intent',
  status: null,
  executed: 'no',
  duration_ms: 0,
  approved_hash: null,
  executed_hash: null,
};
const CHECKPOINT = {
  ...{
    schema_version: 1,
    record: 'checkpoint',
    chain: 'session-1-0a1b2c3d',
    segment: 1,
    count: 1,
    head: CHAINED.hash,
  },
  ...{
    key_id: '0123456789abcdef',
    time: '2026-01-01T00:00:00.000Z',
    cut_bytes: 7,
    signature: `${'A'.repeat(86)}==`,
    ...CHAINED,
  },
};

describe('RECEIPT_SCHEMA', () => {
  it('describes every property', () => {
    expect(undescribed(RECEIPT_SCHEMA)).toEqual([]);
  });

  it('takes every line of every ending, as it is in the file', async () => {
    const lines = await linesOfAllEndings();
    const statuses = new Set(lines.map(({ status }) => status));

    expect(lines.flatMap((line) => problems(line))).toEqual([]);
    expect(Object.keys(STATUSES).filter((status) => !statuses.has(status))).toEqual([]);
    expect(new Set(lines.map(({ record }) => record))).toEqual(
      new Set(['receipt', 'intent', 'checkpoint']),
    );
    expect(lines.some(({ segment }) => typeof segment === 'number' && segment > 1)).toBe(true);
  });

  it('takes a receipt as a function gets it, without a place', async () => {
    const sink = recordingSink<Receipt>();
    await runEveryEnding([auditLog(sink)]);

    expect(sink.records.length).toBeGreaterThan(100);
    expect(sink.records.flatMap((receipt) => problems(receipt))).toEqual([]);
  });

  it('takes a receipt with and without a server and a rule, and an intent without a rule', () => {
    const named = { server: 'myfiles', rule: 'consent rule 1 (allow *)' };

    expect(
      [RECEIPT, { ...RECEIPT, ...named }, INTENT, { ...INTENT, server: 'myfiles' }].flatMap(
        (line) => problems(line),
      ),
    ).toEqual([]);
    for (const wrong of [
      { ...RECEIPT, server: null },
      { ...RECEIPT, rule: 1 },
      { ...INTENT, ...named },
    ])
      expect(problems(wrong)).not.toEqual([]);
  });

  it('takes a receipt that was too long for its line', async () => {
    const dir = testFolder();
    const sink = testSink(dir);
    await sink(
      makeReceipt({
        tool_name: 'x'.repeat(100_000),
        audit: { layers: [], summary: 'y'.repeat(100_000) },
      }),
    );
    await sink.close();
    const lines = receiptFiles(dir).flatMap(linesIn);

    expect(JSON.stringify(lines)).toContain('left_out');
    expect(lines.flatMap((line) => problems(line))).toEqual([]);
  });

  it.each([
    ['receipt', RECEIPT, []],
    ['intent', INTENT, []],
    ['checkpoint', CHECKPOINT, ['cut_bytes']],
  ])('refuses a %s with one broken field', (_record, line, optional) => {
    expect(problems(line)).toEqual([]);
    expect(
      brokenCopies(line, optional)
        .filter(([, copy]) => problems(copy).length === 0)
        .map(([what]) => what),
    ).toEqual([]);
  });

  it.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ['another version', { ...RECEIPT, schema_version: 2 }],
    ['another record', { ...RECEIPT, record: 'note' }],
    ['a hash of capital letters', { ...RECEIPT, args_hash: `sha256:${'A'.repeat(64)}` }],
    ['a hash that is too short', { ...RECEIPT, result_hash: `sha256:${'a'.repeat(63)}` }],
    ['a keyed hash without a key', { ...RECEIPT, requested_hash: `hmac-sha256:${'a'.repeat(64)}` }],
    ['a keyed hash in the chain', { ...RECEIPT, prev_hash: `hmac-sha256:k:${'a'.repeat(64)}` }],
    ['a raw argument for a hash', { ...RECEIPT, executed_hash: '{"to":"ada"}' }],
    ['an executor nobody knows', { ...RECEIPT, executor: 'elsewhere' }],
    ['a doubtful executed', { ...RECEIPT, executed: 'maybe' }],
    ['a negative duration', { ...RECEIPT, duration_ms: -1 }],
    ['half a number', { ...RECEIPT, seq: 1.5 }],
    ['a turn before the first', { ...RECEIPT, turn_index: -1 }],
    ['a thirteenth month', { ...RECEIPT, emitted_at: '2026-13-01T00:00:00.000Z' }],
    ['a time of no zone', { ...RECEIPT, emitted_at: '2026-01-01T00:00:00.000' }],
    ['a receipt without a status', { ...RECEIPT, status: null }],
    ['an intent that knows how it ended', { ...INTENT, status: 'ok' }],
    ['an intent that has run', { ...INTENT, executed: 'yes' }],
    ['layers that are no list', { ...RECEIPT, audit: { layers: {} } }],
    ['a summary that is no text', { ...RECEIPT, audit: { summary: 1 } }],
    ['a signature that was cut', { ...CHECKPOINT, signature: 'AAAA' }],
    ['a checkpoint of segment 0', { ...CHECKPOINT, segment: 0 }],
    ['a key id of another form', { ...CHECKPOINT, key_id: 'my key' }],
  ])('refuses %s', (_name, line) => {
    expect(problems(line)).not.toEqual([]);
  });
});
