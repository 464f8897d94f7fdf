import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  echoExecutor,
  makeCall,
  recordingSink,
  settle,
  testClock,
} from '../../conformance/index.ts';
import {
  annotate,
  composeToolCallers,
  defineLayer,
  hashCanonical,
  ok,
  refuse,
  withCall,
} from '../../src/index.ts';
import { approveCall, hashOf } from '../../src/layer.ts';
import type { Receipt } from '../../src/receipts/index.ts';
import { type AuditLogOptions, auditLog } from './audit-log.ts';
import { heldSink, memoryFiles, runThrough } from './testing.fixture.ts';

const readOnly = { annotations: { readOnly: true } };

/** The receipts of one call through a stack. */
async function receiptsOf(
  options: Omit<AuditLogOptions, 'sink'>,
  ...[inner = [], partial, next]: Partial<Parameters<typeof runThrough>>
) {
  const sink = recordingSink<Receipt>();
  const { result } = await runThrough([auditLog({ ...options, sink }), ...inner], partial, next);
  return { receipts: sink.records, receipt: sink.records[0] as Receipt, result };
}

describe('auditLog', () => {
  it('lets every call through as it is', async () => {
    const { result, entered } = await runThrough([auditLog(() => {})], { toolArgs: { text: 'a' } });

    expect(result).toMatchObject({ status: 'ok', executed: 'yes', result: { text: 'a' } });
    expect(result.audit).toMatchObject({ layers: [{ name: 'auditLog', status: 'ok' }] });
    expect(entered).toHaveLength(1);
  });

  it('writes one receipt with every field, and no value of the call', async () => {
    const turn = { runId: 'run-1', model: 'm', provider: 'p', iteration: 3, emitOrder: 2 };
    const { receipts } = await receiptsOf({}, [], {
      toolArgs: { text: 'a secret' },
      turn,
      annotations: { kind: 'read', readOnly: true },
    });
    const hash = hashCanonical({ text: 'a secret' });

    expect(receipts).toEqual([
      {
        ...{
          schema_version: 1,
          record: 'receipt',
          session_id: 'session-1',
          run_id: 'run-1',
          tool_call_id: 'call-1',
          tool_name: 'echo',
        },
        ...{
          iteration: 3,
          turn_index: 2,
          emit_order: 2,
          reason: null,
          kind: 'read',
          executor: 'local',
          status: 'ok',
          error_category: null,
        },
        ...{
          executed: 'yes',
          blocked_by: null,
          duration_ms: 0,
          requested_hash: hash,
          approved_hash: null,
          executed_hash: hash,
        },
        ...{
          args_hash: hash,
          result_hash: hash,
          model: 'm',
          provider: 'p',
          emitted_at: '2026-01-01T00:00:00.000Z',
        },
        audit: {
          kind: 'read',
          hints: { read_only: true, destructive: false, idempotent: false, open_world: true },
          layers: [],
        },
      },
    ]);
    expect(JSON.stringify(receipts)).not.toContain('a secret');
    expect(Object.isFrozen(receipts[0]?.audit)).toBe(true);
  });

  it('writes null where nothing is known', async () => {
    const { receipt } = await receiptsOf(
      {},
      [],
      { turn: { iteration: 0 }, declaredExecutor: null },
      async (call) => ok(call),
    );

    expect(receipt).toMatchObject({
      turn_index: null,
      run_id: null,
      model: null,
      provider: null,
      kind: null,
      executor: null,
      result_hash: null,
    });
  });

  it('measures the call by the clock that never runs backwards', async () => {
    const clock = testClock();
    const sink = recordingSink<Receipt>();
    const calling = composeToolCallers([auditLog(sink)], { clock })(makeCall(), async (call) => {
      await new Promise<void>((resolve) => clock.after(12.3456789, resolve));
      return ok(call);
    });
    await clock.advance(20);
    await calling;

    expect(sink.records).toMatchObject([
      { duration_ms: 12.346, emitted_at: '2026-01-01T00:00:00.012Z' },
    ]);
  });

  it('does not count the time that the sink takes', async () => {
    const clock = testClock();
    const lines: Receipt[] = [];
    const slow = (receipt: Receipt) =>
      new Promise<void>((resolve) => void (lines.push(receipt), clock.after(50, resolve)));
    const calling = composeToolCallers([auditLog({ sink: slow, intent: true })], { clock })(
      makeCall(),
      echoExecutor(),
    );
    await clock.advance(100);
    await calling;

    expect(lines.map(({ duration_ms }) => duration_ms)).toEqual([0, 0]);
  });

  it('tells who turned a call away, and that nothing ran', async () => {
    const no = defineLayer({ name: 'no', caller: (call) => refuse(call, 'policy_blocked', 'No.') });
    const { receipt } = await receiptsOf({}, [no]);

    expect(receipt).toMatchObject({
      status: 'policy_blocked',
      error_category: 'policy_blocked',
      blocked_by: 'no',
      executed: 'no',
    });
    expect(receipt).toMatchObject({ executed_hash: null, approved_hash: null, result_hash: null });
  });

  it('tells of a tool that failed', async () => {
    const { receipt } = await receiptsOf({}, [], { toolArgs: { text: 'a' } }, () =>
      Promise.reject(new Error('no')),
    );

    expect(receipt).toMatchObject({
      status: 'executor_error',
      error_category: 'exception',
      executed: 'unknown',
      blocked_by: null,
    });
    expect(receipt.executed_hash).toBe(hashCanonical({ text: 'a' }));
  });

  it('keeps apart what was asked for, approved and executed', async () => {
    const edit = defineLayer({
      name: 'edit',
      caller: (call, next) => next(withCall(call, { toolArgs: { ...call.toolArgs, edited: 1 } })),
    });
    const consent = defineLayer({
      name: 'consent',
      caller: (call, next) => next(approveCall(call)),
    });
    const strip = defineLayer({
      name: 'strip',
      rewrites: true,
      caller: (call, next) => next(withCall(call, { toolArgs: {} })),
    });
    const { receipt } = await receiptsOf({}, [consent, strip], { toolArgs: { text: 'a' } });
    const edited = await receiptsOf({}, [edit, consent], { toolArgs: { text: 'a' } });

    expect(receipt).toMatchObject({
      requested_hash: hashCanonical({ text: 'a' }),
      executed_hash: hashCanonical({}),
    });
    expect(receipt.approved_hash).toBe(receipt.requested_hash);
    expect(receipt.audit?.rewrites).toEqual([{ layer: 'strip', paths: ['text'] }]);
    expect(edited.receipt.approved_hash).toBe(hashCanonical({ text: 'a', edited: 1 }));
    expect(edited.receipt.executed_hash).toBe(edited.receipt.approved_hash);
  });

  it.each([
    [{ reason: 'why', summary: 'line' }, 'why'],
    [{ summary: 'line' }, 'line'],
    [{}, null],
  ])('takes the reason from %j', async (patch, reason) => {
    const says = defineLayer({
      name: 'says',
      caller: async (call, next) => annotate(await next(call), { kind: 'think', ...patch }),
    });
    const { receipt } = await receiptsOf({}, [says], { annotations: { kind: 'read' } });

    expect(receipt).toMatchObject({ reason, kind: 'think', audit: { layers: [{ name: 'says' }] } });
  });

  it('shows the sink only what every cleaner of the stack has seen', async () => {
    const cleaner = defineLayer({
      name: 'cleaner',
      scrub: (text) => text.replaceAll('sk-123', '***'),
      caller: (call, next) => next(call),
    });
    const says = defineLayer({
      name: 'says',
      caller: async (call, next) => annotate(await next(call), { reason: 'with sk-123' }),
    });
    const { receipt } = await receiptsOf({}, [cleaner, says]);

    expect(receipt).toMatchObject({ reason: 'with ***', audit: { reason: 'with ***' } });
    expect(JSON.stringify(receipt)).not.toContain('sk-123');
  });

  it('gives layers inside the hash that stands in the receipt, worked out once', async () => {
    let seen = '';
    const telemetry = defineLayer({
      name: 'telemetry',
      caller: (call, next) => {
        seen = hashOf(call, call.toolArgs);
        return next(call);
      },
    });
    const { receipt } = await receiptsOf({ key: { id: 'k1', secret: 's' } }, [telemetry], {
      toolArgs: { text: 'a' },
    });

    expect(seen).toMatch(/^hmac-sha256:k1:/);
    expect(receipt.args_hash).toBe(seen);
  });
});

