import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, settle, testClock } from '../../conformance/index.ts';
import {
  annotate,
  causeOf,
  composeToolCallers,
  defineLayer,
  ok,
  type ToolLayer,
} from '../../src/index.ts';
import type { LocalReceiptSink, Receipt, ReceiptSink } from '../../src/receipts/index.ts';
import { auditLog } from './audit-log.ts';
import { heldSink, memoryFiles, runThrough, troubledSink } from './testing.fixture.ts';

/** Calls with ids of their own through one layer. */
function lineOf(layer: ToolLayer) {
  const executor = echoExecutor();
  const caller = composeToolCallers([layer], { clock: testClock() });
  return {
    call: (callId: string, signal?: AbortSignal) =>
      caller(makeCall({ callId, ...(signal && { signal }) }), executor),
    executor,
  };
}

const idsOf = (receipts: readonly Receipt[]) => receipts.map((receipt) => receipt.tool_call_id);

describe('auditLog with a sink in trouble', () => {
  it("onSinkError: 'block' leaves a call that has run as it is, and says so", async () => {
    const { call } = lineOf(auditLog(troubledSink(true)));
    const result = await call('a');

    expect(result).toMatchObject({ status: 'ok', executed: 'yes' });
    expect(result.audit).toMatchObject({
      metadata: { sinkFailed: true },
      layers: [{ name: 'auditLog', status: 'sink_failed' }],
    });
    expect(JSON.stringify(result)).not.toMatch(/sk-123|disk/);
  });

  it('adds to what layers inside noted, and takes nothing away', async () => {
    const notes = defineLayer({
      name: 'notes',
      caller: async (call, next) => annotate(await next(call), { metadata: { noted: 1 } }),
    });
    const { result } = await runThrough([auditLog(troubledSink(true)), notes]);

    expect(result.audit?.metadata).toEqual({ noted: 1, sinkFailed: true });
  });

  it("onSinkError: 'block' runs nothing until the receipt is delivered, then goes on", async () => {
    const sink = troubledSink(true);
    const { call, executor } = lineOf(auditLog({ sink }));
    await call('a');
    const refused = await call('b');

    expect(refused).toMatchObject({
      status: 'audit_unavailable',
      errorCategory: 'audit_unavailable',
      executed: 'no',
      errorClass: 'retryable',
    });
    expect(JSON.stringify(refused)).not.toMatch(/sk-123|disk/);
    expect(causeOf(refused)).toMatchObject({ message: 'the disk is full: /srv/token-sk-123' });
    expect(executor.calls).toHaveLength(1);
    sink.failing = false;
    expect((await call('c')).status).toBe('ok');
    expect(idsOf(sink.receipts)).toEqual(['a', 'c']);
  });

  it("onSinkError: 'block' keeps only the receipts of calls that ran", async () => {
    const sink = troubledSink(true);
    const { call } = lineOf(auditLog({ sink }));
    await Promise.all([call('a'), call('b')]);
    for (let index = 0; index < 50; index += 1) await call(`refused-${index}`);
    sink.failing = false;
    await call('c');

    expect(idsOf(sink.receipts).sort()).toEqual(['a', 'b', 'c']);
  });

  it("onSinkError: 'block' delivers a kept receipt once, also when two calls come at once", async () => {
    const sink = troubledSink(true);
    const { call } = lineOf(auditLog({ sink }));
    await call('a');
    sink.failing = false;
    await Promise.all([call('b'), call('c'), call('d')]);

    expect(idsOf(sink.receipts)).toEqual(['a', 'b', 'c', 'd']);
  });

  it("onSinkError: 'block' holds back after a background receipt failed", async () => {
    const sink = troubledSink(true);
    const { call, executor } = lineOf(auditLog({ sink, durability: 'background' }));
    await call('a');
    await settle();

    expect((await call('b')).status).toBe('audit_unavailable');
    expect(executor.calls).toHaveLength(1);
  });

  it("onSinkError: 'warn' never holds a call back, counts what is lost, and says so", async () => {
    const sink = troubledSink(true);
    const { call } = lineOf(auditLog({ sink, onSinkError: 'warn' }));
    await call('a');
    const second = await call('b');
    sink.failing = false;
    const third = await call('c');

    expect(second).toMatchObject({
      status: 'ok',
      audit: { metadata: { sinkFailed: true }, layers: [{ status: 'sink_failed', lost: 2 }] },
    });
    expect(third.audit).toMatchObject({ layers: [{ status: 'ok', lost: 2 }] });
    expect(third.audit).not.toHaveProperty('metadata');
    expect([idsOf(sink.receipts), sink.tries]).toEqual([['c'], 3]);
  });

  it("onSinkError: 'warn' keeps nothing, so close has nothing to try again", async () => {
    const sink = troubledSink(true);
    const layer = auditLog({ sink, onSinkError: 'warn' });
    await lineOf(layer).call('a');
    await layer.close?.();

    expect(sink.tries).toBe(1);
  });

  it('intent that cannot be kept keeps the tool from running, and both lines are delivered later', async () => {
    const sink = troubledSink(true);
    const { call, executor } = lineOf(auditLog({ sink, intent: true }));
    const result = await call('a');

    expect(result).toMatchObject({ status: 'audit_unavailable', executed: 'no' });
    expect(executor.calls).toHaveLength(0);
    sink.failing = false;
    await call('b');
    expect(
      sink.receipts.map((line) => [line.tool_call_id, line.record, line.status, line.executed]),
    ).toEqual([
      ['a', 'intent', null, 'no'],
      ['a', 'receipt', 'audit_unavailable', 'no'],
      ['b', 'intent', null, 'no'],
      ['b', 'receipt', 'ok', 'yes'],
    ]);
  });

  it("intent that cannot be kept holds nothing back with onSinkError: 'warn'", async () => {
    const { call, executor } = lineOf(
      auditLog({ sink: troubledSink(true), intent: true, onSinkError: 'warn' }),
    );

    expect(await call('a')).toMatchObject({
      status: 'ok',
      audit: { layers: [{ status: 'sink_failed', lost: 2 }] },
    });
    expect(executor.calls).toHaveLength(1);
  });

  it('close tries once more, and rejects when something is lost', async () => {
    const sink = troubledSink(true);
    const layer = auditLog({ sink });
    await lineOf(layer).call('a');
    await expect(layer.close?.()).rejects.toThrow('the disk is full');
    sink.failing = false;
    await layer.close?.();

    expect(idsOf(sink.receipts)).toEqual(['a']);
  });

  it('close lets go of receipt files even when something is lost', async () => {
    const files = memoryFiles();
    const layer = auditLog(files);
    await runThrough([layer], {}, async (call) => {
      files.trouble = 'append';
      return ok(call);
    });

    await expect(layer.close?.()).rejects.toThrow('the file cannot be used');
    expect(files.events).toEqual(['flush']);
  });
});

