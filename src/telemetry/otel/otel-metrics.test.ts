import { metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, testClock } from '../../../conformance/index.ts';
import { composeToolCallers, type Next, ok, type ToolLayer } from '../../index.ts';
import { startMetering, stopSdk } from './otel-sdk.fixture.ts';
import { never, refusing } from '../../../middleware/telemetry/run.fixture.ts';
import { telemetry } from '../../../middleware/telemetry/telemetry.ts';

afterEach(stopSdk);

const run = (
  layers: readonly ToolLayer[],
  executor: Next = echoExecutor(),
  toolName = 'echo',
  clock = testClock(),
) => composeToolCallers(layers, { clock })(makeCall({ toolName }), executor);

describe('the metrics of calls', () => {
  it('are a histogram of seconds with the buckets of the conventions, and a counter', async () => {
    const read = startMetering();
    const clock = testClock();
    const slow: Next = async (call) => {
      await clock.advance(1500);
      return ok(call);
    };
    await run([telemetry()], slow, 'echo', clock);

    expect(await read()).toMatchObject([
      {
        metric: 'gen_ai.client.operation.duration',
        unit: 's',
        attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'echo' },
        value: {
          count: 1,
          sum: 1.5,
          buckets: { boundaries: Array.from({ length: 14 }, (_, n) => 2 ** n / 100) },
        },
      },
      {
        metric: 'allium.tool.calls',
        unit: '{call}',
        attributes: { 'gen_ai.tool.name': 'echo', 'allium.status': 'ok' },
        value: 1,
      },
    ]);
  });

  it('carry the type of an error', async () => {
    const read = startMetering();
    await run([telemetry(), refusing('rate_limited')]);
    const [duration, calls] = await read();

    expect(duration?.attributes).toMatchObject({ 'error.type': 'rate_limited' });
    expect(calls?.attributes).toMatchObject({ 'allium.status': 'rate_limited' });
  });

  it('do not grow with names a model made up', async () => {
    const read = startMetering();
    const layers = [telemetry(), refusing('tool_not_found')];
    for (const name of ['a', 'b', 'c']) await run(layers, undefined, name);

    expect(await read()).toMatchObject([
      { attributes: { 'gen_ai.tool.name': '_OTHER' } },
      { attributes: { 'gen_ai.tool.name': '_OTHER' }, value: 3 },
    ]);
  });

  it('begin with a provider that is registered after the layer has been used', async () => {
    const layer = telemetry();
    await run([layer]);
    const read = startMetering();
    await run([layer]);

    expect(await read()).toMatchObject([{ value: { count: 1 } }, { value: 1 }]);
  });

  it('have instruments that are made once for each provider', async () => {
    let made = 0;
    const instrument = () => ((made += 1), { record: () => {}, add: () => {} });
    const meter = { createHistogram: instrument, createCounter: instrument };
    const layer = telemetry();
    const callTwice = async () => {
      metrics.disable();
      metrics.setGlobalMeterProvider({ getMeter: () => meter } as never);
      await run([layer]);
      await run([layer]);
      return made;
    };

    expect([await callTwice(), await callTwice()]).toEqual([3, 6]);
  });

  it('count lost records by sink, also where OpenTelemetry is not a sink', async () => {
    const read = startMetering();
    const layer = telemetry({ sink: never, maxPending: 1, onError: () => {} });
    for (let i = 0; i < 4; i += 1) await run([layer]);

    expect(await read()).toMatchObject([
      { metric: 'allium.telemetry.dropped', attributes: { 'allium.sink': 'sink 1' }, value: 3 },
    ]);
  });
});
