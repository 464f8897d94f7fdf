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
  fail,
  hashCanonical,
  type Next,
  ok,
} from '../../src/index.ts';
import type { TelemetryProblem } from '../../src/telemetry/problem.ts';
import { never, recordOf, refusing, run } from './run.fixture.ts';
import type { SpanRecord } from '../../src/telemetry/span-record.ts';
import { telemetry } from './telemetry.ts';

describe('telemetry', () => {
  it('lets every call through as it is', async () => {
    const executor = echoExecutor();
    const { result } = await run({ executor, call: { toolArgs: { text: 'a' } } });

    expect(result).toMatchObject({ status: 'ok', executed: 'yes', result: { text: 'a' } });
    expect(result.audit?.layers).toMatchObject([{ name: 'telemetry', status: 'ok' }]);
    expect(executor.calls).toHaveLength(1);
  });

  it('gives a sink the plain span record, to the letter', async () => {
    const clock = testClock();
    const sink = recordingSink<SpanRecord>();
    const slow: Next = async (call) => {
      await clock.advance(250);
      return ok(call, 'done');
    };
    const inner = defineLayer({
      name: 'inner',
      caller: async (call, next) => annotate(await next(call), {}, { count: 2, cap: 5, key: 'k' }),
    });
    await composeToolCallers([telemetry(sink), inner], { clock })(
      makeCall({ toolArgs: { a: 1 } }),
      slow,
    );

    expect(sink.records).toEqual([
      {
        name: 'tool_call.echo',
        kind: 'tool_call',
        span_id: 'call-1',
        trace_id: 'session-1',
        parent_span_id: null,
        start_time_ms: Date.UTC(2026, 0, 1),
        end_time_ms: Date.UTC(2026, 0, 1) + 250,
        start_time_iso: '2026-01-01T00:00:00.000Z',
        end_time_iso: '2026-01-01T00:00:00.250Z',
        duration_ms: 250,
        status: 'ok',
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'echo',
          'gen_ai.tool.call.id': 'call-1',
          'gen_ai.tool.description': 'Answers with its arguments.',
          'gen_ai.tool.type': 'function',
          'gen_ai.conversation.id': 'session-1',
          'allium.iteration': 1,
          'allium.executor': 'local',
          'allium.status': 'ok',
          'allium.ok': true,
          'allium.executed': 'yes',
          'allium.args_hash': hashCanonical({ a: 1 }),
        },
        events: [
          { name: 'dispatched', time_ms: Date.UTC(2026, 0, 1) },
          { name: 'result_returned', time_ms: Date.UTC(2026, 0, 1) + 250 },
        ],
        child_spans: [
          {
            name: 'tool_call.inner',
            status: 'ok',
            started_at: '2026-01-01T00:00:00.000Z',
            ended_at: '2026-01-01T00:00:00.250Z',
            duration_ms: 250,
            attributes: { count: 2, cap: 5 },
          },
        ],
      },
    ]);
  });

  it('gives every sink the same record, which none of them can change', async () => {
    const record = await recordOf({ inner: [refusing('scope_violation')] });

    const parts = [
      record,
      record.attributes,
      record.events,
      ...record.events,
      record.child_spans,
      ...record.child_spans,
    ];
    expect(parts.filter((part) => !Object.isFrozen(part))).toEqual([]);
  });

  it.each(['scope_violation', 'policy_blocked'])(
    'marks %s with an event, its type and who did it',
    async (status) => {
      const record = await recordOf({ inner: [refusing(status)] });

      expect(record.status).toBe(status);
      expect(record.events.at(-1)).toEqual({
        name: 'scope_violation',
        time_ms: record.end_time_ms,
        attributes: { 'error.type': status },
      });
      expect(record.attributes).toMatchObject({
        'error.type': status,
        'allium.executed': 'no',
        'allium.blocked_by': 'no',
      });
    },
  );

  it('does not call a call that waits for somebody an error', async () => {
    const record = await recordOf({ inner: [refusing('approval_required')] });

    expect(record.status).toBe('approval_required');
    expect(record.attributes).not.toHaveProperty('error.type');
    expect(record.events.map(({ name }) => name)).toEqual(['dispatched', 'result_returned']);
  });

  it('gives an error a type that is a code, never a sentence', async () => {
    const typeOf = async (setup: Parameters<typeof recordOf>[0]) =>
      (await recordOf(setup)).attributes['error.type'];
    const broken: Next = async (call) =>
      fail(call, 'executor_error', null, 'No.', { category: 'card 4111 1111 was refused' });

    expect(await typeOf({ executor: () => Promise.reject(new Error('boom')) })).toBe('exception');
    expect(await typeOf({ executor: broken })).toBe('executor_error');
    expect(await typeOf({ inner: [refusing('no luck with 4111 1111')] })).toBe('_OTHER');
  });

  it('tells of consent, the receipt and resumption where they are known', async () => {
    const decided = {
      decision: 'approved',
      decidedBy: 'ada',
      decidedAt: '2026-01-01T00:00:00Z',
    } as const;
    const inner = defineLayer({
      name: 'inner',
      caller: async (call, next) =>
        annotate(await next(call), { consent: decided, receiptUri: 'file:///r.jsonl#seq=1' }),
    });
    const record = await recordOf({ inner: [inner], call: { turn: { resumes: 1 } } });

    expect(record.attributes).toMatchObject({
      'allium.consent.decision': 'approved',
      'allium.receipt.uri': 'file:///r.jsonl#seq=1',
      'allium.resumes': 1,
    });
    expect(JSON.stringify(record)).not.toContain('ada');
  });

  it.each([
    ['local', 'function', undefined],
    ['mcp_server', 'extension', 'tools/call'],
    ['host_bridge', 'extension', undefined],
    ['provider_native', 'extension', undefined],
    [null, undefined, undefined],
  ] as const)('says what kind of tool %s runs', async (declaredExecutor, type, method) => {
    const { attributes } = await recordOf({ call: { declaredExecutor } });

    expect(attributes['gen_ai.tool.type']).toBe(type);
    expect(attributes['mcp.method.name']).toBe(method);
  });

  it('ends no earlier than the layers inside it, though the wall clock counts whole milliseconds', async () => {
    const times = [1000, 1000, 1001, 1001];
    const ticks = [0.9, 1.1];
    const clock = {
      ...testClock(),
      now: () => times.shift() ?? 1001,
      monotonic: () => ticks.shift() ?? 1.1,
    };
    const sink = recordingSink<SpanRecord>();
    const inner = defineLayer({ name: 'inner', caller: (call) => ok(call) });
    await composeToolCallers([telemetry(sink), inner], { clock })(makeCall(), echoExecutor());

    expect(sink.records).toMatchObject([
      { end_time_ms: 1001, child_spans: [{ ended_at: '1970-01-01T00:00:01.001Z' }] },
    ]);
  });

  it('makes a trace of its own for a call without a session', async () => {
    expect((await recordOf({ call: { turn: { sessionId: '' } } })).trace_id).toBe(
      'tool_call:call-1',
    );
  });

  it('goes by the duration when the wall clock jumps', async () => {
    const times = [1000, 1000, 5_000_000, 5_000_000];
    const ticks = [10, 12.5];
    const sink = recordingSink<SpanRecord>();
    const clock = {
      ...testClock(),
      now: () => times.shift() ?? 5_000_000,
      monotonic: () => ticks.shift() ?? 12.5,
    };
    const noExecutor = defineLayer({ name: 'no', caller: (call) => ok(call) });
    await composeToolCallers([telemetry(sink), noExecutor], { clock })(makeCall(), echoExecutor());

    expect(sink.records).toMatchObject([
      { start_time_ms: 1000, end_time_ms: 1002.5, duration_ms: 2.5 },
    ]);
  });
});