describe('auditLog with receipt files in trouble', () => {
  it.each(['append', 'write'] as const)(
    'holds calls back while they cannot %s, and delivers once afterwards',
    async (trouble) => {
      const files = memoryFiles();
      const { call, executor } = lineOf(auditLog(files));
      await call('a');
      files.trouble = trouble;
      expect(await call('b')).toMatchObject({ status: 'audit_unavailable', executed: 'no' });
      files.trouble = 'none';
      await call('c');

      expect(idsOf(files.lines.map((line) => line.receipt))).toEqual(['a', 'c']);
      expect(executor.calls).toHaveLength(2);
    },
  );

  it.each(['append', 'write'] as const)(
    'keeps the receipt of a call that ran while they could not %s',
    async (trouble) => {
      const files = memoryFiles();
      const breaks = echoExecutor();
      const caller = composeToolCallers([auditLog(files)], { clock: testClock() });
      const result = await caller(makeCall({ callId: 'a' }), (call) => {
        files.trouble = trouble;
        return breaks(call);
      });
      files.trouble = 'none';
      await caller(makeCall({ callId: 'b' }), breaks);

      expect(result).toMatchObject({
        status: 'ok',
        audit: { layers: [{ status: 'sink_failed' }] },
      });
      expect(
        files.lines.map(({ receipt }) => [receipt.tool_call_id, receipt.audit?.receipt_uri]),
      ).toEqual([
        ['a', 'file:///receipts/session-1.jsonl#seq=1'],
        ['b', 'file:///receipts/session-1.jsonl#seq=2'],
      ]);
    },
  );

  it('asks for the file of the next call too, once the receipt of another session is delivered', async () => {
    const away = async (sessionId: string) => {
      if (sessionId === 'b') throw new Error('no');
    };
    const files = Object.assign(memoryFiles(), { ready: away });
    const caller = composeToolCallers([auditLog(files)], { clock: testClock() });
    await caller(makeCall({ turn: { sessionId: 'a' } }), async (call) => {
      files.trouble = 'append';
      return ok(call);
    });
    files.trouble = 'none';

    expect((await caller(makeCall({ turn: { sessionId: 'b' } }), echoExecutor())).status).toBe(
      'audit_unavailable',
    );
    expect(files.lines.map(({ receipt }) => receipt.session_id)).toEqual(['a']);
  });

  it('hears of receipts in the background that files of the host’s own could not write', async () => {
    const files = Object.assign(memoryFiles(), { ready: () => null });
    const layer = auditLog({ sink: files, durability: 'background', onSinkError: 'warn' });
    const { call } = lineOf(layer);
    files.trouble = 'write';
    await call('a');
    await settle();
    files.trouble = 'none';

    expect((await call('b')).audit).toMatchObject({ layers: [{ status: 'ok', lost: 1 }] });
  });

  it.each<[string, () => unknown]>([
    ['nothing', () => undefined],
    ['an object', () => ({})],
    ['a thenable that settles twice', () => ({ then: (is: () => void) => (is(), is()) })],
  ])('takes files for ready that answer with %s', async (_name, ready) => {
    const files = Object.assign(memoryFiles(), { ready: ready as LocalReceiptSink['ready'] });
    const { call, executor } = lineOf(auditLog(files));

    expect((await call('a')).status).toBe('ok');
    expect(executor.calls).toHaveLength(1);
    expect(idsOf(files.lines.map((line) => line.receipt))).toEqual(['a']);
  });

  it('holds calls back while files throw instead of answering', async () => {
    const ready = (): never => {
      throw new Error('no');
    };
    const { call, executor } = lineOf(auditLog(Object.assign(memoryFiles(), { ready })));

    expect(await call('a')).toMatchObject({ status: 'audit_unavailable', executed: 'no' });
    expect(executor.calls).toHaveLength(0);
  });

  it('names no place where there is none', async () => {
    const files = memoryFiles();
    const { call } = lineOf(auditLog({ sink: files, onSinkError: 'warn' }));
    files.trouble = 'append';

    expect((await call('a')).audit).not.toHaveProperty('receiptUri');
  });
});

