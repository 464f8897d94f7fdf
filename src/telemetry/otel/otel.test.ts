import { context, metrics, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-node';
import { afterEach, describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, testClock } from '../../../conformance/index.ts';
import {
  composeToolCallers,
  defineLayer,
  type Next,
  ok,
  passThrough,
  type ToolLayer,
} from '../../index.ts';
import { hashWith } from '../../layer.ts';
import { startMetering, startTracing, stopSdk } from './otel-sdk.fixture.ts';
import type { TelemetryProblem } from '../problem.ts';
import { telemetry, type TelemetryOptions } from '../../../middleware/telemetry/telemetry.ts';

afterEach(stopSdk);

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

const run = (options: TelemetryOptions, executor: Next = echoExecutor()) =>
  composeToolCallers([telemetry(options)])(makeCall(), executor);

function throwing(): never {
  throw new Error('provider');
}

describe('without anybody who listens', () => {
  /** Throws when it is asked for: proof that nothing was worked out. */
  const noHash = defineLayer({
    name: 'noHash',
    caller: (call, next) => next(hashWith(call, () => expect.unreachable())),
  });
  const watched = (problems: TelemetryProblem[]) =>
    composeToolCallers([noHash, telemetry({ onError: (problem) => void problems.push(problem) })])(
      makeCall(),
      echoExecutor(),
    );

  it('builds nothing when no SDK is registered', async () => {
    const problems: TelemetryProblem[] = [];

    expect((await watched(problems)).status).toBe('ok');
    expect(problems).toEqual([]);
  });

  it.each([telemetry(), telemetry('noop'), telemetry({ sinks: [] })])(
    'does not even read the clock (%#)',
    async (layer) => {
      const readsWith = async (member: ToolLayer) => {
        let reads = 0;
        const clock = { ...testClock(), monotonic: () => (reads += 1) };
        await composeToolCallers([member], { clock })(makeCall(), echoExecutor());
        return reads;
      };

      expect(await readsWith(layer)).toBe(await readsWith(passThrough));
      startMetering();
      expect(await readsWith(telemetry())).toBeGreaterThan(await readsWith(passThrough));
    },
  );

  it('works nothing out for a span that is not recorded, but keeps what the tool does out of the trace too', async () => {
    const sdk = startTracing(new AlwaysOffSampler());
    const problems: TelemetryProblem[] = [];
    let inner: boolean | undefined;
    await composeToolCallers([
      noHash,
      telemetry({ onError: (problem) => void problems.push(problem) }),
    ])(makeCall(), async (call) => {
      inner = trace.getActiveSpan()?.isRecording();
      return ok(call);
    });

    expect(problems).toEqual([]);
    expect(sdk.spans).toEqual([]);
    expect(inner).toBe(false);
  });

  it('hears of an SDK that is registered later, and of another one after that', async () => {
    const layer = telemetry();
    const call = () => composeToolCallers([layer])(makeCall(), echoExecutor());
    await call();
    const first = startTracing();
    await call();
    stopSdk();
    await call();
    const second = startTracing();
    await call();

    expect([first.spans.length, second.spans.length]).toEqual([1, 1]);
  });
});

describe('a provider that fails', () => {
  const broken = (parts: object) => {
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => parts }) } as never);
    const problems: TelemetryProblem[] = [];
    return { problems, calling: run({ onError: (problem) => void problems.push(problem) }) };
  };
  it.each<[string, object]>([
    ['starts', new Proxy({}, { get: throwing })],
    [
      'records',
      {
        isRecording: throwing,
        spanContext: () => ({ traceId: TRACE, spanId: SPAN, traceFlags: 1 }),
      },
    ],
    [
      'ends',
      {
        isRecording: () => false,
        end: throwing,
        spanContext: () => ({ traceId: TRACE, spanId: SPAN, traceFlags: 1 }),
      },
    ],
  ])('when it %s changes no result', async (_when, span) => {
    const { calling, problems } = broken(span);

    expect(await calling).toMatchObject({ status: 'ok', executed: 'yes' });
    expect(problems).toMatchObject([
      { sink: 'otel', kind: 'failed', counts: { generated: 1, delivered: 0 } },
    ]);
  });

  it.each([0, 1])('in its context manager lets the tool run exactly once (%i)', async (times) => {
    startTracing();
    context.disable();
    const withContext = (_context: unknown, enter: () => unknown) => {
      for (let i = 0; i < times; i += 1) enter();
      throw new Error('context');
    };
    context.setGlobalContextManager({
      active: () => ROOT_CONTEXT,
      with: withContext,
      bind: (_: unknown, x: unknown) => x,
      enable: () => {},
      disable: () => {},
    } as never);
    const executor = echoExecutor();
    const problems: TelemetryProblem[] = [];
    const result = await run({ onError: (problem) => void problems.push(problem) }, executor);

    expect(result.status).toBe('ok');
    expect(executor.calls).toHaveLength(1);
    expect(problems).toMatchObject([
      { sink: 'otel', kind: 'failed', counts: { generated: 1, pending: 1 } },
    ]);
  });

  it('in its meter changes no result, and loses no span', async () => {
    const sdk = startTracing();
    const meter = {
      createHistogram: () => ({ record: throwing }),
      createCounter: () => ({ add: throwing }),
    };
    metrics.setGlobalMeterProvider({ getMeter: () => meter } as never);
    const problems: TelemetryProblem[] = [];
    const result = await run({ onError: (problem) => void problems.push(problem) });

    expect(result.status).toBe('ok');
    expect(sdk.spans).toHaveLength(1);
    expect(problems).toMatchObject([
      { sink: 'otel', kind: 'failed', counts: { delivered: 1, dropped: 0 } },
    ]);
  });

  it('when its meter is asked for changes no result, and loses no span', async () => {
    const sdk = startTracing();
    metrics.setGlobalMeterProvider({ getMeter: throwing });
    const problems: TelemetryProblem[] = [];
    const executor = echoExecutor();
    const result = await run({ onError: (problem) => void problems.push(problem) }, executor);

    expect(result.status).toBe('ok');
    expect(executor.calls).toHaveLength(1);
    expect(sdk.spans).toHaveLength(1);
    expect(problems).toMatchObject([{ sink: 'otel', kind: 'failed' }]);
  });
});
