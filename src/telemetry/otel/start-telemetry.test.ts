import { metrics, trace } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../../conformance/index.ts';
import { telemetry, timeout } from '../../../middleware/index.ts';
import { startReceiver } from '../receiver.fixture.ts';
import { composeToolCallers, defineLayer, refuse } from '../../index.ts';
import { type Collector, startCollector } from './collector.fixture.ts';
import { startTelemetry, type Telemetry, type TelemetrySettings } from './index.ts';
import { loadPackage } from './providers.ts';

let collector: Collector;
let running: Telemetry | undefined;
const OWN_VARIABLES = [
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_SDK_DISABLED',
];

beforeAll(async () => {
  collector = await startCollector();
});
beforeEach(() => collector.clear());
afterAll(() => collector.close());
afterEach(async () => {
  await running?.shutdown();
  running = undefined;
  for (const name of OWN_VARIABLES) Reflect.deleteProperty(process.env, name);
});

const start = async (settings: Partial<TelemetrySettings> = {}) =>
  (running = await startTelemetry({ serviceName: 'shop', url: collector.url, ...settings }));

const stack = composeToolCallers([telemetry(), timeout({ maxMs: 1000 })]);
const callOnce = () => stack(makeCall({ toolArgs: { a: 1 } }), echoExecutor());