describe('auditLog and a caller that leaves', () => {
  it('ends the wait for a sink that never answers, without losing the receipt', async () => {
    const sink = heldSink();
    const layer = auditLog(sink);
    const controller = new AbortController();
    const calling = lineOf(layer).call('a', controller.signal);
    await settle();
    controller.abort();
    const result = await calling;
    let closed = false;
    const closing = layer.close?.().then(() => (closed = true));
    await settle();

    expect(result).toMatchObject({
      status: 'ok',
      executed: 'yes',
      audit: { layers: [{ status: 'sink_pending' }] },
    });
    expect([idsOf(sink.receipts), closed]).toEqual([['a'], false]);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    sink.release();
    await closing;
  });

  it('tries a receipt again that failed after its caller had left', async () => {
    const sink = heldSink();
    const { call } = lineOf(auditLog(sink));
    const controller = new AbortController();
    const calling = call('a', controller.signal);
    await settle();
    controller.abort();
    await calling;
    sink.break();
    await settle();
    const next = call('b');
    await settle();

    expect(idsOf(sink.receipts)).toEqual(['a', 'a']);
    sink.release();
    await settle();
    sink.release();
    expect((await next).status).toBe('ok');
  });

  it.each([[auditLog(memoryFiles())], [auditLog(() => {})]])(
    'writes a receipt for a call that was cancelled before it began',
    async (layer) => {
      const files = memoryFiles();
      const caller = composeToolCallers([auditLog(files), layer], { clock: testClock() });
      const executor = echoExecutor();
      const result = await caller(makeCall({ signal: AbortSignal.abort() }), executor);
      await settle();

      expect(result.status).toBe('cancelled');
      expect(files.lines.map(({ receipt }) => receipt.status)).toEqual(['cancelled']);
      expect(executor.calls).toHaveLength(0);
    },
  );

  it('does not run the tool when it leaves before the intent is kept', async () => {
    const sink = heldSink();
    const { call, executor } = lineOf(auditLog({ sink, intent: true }));
    const controller = new AbortController();
    const calling = call('a', controller.signal);
    await settle();
    controller.abort();

    expect(await calling).toMatchObject({ status: 'cancelled', executed: 'no' });
    expect(executor.calls).toHaveLength(0);
    expect(sink.receipts.map(({ record, status }) => [record, status])).toEqual([
      ['intent', null],
      ['receipt', 'cancelled'],
    ]);
  });

  it('keeps nothing for callers that leave while receipts cannot be delivered', async () => {
    const sink = troubledSink(true);
    const { call } = lineOf(auditLog({ sink }));
    await call('a');
    for (let index = 0; index < 20; index += 1) await call(`gone-${index}`, AbortSignal.abort());
    sink.failing = false;
    await call('b');

    expect(idsOf(sink.receipts)).toEqual(['a', 'b']);
  });
});

