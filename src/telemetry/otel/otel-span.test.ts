import { trace } from '@opentelemetry/api';
import { SamplingDecision } from '@opentelemetry/sdk-trace-node';
import { afterEach, describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, type PartialCall, testClock } from '../../../conformance/index.ts';
import {
  annotate,
  composeToolCallers,
  defineLayer,
  hashCanonical,
  type Next,
  ok,
  type ToolLayer,
} from '../../index.ts';
import { startTracing, stopSdk } from './otel-sdk.fixture.ts';
import { refusing } from '../../../middleware/telemetry/run.fixture.ts';
import { telemetry, type TelemetryOptions } from '../../../middleware/telemetry/telemetry.ts';

afterEach(stopSdk);

const run = (
  options: TelemetryOptions,
  inner: readonly ToolLayer[] = [],
  call: PartialCall = {},
  executor: Next = echoExecutor(),
) =>
  composeToolCallers([telemetry(options), ...inner], { clock: testClock() })(
    makeCall(call),
    executor,
  );

describe('an OpenTelemetry span', () => {
  it('has the name, kind and attributes of the conventions', async () => {
    const sdk = startTracing();
    await run({ attributes: { team: 'a' } }, [], { toolArgs: { a: 1 } });

    expect(sdk.spans).toMatchObject([
      {
        name: 'execute_tool echo',
        kind: 0,
        status: { code: 0 },
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'echo',
          'gen_ai.tool.call.id': 'call-1',
          'gen_ai.tool.type': 'function',
          'gen_ai.tool.description': 'Answers with its arguments.',
          'allium.status': 'ok',
          'allium.executed': 'yes',
          'allium.args_hash': hashCanonical({ a: 1 }),
          team: 'a',
        },
        instrumentationScope: { name: 'allium' },
      },
    ]);
  });

  it('shows samplers the operation and the tool before it starts', async () => {
    const seen: unknown[] = [];
    const sampler = {
      shouldSample: (...args: readonly unknown[]) => (
        seen.push(args[4]), { decision: SamplingDecision.RECORD_AND_SAMPLED }
      ),
      toString: () => 'watches',
    };
    startTracing(sampler);
    await run({});

    expect(seen).toMatchObject([
      { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'echo' },
    ]);
  });

  it('has a child for every layer inside, with its own times, and events', async () => {
    const sdk = startTracing();
    const clock = testClock();
    const inner = defineLayer({
      name: 'inner',
      async caller(call, next) {
        await clock.advance(40);
        return annotate(await next(call), {}, { status: 'hit', limitMs: 7 });
      },
    });
    await composeToolCallers([telemetry('otel'), inner], { clock })(makeCall(), echoExecutor());
    const [child, parent] = sdk.spans;

    expect(child).toMatchObject({
      name: 'layer inner',
      kind: 0,
      parentSpanContext: { spanId: parent?.spanContext().spanId },
      startTime: [Date.UTC(2026, 0, 1) / 1000, 0],
      endTime: [Date.UTC(2026, 0, 1) / 1000, 40_000_000],
      attributes: {
        'allium.layer.name': 'inner',
        'allium.layer.status': 'hit',
        'allium.layer.limit_ms': 7,
      },
    });
    expect(parent).toMatchObject({
      endTime: [Date.UTC(2026, 0, 1) / 1000, 40_000_000],
      duration: [0, 40_000_000],
    });
    expect(parent?.events.map(({ name, time }) => [name, time[1]])).toEqual([
      ['dispatched', 0],
      ['result_returned', 40_000_000],
    ]);
  });

  it('says what went wrong by a code', async () => {
    const sdk = startTracing();
    await run({}, [refusing('scope_violation')]);
    const span = sdk.spans.at(-1);

    expect(span?.status).toEqual({ code: 2, message: 'scope_violation' });
    expect(span?.attributes).toMatchObject({
      'error.type': 'scope_violation',
      'allium.blocked_by': 'no',
    });
    expect(span?.events.at(-1)).toMatchObject({
      name: 'scope_violation',
      attributes: { 'error.type': 'scope_violation' },
    });
  });

  it('carries arguments, results and error texts only on request', async () => {
    const sdk = startTracing();
    await run({ captureContent: true }, [], { toolArgs: { a: 1 } });
    await run({ captureContent: true }, [], {}, () => Promise.reject(new Error('boom')));
    const [good, bad] = sdk.spans;

    expect(good?.attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"a":1}',
      'gen_ai.tool.call.result': '{"a":1}',
    });
    expect(bad?.attributes).not.toHaveProperty('gen_ai.tool.call.result');
    expect(bad?.status).toEqual({ code: 2, message: 'boom' });
  });

  it('surrounds what the tool does itself', async () => {
    const sdk = startTracing();
    const tool: Next = async (call) => {
      await Promise.resolve();
      trace.getTracer('tool').startSpan('query').end();
      return ok(call);
    };
    await run({}, [], {}, tool);
    const [query, call] = sdk.spans;

    expect(query).toMatchObject({
      name: 'query',
      parentSpanContext: { spanId: call?.spanContext().spanId },
    });
    expect(trace.getActiveSpan()).toBeUndefined();
  });
});