describe('startTelemetry', () => {
  it('sends the span of a call and its layers to a collector, as the GenAI conventions name them', async () => {
    const { forceFlush } = await start();
    await callOnce();
    await forceFlush();
    const [layer, call] = collector.spans;

    expect(call).toMatchObject({
      name: 'execute_tool echo',
      kind: 'SPAN_KIND_INTERNAL',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'echo',
        'gen_ai.tool.call.id': 'call-1',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.description': 'Answers with its arguments.',
        'allium.status': 'ok',
      },
    });
    expect(layer).toMatchObject({
      name: 'layer timeout',
      traceId: call?.traceId,
      parentSpanId: call?.spanId,
    });
    expect(call?.parentSpanId ?? '').toBe('');
    expect(call?.events?.map(({ name }) => name)).toEqual(['dispatched', 'result_returned']);
  });

  it('gives spans the times at which things happened, children inside their parent', async () => {
    const { forceFlush } = await start();
    const from = Date.now();
    await callOnce();
    const until = Date.now();
    await forceFlush();
    const [layer, call] = collector.spans.map(({ startTimeUnixNano, endTimeUnixNano }) => [
      BigInt(startTimeUnixNano),
      BigInt(endTimeUnixNano),
    ]);

    expect([call?.[0], layer?.[0], layer?.[1], call?.[1]]).toEqual(
      [call?.[0], layer?.[0], layer?.[1], call?.[1]].sort((a, b) => Number((a ?? 0n) - (b ?? 0n))),
    );
    expect(Number((call?.[0] ?? 0n) / 1_000_000n)).toBeGreaterThanOrEqual(from);
    expect(Number((call?.[1] ?? 0n) / 1_000_000n)).toBeLessThanOrEqual(until + 1);
  });

  it('marks a failed call with a status and the type of its error', async () => {
    const { forceFlush } = await start();
    const no = defineLayer({
      name: 'no',
      caller: (call) => refuse(call, 'scope_violation', 'No.'),
    });
    await composeToolCallers([telemetry(), no])(makeCall(), echoExecutor());
    await forceFlush();

    expect(collector.spans.find(({ name }) => name.startsWith('execute_tool'))).toMatchObject({
      status: { code: 'STATUS_CODE_ERROR', message: 'scope_violation' },
      attributes: { 'error.type': 'scope_violation' },
    });
  });

  it('sends metrics, unless it is told not to', async () => {
    const first = await start();
    await callOnce();
    await first.shutdown();
    expect(collector.metrics.map(({ name, unit }) => [name, unit])).toEqual([
      ['gen_ai.client.operation.duration', 's'],
      ['allium.tool.calls', '{call}'],
    ]);

    collector.clear();
    const second = await start({ metrics: false });
    await callOnce();
    await second.shutdown();
    expect(collector.metrics).toEqual([]);
    expect(collector.spans).toHaveLength(2);
  });

  it('says who sends: what the environment says, and on top of it what the host says', async () => {
    process.env.OTEL_RESOURCE_ATTRIBUTES = 'region=eu,team=a,service.name=env';
    const { shutdown } = await start({ resourceAttributes: { team: 'b' } });
    await callOnce();
    await shutdown();

    expect(collector.senders).toMatchObject([{ 'service.name': 'shop', region: 'eu', team: 'b' }]);
  });

  it('sends to the endpoint of the environment where no url is given', async () => {
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
    running = await startTelemetry({ serviceName: 'shop' });
    await callOnce();
    await running.forceFlush();

    expect(collector.spans).toHaveLength(2);
  });

  it('sends its headers to paths below the url', async () => {
    const receiver = await startReceiver();
    const { shutdown } = await start({ url: `${receiver.url}/tenant`, headers: { 'x-team': 'a' } });
    await callOnce();
    await shutdown();
    await receiver.close();

    expect(receiver.requests.map(({ path, headers }) => [path, headers['x-team']]).sort()).toEqual([
      ['/tenant/v1/metrics', 'a'],
      ['/tenant/v1/traces', 'a'],
    ]);
  });

  it.each([0, new AlwaysOffSampler()])('keeps no trace with the sampler %#', async (sampler) => {
    const { shutdown } = await start({ sampler });
    await callOnce();
    await shutdown();

    expect(collector.spans).toEqual([]);
    expect(collector.metrics.length).toBeGreaterThan(0);
  });

  it('starts nothing with OTEL_SDK_DISABLED', async () => {
    process.env.OTEL_SDK_DISABLED = 'true';
    const { shutdown } = await start();
    await callOnce();
    await shutdown();

    expect([collector.spans, collector.metrics]).toEqual([[], []]);
  });

  it('can be started again after shutdown, which may be called twice', async () => {
    const first = await start();
    await Promise.all([first.shutdown(), first.shutdown()]);
    const second = await start();
    await first.shutdown();
    await callOnce();
    await second.forceFlush();

    expect(collector.spans).toHaveLength(2);
  });

  it('ends without an error where no collector answers', async () => {
    const receiver = await startReceiver();
    await receiver.close();
    process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '1';
    const { forceFlush, shutdown } = await start({ url: receiver.url, metrics: false });
    await callOnce();

    await expect(Promise.all([forceFlush(), shutdown()])).resolves.toBeDefined();
  });

  it('leaves nothing registered', async () => {
    const provider = metrics.getMeterProvider();
    await (await start()).shutdown();

    expect(metrics.getMeterProvider()).toBe(provider);
    expect(trace.getTracer('x').startSpan('x').isRecording()).toBe(false);
  });

  it('refuses to start beside another SDK', async () => {
    await start();

    await expect(startTelemetry({ serviceName: 'again' })).rejects.toThrow(
      'OpenTelemetry is running in this process already',
    );
  });

  it('lets one of two that start at once win', async () => {
    const starting = [0, 1].map(() => startTelemetry({ serviceName: 'shop', url: collector.url }));
    const settled = await Promise.allSettled(starting);
    for (const item of settled) if (item.status === 'fulfilled') running = item.value;

    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('names the package that is missing and how to get it', async () => {
    const missing = loadPackage('@opentelemetry/sdk-trace-node', () =>
      Promise.reject(new Error('Cannot find package')),
    );

    await expect(missing).rejects.toThrow(
      'install it with "npm install @opentelemetry/sdk-trace-node"',
    );
  });

  it.each([
    [undefined],
    [{}],
    [{ serviceName: '' }],
    [{ serviceName: 'a', url: 'nowhere' }],
    [{ serviceName: 'a', url: 'ftp://x' }],
    [{ serviceName: 'a', headers: { a: 1 } }],
    [{ serviceName: 'a', metrics: 'no' }],
    [{ serviceName: 'a', sampler: 2 }],
    [{ serviceName: 'a', sampler: {} }],
    [{ serviceName: 'a', resourceAttributes: [] }],
    [{ serviceName: 'a', endpoint: 'x' }],
  ])('refuses %j', async (settings) => {
    await expect(startTelemetry(settings as never)).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
    });
  });
});