describe('auditLog and strange sinks', () => {
  const thenable = { then: (resolve: (value: unknown) => void) => resolve(undefined) };

  it.each<[string, ReceiptSink]>([
    ['nothing', () => undefined],
    ['null', () => null],
    ['false', () => false],
    ['an object', () => ({ ok: false })],
    ['a thenable', () => thenable],
    ['a promise of a promise', () => Promise.resolve(Promise.resolve(1))],
  ])('takes a receipt for kept when the sink answers with %s', async (_name, sink) => {
    expect((await runThrough([auditLog(sink)])).result.audit?.layers).toMatchObject([
      { status: 'ok' },
    ]);
  });

  it.each<[string, ReceiptSink]>([
    [
      'throws an error',
      () => {
        throw new Error('no');
      },
    ],
    [
      'throws nothing',
      () => {
        throw undefined;
      },
    ],
    ['rejects with nothing', () => Promise.reject()],
    [
      'answers with a thenable that throws',
      () => ({
        then: () => {
          throw new Error('no');
        },
      }),
    ],
    [
      'answers with a trap',
      () => ({
        get then(): never {
          throw new Error('no');
        },
      }),
    ],
  ])('takes a receipt for lost when the sink %s', async (_name, sink) => {
    const { result } = await runThrough([auditLog(sink)]);

    expect(result).toMatchObject({ status: 'ok', audit: { layers: [{ status: 'sink_failed' }] } });
  });

  it('cannot be made to change a receipt that it was given', async () => {
    const { result } = await runThrough([
      auditLog((receipt) => {
        (receipt as { status: string }).status = 'forged';
      }),
    ]);

    expect(result.audit?.layers).toMatchObject([{ status: 'sink_failed' }]);
  });
});