describe('auditLog options', () => {
  it('sink: a function is awaited', async () => {
    const sink = heldSink();
    let ended = false;
    const running = runThrough([auditLog({ sink })]).then(() => (ended = true));
    await settle();

    expect([sink.receipts.length, ended]).toEqual([1, false]);
    sink.release();
    expect(await running).toBe(true);
  });

  it('sink: receipt files get the receipt with its place in it, and the result names the place', async () => {
    const files = memoryFiles();
    const { result } = await runThrough([auditLog(files)]);

    expect(result.audit?.receiptUri).toBe('file:///receipts/session-1.jsonl#seq=1');
    expect(files.lines).toMatchObject([
      {
        durability: 'write',
        receipt: { audit: { receipt_uri: 'file:///receipts/session-1.jsonl#seq=1' } },
      },
    ]);
  });

  it('redact leaves members out of every hash, at every depth', async () => {
    const toolArgs = {
      text: 'a',
      token: '1',
      list: [{ token: '2', deep: { token: '3', kept: 1 } }],
    };
    const { receipt } = await receiptsOf({ redact: ['token'] }, [], { toolArgs });
    const hash = hashCanonical({ text: 'a', list: [{ deep: { kept: 1 } }] });

    expect(receipt).toMatchObject({
      requested_hash: hash,
      executed_hash: hash,
      args_hash: hash,
      result_hash: hash,
    });
    expect((await receiptsOf({ redact: [] }, [], { toolArgs })).receipt.args_hash).toBe(
      hashCanonical(toolArgs),
    );
  });

  it.each([
    [{}, {}, 'write'],
    [{ durability: 'fsync' as const }, {}, 'fsync'],
    [{ durability: 'background' as const }, {}, 'background'],
    [{ durability: 'fsync' as const }, { prefetchNextTurn: true }, 'background'],
  ])('durability: %j in a turn %j asks receipt files for %s', async (options, turn, durability) => {
    const files = memoryFiles();
    await runThrough([auditLog({ ...options, sink: files })], { turn });

    expect(files.lines.map((line) => line.durability)).toEqual([durability]);
  });

  it.each([
    [{ durability: 'background' as const }, {}],
    [{}, { prefetchNextTurn: true }],
  ])(
    'durability: %j in a turn %j does not wait for a function, but close does',
    async (options, turn) => {
      const sink = heldSink();
      const layer = auditLog({ ...options, sink });
      const { result } = await runThrough([layer], { turn });
      let closed = false;
      const closing = layer.close?.().then(() => (closed = true));
      await settle();

      expect([result.status, sink.receipts.length, closed]).toEqual(['ok', 1, false]);
      sink.release();
      await closing;
    },
  );

  it('durability: background waits again when a thousand receipts are not taken', async () => {
    const sink = heldSink();
    const layer = auditLog({ sink, durability: 'background' });
    for (let index = 0; index < 1_000; index += 1) await runThrough([layer]);
    let ended = false;
    const last = runThrough([layer]).then(() => (ended = true));
    await settle();

    expect(ended).toBe(false);
    sink.release();
    await last;
  });

  it('intent is kept before a tool runs that may change something', async () => {
    const sink = heldSink();
    const executor = echoExecutor();
    const running = runThrough(
      [auditLog({ sink, intent: true, durability: 'background' })],
      { toolArgs: { text: 'a' } },
      executor,
    );
    await settle();

    expect(executor.calls).toHaveLength(0);
    expect(sink.receipts).toMatchObject([
      {
        record: 'intent',
        status: null,
        executed: 'no',
        executed_hash: null,
        audit: null,
        reason: null,
      },
    ]);
    expect(sink.receipts[0]?.requested_hash).toBe(hashCanonical({ text: 'a' }));
    sink.release();
    await running;
    expect(executor.calls).toHaveLength(1);
    expect(sink.receipts.map(({ record }) => record)).toEqual(['intent', 'receipt']);
  });

  it('intent asks receipt files for more than background, and writes none for a tool that only reads', async () => {
    const files = memoryFiles();
    await runThrough([auditLog({ sink: files, intent: true, durability: 'background' })]);
    await runThrough([auditLog({ sink: files, intent: true, durability: 'fsync' })]);
    await runThrough([auditLog({ sink: files, intent: true })], readOnly);

    expect(files.lines.map((line) => `${line.receipt.record} ${line.durability}`)).toEqual([
      ...['intent write', 'receipt background', 'intent fsync', 'receipt fsync', 'receipt write'],
    ]);
  });

  it.each([
    [
      'the key that was given',
      { key: { id: 'mine', secret: 's' } },
      { id: 'files', secret: 't' },
      /^hmac-sha256:mine:/,
    ],
    ['the key of the files', {}, { id: 'files', secret: 't' }, /^hmac-sha256:files:/],
    ['none where that was said', { key: false as const }, { id: 'files', secret: 't' }, /^sha256:/],
    ['none where nobody has one', {}, null, /^sha256:/],
  ])('key: hashes are made with %s', async (_name, options, ofFiles, pattern) => {
    const files = memoryFiles(ofFiles);
    await runThrough([auditLog({ ...options, sink: files })]);

    expect(files.lines[0]?.receipt.args_hash).toMatch(pattern);
    expect(files.lines[0]?.receipt.result_hash).toMatch(pattern);
  });

  it('key: a function gets plain hashes unless one is given', async () => {
    expect((await receiptsOf({})).receipt.args_hash).toMatch(/^sha256:/);
    expect((await receiptsOf({ key: { id: 'k', secret: 's' } })).receipt.args_hash).toMatch(
      /^hmac-sha256:k:/,
    );
  });
});

