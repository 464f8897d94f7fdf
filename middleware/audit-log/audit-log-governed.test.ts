import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { recordingSink } from '../../conformance/index.ts';
import {
  defineLayer,
  defineTool,
  governTools,
  hashCanonical,
  type ToolEvent,
  type ToolLayer,
} from '../../src/index.ts';
import { approveCall } from '../../src/layer.ts';
import { localReceiptSink, type Receipt } from '../../src/receipts/index.ts';
import { requiredReason } from '../required-reason/required-reason.ts';
import { auditLog } from './audit-log.ts';

const state = { folder: '' };
beforeEach(() => {
  state.folder = mkdtempSync(join(tmpdir(), 'allium-audit-log-'));
  vi.stubEnv('ALLIUM_STATE_DIR', state.folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(state.folder, { recursive: true, force: true });
});

const consent = defineLayer({ name: 'consent', caller: (call, next) => next(approveCall(call)) });

/** A governed tool with a hidden argument, and what listeners hear of it. */
function govern(...layers: readonly ToolLayer[]) {
  const events: ToolEvent[] = [];
  const write = defineTool({
    name: 'write_note',
    description: 'Writes.',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string' }, token: { type: 'string' } },
      additionalProperties: false,
    },
    injected: [{ name: 'token', from: () => 'hidden-value' }],
    annotations: { kind: 'edit' },
    execute: ({ text }) => ({ wrote: text }),
  });
  const governed = governTools({ tools: [write], layers });
  governed.on('tool_call_audit', (event) => events.push(event));
  return { governed, events };
}

/** The lines of every receipt file, checkpoints left out. */
function linesOnDisk(): readonly Receipt[] {
  const folder = join(state.folder, 'receipts');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
    .map((line) => JSON.parse(line) as Receipt)
    .filter(({ record }) => record === 'receipt' || record === 'intent');
}

const request = { name: 'write_note', arguments: { text: 'a secret text', reason: 'because' } };
const turn = { sessionId: 'session/1', iteration: 2 };

