import { context, trace } from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, type PartialCall } from '../../../conformance/index.ts';
import { composeToolCallers } from '../../index.ts';
import { startTracing, stopSdk } from './otel-sdk.fixture.ts';
import { telemetry, type TelemetryOptions } from '../../../middleware/telemetry/telemetry.ts';

afterEach(stopSdk);

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

const run = (options: TelemetryOptions, call: PartialCall = {}) =>
  composeToolCallers([telemetry(options)])(makeCall(call), echoExecutor());

describe('the parent of a span', () => {
  it('is the active one', async () => {
    const sdk = startTracing();
    const agent = trace.getTracer('agent').startSpan('turn');
    await context.with(trace.setSpan(context.active(), agent), () =>
      run({}, { metadata: { traceparent: `00-${TRACE}-${SPAN}-01` } }),
    );

    expect(sdk.spans[0]?.parentSpanContext).toMatchObject(agent.spanContext());
  });

  it('is the one the host fixed with traceId and parentSpanId, whatever is active', async () => {
    const sdk = startTracing();
    const agent = trace.getTracer('agent').startSpan('turn');
    await context.with(trace.setSpan(context.active(), agent), () =>
      run({ traceId: TRACE, parentSpanId: SPAN }),
    );

    expect(sdk.spans[0]?.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: SPAN });
  });

  it('is the traceparent of the metadata where nothing is active', async () => {
    const sdk = startTracing();
    await run({}, { metadata: { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'vendor=1' } });

    expect(sdk.spans[0]?.parentSpanContext).toMatchObject({
      traceId: TRACE,
      spanId: SPAN,
      isRemote: true,
    });
    expect(sdk.spans[0]?.spanContext().traceState?.get('vendor')).toBe('1');
  });

  it('heeds a traceparent that is not sampled', async () => {
    const sdk = startTracing();
    await run({}, { metadata: { traceparent: `00-${TRACE}-${SPAN}-00` } });

    expect(sdk.spans).toEqual([]);
  });

  it.each([
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `cc-${TRACE}-${SPAN}-01-${'x'.repeat(1_000_000)}`,
    '',
    5,
    null,
  ])('is nobody for a bad traceparent (%#)', async (traceparent) => {
    const sdk = startTracing();
    await run({}, { metadata: { traceparent } });

    expect(sdk.spans).toHaveLength(1);
    expect(sdk.spans[0]?.parentSpanContext).toBeUndefined();
  });

  it.each([
    { traceId: TRACE },
    { parentSpanId: SPAN },
    { traceId: 'mine', parentSpanId: SPAN },
    { traceId: TRACE, parentSpanId: 'mine' },
  ])('is nobody for %j', async (options) => {
    const sdk = startTracing();
    await run(options);

    expect(sdk.spans[0]?.parentSpanContext).toBeUndefined();
  });
});