describe('auditLog leaves nothing behind', () => {
  it('no listener, whatever the sink does', async () => {
    const { signal } = new AbortController();
    const held = heldSink();
    const running = runThrough([auditLog(held)], { signal });
    await settle();
    held.release();
    await running;
    await runThrough(
      [auditLog({ sink: () => Promise.reject(new Error('no')), onSinkError: 'warn' })],
      { signal },
    );
    await runThrough([auditLog({ sink: memoryFiles(), intent: true })], { signal });

    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('and closes only what it opened', async () => {
    const files = memoryFiles();
    await auditLog(files).close?.();

    expect(files.events).toEqual(['flush']);
  });
});

describe('auditLog must stand outside', () => {
  const names = [
    'consent',
    'requiredReason',
    'redaction',
    'idempotency',
    'rateLimit',
    'dryRun',
    'timeout',
    'retry',
    'permissions',
  ];

  it.each(names)('%s', (name) => {
    const other = defineLayer({ name, caller: (call, next) => next(call) });

    expect(() => composeToolCallers([other, auditLog('cloud')])).toThrow(
      expect.objectContaining({ code: 'ERR_LAYER_ORDER' }) as Error,
    );
    expect(() => composeToolCallers([auditLog('cloud'), other])).not.toThrow();
  });
});

describe('auditLog refuses to be built', () => {
  it.each([
    [undefined],
    [null],
    ['disk'],
    [{}],
    [{ sink: 'Local' }],
    [{ sink: {} }],
    [{ sink: 'cloud', redact: 'token' }],
    [{ sink: 'cloud', redact: [''] }],
    [{ sink: 'cloud', durability: 'disk' }],
    [{ sink: 'cloud', intent: true }],
    [{ sink: () => {}, intent: 1 }],
    [{ sink: 'cloud', key: true }],
    [{ sink: 'cloud', key: { id: '', secret: 's' } }],
    [{ sink: 'cloud', key: { id: 'a', secret: '' } }],
    [{ sink: 'cloud', onSinkError: 'ignore' }],
    [{ sink: 'cloud', sinks: [] }],
    [Object.assign(() => {}, { append: () => {} })],
  ])('with %j', (options) => {
    expect(() => auditLog(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
