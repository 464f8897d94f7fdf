import { context, type Context, trace } from '@opentelemetry/api';
import { AlwaysOffSampler, type ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { afterEach, describe, expect, it } from 'vitest';
import { recordingSink, testClock } from '../../conformance/index.ts';
import { strictCheck } from '../../src/core/wire/schema-check.fixture.ts';
import { type ApprovalAnswer, defineTool, governTools, type ToolLayer } from '../../src/index.ts';
import { startCollector } from '../../src/telemetry/otel/collector.fixture.ts';
import { startTelemetry } from '../../src/telemetry/otel/index.ts';
import { memoryApprovals } from '../../src/policy/index.ts';
import { consent } from '../consent/consent.ts';
import { permissions } from '../permissions/permissions.ts';
import { startTracing, stopSdk } from '../../src/telemetry/otel/otel-sdk.fixture.ts';
import { otlpTraces } from '../../src/telemetry/langfuse-sink.ts';
import type { SpanRecord } from '../../src/telemetry/span-record.ts';
import { SPAN_SCHEMA } from '../../src/telemetry/span-schema.ts';
import { telemetry, type TelemetryOptions } from './telemetry.ts';

afterEach(stopSdk);

const HOUR = 3_600_000;
const WAIT = 'allium.approval_wait';
const allow: ApprovalAnswer = {
  decision: 'allow_once',
  decidedBy: 'ada-canary',
  reason: 'reason-canary',
};

interface Setup {
  readonly layers?: readonly ToolLayer[];
  readonly first?: TelemetryOptions | null;
  readonly second?: TelemetryOptions;
  readonly decision?: ApprovalAnswer;
  /** What is active where the call is taken up. */
  readonly active?: Context;
}

/** One process asks, and an hour later another one takes the call up. */
async function acrossAnHour({
  layers = [consent({ default: 'ask' })],
  first = {},
  second = {},
  decision = allow,
  active,
}: Setup = {}) {
  const clock = testClock();
  const approvals = memoryApprovals();
  const pay = defineTool({
    name: 'pay',
    description: '',
    inputSchema: { type: 'object' },
    execute: () => 'paid',
  });
  const host = (options: TelemetryOptions | null) =>
    governTools({
      tools: [pay],
      layers: [...(options === null ? [] : [telemetry(options)]), ...layers],
      approvals,
      clock,
    });
  const asked = await host(first).call(
    { name: 'pay', arguments: {}, id: 'call-1' },
    { turn: { sessionId: 's' } },
  );
  await clock.advance(HOUR);
  const take = () => host(second).resume(asked.interruption?.id ?? '', decision);
  return {
    id: asked.interruption?.id,
    kept: await approvals.get(asked.interruption?.id ?? ''),
    result: await (active === undefined ? take() : context.with(active, take)),
  };
}

const named = (spans: readonly ReadableSpan[], name: string) =>
  spans.filter((span) => span.name === name);
const idOf = (span: ReadableSpan | undefined) => span?.spanContext().spanId;
const traceOf = (span: ReadableSpan | undefined) => span?.spanContext().traceId;
const millis = ([seconds, nanos]: readonly [number, number] | [number, number]) =>
  seconds * 1000 + nanos / 1e6;

describe('the trace of a call that waits for somebody', () => {
  it('goes on in another process: both passes have one trace, and the second is under the first', async () => {
    const sdk = startTracing();
    const { result } = await acrossAnHour();
    const [first, second] = named(sdk.spans, 'execute_tool pay');

    expect(result.status).toBe('ok');
    expect(traceOf(second)).toBe(traceOf(first));
    expect(second?.parentSpanContext).toMatchObject({ spanId: idOf(first), isRemote: true });
    expect(second?.links).toEqual([]);
    expect(second?.attributes).toMatchObject({ 'allium.resumes': 1 });
  });

  it('is kept as a traceparent with the question', async () => {
    const sdk = startTracing();
    const { kept } = await acrossAnHour();
    const [first] = named(sdk.spans, 'execute_tool pay');

    expect(kept?.trace).toBe(`00-${traceOf(first)}-${idOf(first)}-01`);
  });

  it('goes on also where something else is active, which is linked', async () => {
    const sdk = startTracing();
    const worker = trace.getTracer('worker').startSpan('poll');
    await acrossAnHour({ active: trace.setSpan(context.active(), worker) });
    const [first, second] = named(sdk.spans, 'execute_tool pay');

    expect(traceOf(second)).toBe(traceOf(first));
    expect(traceOf(second)).not.toBe(worker.spanContext().traceId);
    expect(second?.parentSpanContext?.spanId).toBe(idOf(first));
    expect(second?.links.map((link) => link.context)).toEqual([worker.spanContext()]);
  });

  it('goes on also where the host fixed another parent, which is linked', async () => {
    const sdk = startTracing();
    const [traceId, parentSpanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    await acrossAnHour({ second: { traceId, parentSpanId } });
    const [first, second] = named(sdk.spans, 'execute_tool pay');

    expect(second?.parentSpanContext?.spanId).toBe(idOf(first));
    expect(second?.links).toMatchObject([{ context: { traceId, spanId: parentSpanId } }]);
  });

  it('has a span for the time somebody thought, beside the pass that follows it', async () => {
    const sdk = startTracing();
    const { id } = await acrossAnHour();
    const [first] = named(sdk.spans, 'execute_tool pay');
    const [wait, more] = named(sdk.spans, WAIT);

    expect(more).toBeUndefined();
    expect(wait?.parentSpanContext?.spanId).toBe(idOf(first));
    expect([millis(wait?.startTime ?? [0, 0]), millis(wait?.endTime ?? [0, 0])]).toEqual([
      Date.UTC(2026, 0, 1),
      Date.UTC(2026, 0, 1) + HOUR,
    ]);
    expect(wait?.attributes).toEqual({
      'allium.approval.id': id,
      'allium.approval.gate': 'consent',
      'allium.approval.decision': 'allow_once',
    });
  });

  it.each<[string, ApprovalAnswer]>([
    ['reject_once', { decision: 'reject_once', decidedBy: 'ada-canary', reason: 'reason-canary' }],
    ['allow_once', allow],
  ])('tells the answer %s and neither who gave it nor why', async (decision, answer) => {
    const sdk = startTracing();
    const sink = recordingSink<SpanRecord>();
    await acrossAnHour({ decision: answer, second: { sinks: ['otel', sink] } });

    expect(named(sdk.spans, WAIT)[0]?.attributes).toMatchObject({
      'allium.approval.decision': decision,
    });
    expect(
      JSON.stringify([
        sdk.spans.map(({ attributes, events, status }) => [attributes, events, status]),
        sink.records,
      ]),
    ).not.toContain('canary');
  });

  it('has one for permissions too, and for an answer that came too late', async () => {
    const sdk = startTracing();
    await acrossAnHour({
      layers: [permissions({ checkers: [() => 'require_approval'], expiresMs: 1000 })],
    });
    const [wait] = named(sdk.spans, WAIT);

    expect(wait?.attributes).toMatchObject({
      'allium.approval.gate': 'permissions',
      'allium.approval.decision': 'expired',
    });
  });

  it('belongs to the second pass where nobody traced the first', async () => {
    const sdk = startTracing();
    await acrossAnHour({ first: null });
    const [second] = named(sdk.spans, 'execute_tool pay');
    const [wait] = named(sdk.spans, WAIT);

    expect(second?.parentSpanContext).toBeUndefined();
    expect(wait?.parentSpanContext?.spanId).toBe(idOf(second));
  });

  it('stays unrecorded where the first pass was', async () => {
    const sdk = startTracing(new AlwaysOffSampler());
    const { kept } = await acrossAnHour();

    expect(sdk.spans).toEqual([]);
    expect(kept?.trace).toMatch(/-00$/);
  });

  it('reaches a collector whole', async () => {
    const collector = await startCollector();
    const running = await startTelemetry({ serviceName: 'shop', url: collector.url });
    await acrossAnHour();
    await running.shutdown();
    const calls = collector.spans.filter(({ name }) => name === 'execute_tool pay');
    const waits = collector.spans.filter(({ name }) => name === WAIT);
    await collector.close();

    expect(calls).toHaveLength(2);
    expect(waits).toHaveLength(1);
    expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1);
  });
});

describe('the records of a call that waits for somebody', () => {
  it('share their trace, and the second has the wait', async () => {
    const sink = recordingSink<SpanRecord>();
    const { id } = await acrossAnHour({ first: { sink }, second: { sink } });
    const [first, second] = sink.records;

    expect(first?.trace_id).toBe(second?.trace_id);
    expect(first).not.toHaveProperty('approval_wait');
    expect(second?.approval_wait).toEqual({
      started_at: '2026-01-01T00:00:00.000Z',
      ended_at: '2026-01-01T01:00:00.000Z',
      duration_ms: HOUR,
      attributes: {
        'allium.approval.id': id,
        'allium.approval.gate': 'consent',
        'allium.approval.decision': 'allow_once',
      },
    });
    expect(strictCheck(SPAN_SCHEMA)(second)).toEqual([]);
    expect(
      strictCheck(SPAN_SCHEMA)({ ...second, approval_wait: { ...second?.approval_wait, more: 1 } }),
    ).not.toEqual([]);
  });

  it('are one trace in OTLP, with the wait below the pass that follows it', async () => {
    const sink = recordingSink<SpanRecord>();
    await acrossAnHour({ first: { sink }, second: { sink } });
    const spans = JSON.stringify(otlpTraces(sink.records, 'shop', () => ({})));
    const ids = [...spans.matchAll(/"traceId":"(\w+)"/g)].map(([, id]) => id);

    expect(new Set(ids).size).toBe(1);
    expect(spans).toContain(`"name":"${WAIT}"`);
  });
});