describe('auditLog around governed tools', () => {
  it("'local' writes a line with its place in it, with keyed hashes and no value", async () => {
    const { governed } = govern(auditLog('local'), consent, requiredReason());
    const result = await governed.call(request, { turn });
    await governed.close();
    const [line, ...others] = linesOnDisk();

    expect(others).toEqual([]);
    expect(line).toMatchObject({
      tool_name: 'write_note',
      status: 'ok',
      reason: 'because',
      turn_index: 1,
      audit: { receipt_uri: result.audit?.receiptUri },
    });
    expect(line?.args_hash).toMatch(/^hmac-sha256:/);
    expect(line?.approved_hash).toBe(line?.requested_hash);
    expect(line?.executed_hash).not.toBe(line?.approved_hash);
    expect(JSON.stringify(line)).not.toMatch(/a secret text|hidden-value|token/);
  });

  it("'local' names the file that the line is in", async () => {
    const { governed } = govern(auditLog({ sink: 'local', durability: 'fsync' }), requiredReason());
    const { audit } = await governed.call(request, { turn });
    const [file = '', seq] = (audit?.receiptUri ?? '').split('#seq=');
    const lines = readFileSync(fileURLToPath(file), 'utf8').split('\n');
    await governed.close();

    expect(
      lines
        .filter((line) => line.includes('"record":"receipt"'))
        .map((line) => (JSON.parse(line) as { seq: number }).seq),
    ).toEqual([Number(seq)]);
  });

  it("'cloud' lets the receipt ride on the event and touches no file", async () => {
    const { governed, events } = govern(auditLog('cloud'), requiredReason());
    await governed.call(request, { turn });

    expect(events).toMatchObject([
      {
        receipt: {
          record: 'receipt',
          status: 'ok',
          reason: 'because',
          result_hash: hashCanonical({ wrote: 'a secret text' }),
        },
      },
    ]);
    expect(readdirSync(state.folder)).toEqual([]);
  });

  it("'cloud' keeps the receipt on the event in a turn that is prefetched", async () => {
    const { governed, events } = govern(auditLog('cloud'), requiredReason());
    await governed.call(request, { turn: { ...turn, prefetchNextTurn: true } });

    expect(events).toMatchObject([{ receipt: { status: 'ok' } }]);
  });

  it("'both' gives the event the receipt that is on disk", async () => {
    const { governed, events } = govern(auditLog('both'), requiredReason());
    await governed.call(request, { turn });
    await governed.close();
    const [{ seq: _seq, prev_hash: _prev, hash: _hash, ...line } = {}] =
      linesOnDisk() as unknown as Record<string, unknown>[];

    expect(events).toMatchObject([
      {
        receipt: line,
        audit: { receipt_uri: (line.audit as { receipt_uri: string }).receipt_uri },
      },
    ]);
  });

  it("'both' tells listeners of a call that the files could not take", async () => {
    const layer = auditLog('both');
    const { governed, events } = govern(layer, requiredReason());
    await layer.close?.();
    await governed.call(request, { turn });

    expect(events).toMatchObject([
      { receipt: { status: 'audit_unavailable', executed: 'no', blocked_by: 'auditLog' } },
    ]);
  });

  it('tells of unknown tools, malformed calls and calls without a reason', async () => {
    const sink = recordingSink<Receipt>();
    const { governed } = govern(auditLog(sink), requiredReason());
    const unknown: string = 'nope';
    await governed.call({ name: unknown, arguments: {} });
    await governed.call({ name: 'write_note', arguments: '{"text":' });
    await governed.call({ name: 'write_note', arguments: { text: 'a', reason: ' ' } });

    expect(
      sink.records.map(({ status, blocked_by, executed }) => [status, blocked_by, executed]),
    ).toEqual([
      ['tool_not_found', 'admission', 'no'],
      ['schema_violation', 'admission', 'no'],
      ['schema_violation', 'requiredReason', 'no'],
    ]);
  });

  it('records a call that ran elsewhere, and does not say that it is about to run', async () => {
    const sink = recordingSink<Receipt>();
    const { governed } = govern(auditLog({ sink, intent: true }));
    await governed.observe({ name: 'write_note', arguments: { text: 'a' } }, { wrote: 'a' });

    expect(sink.records.map(({ record, status }) => [record, status])).toEqual([['receipt', 'ok']]);
  });

  it('leaves a sink open that somebody else opened', async () => {
    const sink = localReceiptSink();
    const { governed } = govern(auditLog(sink), requiredReason());
    await governed.call(request, { turn });
    await governed.close();
    await sink({ ...(linesOnDisk()[0] as Receipt), tool_call_id: 'afterwards' });
    await sink.close();

    expect(linesOnDisk().map((line) => line.tool_call_id)).toContain('afterwards');
  });

  it('refuses every call once its files are closed', async () => {
    const layer = auditLog('local');
    const { governed } = govern(layer, requiredReason());
    await layer.close?.();

    expect(await governed.call(request, { turn })).toMatchObject({
      status: 'audit_unavailable',
      executed: 'no',
    });
  });

  it('writes one receipt for each of many calls at once, in files of their sessions', async () => {
    const { governed } = govern(
      auditLog({ sink: 'local', intent: true, durability: 'fsync' }),
      requiredReason(),
    );
    const calls = Array.from({ length: 40 }, (_, index) =>
      governed.call(
        { ...request, id: `call-${index}` },
        { turn: { sessionId: `session-${index % 4}` } },
      ),
    );
    const results = await Promise.all(calls);
    const uris = new Set(results.map(({ audit }) => audit?.receiptUri));
    await governed.close();

    expect(uris.size).toBe(40);
    expect(linesOnDisk().filter(({ record }) => record === 'intent')).toHaveLength(40);
    expect(
      new Set(linesOnDisk().map(({ tool_call_id, record }) => `${tool_call_id} ${record}`)).size,
    ).toBe(80);
  });
});