describe('telemetry leaves nothing behind', () => {
  it('close waits for what is outstanding, and tells nothing where nothing was lost', async () => {
    let finish = (): void => {};
    const slow = () => new Promise<void>((resolve) => (finish = resolve));
    const { layer, clock, problems } = await run({ options: { sinks: [slow] } });
    let isClosed = false;
    const closing = layer.close?.().then(() => (isClosed = true));

    await settle();
    expect(isClosed).toBe(false);
    finish();
    await closing;
    expect(problems).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('close gives up after timeoutMs', async () => {
    const { layer, clock, problems } = await run({ options: { sinks: [never], timeoutMs: 50 } });
    const closing = layer.close?.();
    await clock.advance(50);
    await closing;

    expect(problems.map(({ kind }) => kind)).toEqual(['timeout', 'closed']);
    expect(clock.pending).toBe(0);
  });

  it('takes nothing more once closed', async () => {
    const sink = recordingSink<SpanRecord>();
    const problems: TelemetryProblem[] = [];
    const layer = telemetry({ sink, onError: (p) => void problems.push(p) });
    await layer.close?.();
    await composeToolCallers([layer])(makeCall(), echoExecutor());

    expect(sink.records).toEqual([]);
    expect(problems).toMatchObject([{ kind: 'full', message: 'the layer is closed' }]);
  });
});

describe('telemetry refuses', () => {
  it.each([
    [null],
    ['stdout'],
    [5],
    [[]],
    [{ sink: 'file' }],
    [{ sinks: 'otel' }],
    [{ sinks: ['otel', 'x'] }],
    [{ snik: 'otel' }],
    [{ project: '' }],
    [{ environment: 1 }],
    [{ release: 1 }],
    [{ persona: 1 }],
    [{ mode: 1 }],
    [{ traceId: '' }],
    [{ parentSpanId: 5 }],
    [{ attributes: { a: {} } }],
    [{ attributes: { a: Number.NaN } }],
    [{ attributes: { ['x'.repeat(129)]: 1 } }],
    [{ attributes: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`a${i}`, i])) }],
    [{ captureContent: 'yes' }],
    [{ timeoutMs: 0 }],
    [{ maxPending: 0 }],
    [{ onError: 'log' }],
  ])('%j', (options) => {
    expect(() => telemetry(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
