import { afterEach, describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, testClock } from '../../conformance/index.ts';
import { composeToolCallers, systemClock, type ToolLayer } from '../index.ts';
import { readOtlp } from './otel/collector.fixture.ts';
import type { TelemetryProblem } from './problem.ts';
import { type Receiver, startReceiver } from './receiver.fixture.ts';
import { refusing } from '../../middleware/telemetry/run.fixture.ts';
import { telemetry, type TelemetryOptions } from '../../middleware/telemetry/telemetry.ts';

const KEYS = { LANGFUSE_PUBLIC_KEY: 'pk-lf-1', LANGFUSE_SECRET_KEY: 'sk-lf-canary' };
const before = { ...process.env };
let open: Receiver | undefined;

afterEach(async () => {
  for (const name of ['LANGFUSE_BASE_URL', 'LANGFUSE_PUBLIC_KEY', 'LANGFUSE_SECRET_KEY']) {
    if (before[name] === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = before[name];
  }
  await open?.close();
  open = undefined;
});

async function receive(
  status?: number | null,
  headers?: Record<string, string>,
): Promise<Receiver> {
  open = await startReceiver(status, headers);
  Object.assign(process.env, KEYS, { LANGFUSE_BASE_URL: `${open.url}/` });
  return open;
}

function watching(
  options: TelemetryOptions = {},
  inner: readonly ToolLayer[] = [],
  clock = systemClock,
) {
  const problems: TelemetryProblem[] = [];
  const layer = telemetry({
    sink: 'langfuse',
    onError: (problem) => void problems.push(problem),
    ...options,
  });
  const caller = composeToolCallers([layer, ...inner], { clock });
  return {
    problems,
    layer,
    call: (callId = 'call-1') =>
      caller(makeCall({ callId, toolArgs: { a: 'argument-canary' } }), echoExecutor()),
  };
}

describe('the langfuse sink', () => {
  it('posts to the OpenTelemetry endpoint with Basic authentication', async () => {
    const server = await receive();
    const { call, layer, problems } = watching();
    await call();
    const request = await server.got(1);
    await layer.close?.();

    expect(request).toMatchObject({
      method: 'POST',
      path: '/api/public/otel/v1/traces',
      headers: { 'content-type': 'application/json' },
    });
    expect(request.headers.authorization).toBe(
      `Basic ${Buffer.from('pk-lf-1:sk-lf-canary').toString('base64')}`,
    );
    expect(request.body).not.toContain('canary');
    expect(problems).toEqual([]);
  });

  it('makes the call a tool observation of its session, with its layers below it', async () => {
    const server = await receive();
    const { call, layer } = watching({ environment: 'test', release: 'r1', project: 'shop' }, [
      refusing('consent_denied'),
    ]);
    await call();
    const { body } = await server.got(1);
    const [span, child] = readOtlp(body);
    await layer.close?.();

    expect(span?.name).toBe('execute_tool echo');
    expect(child).toMatchObject({
      name: 'layer no',
      traceId: span?.traceId,
      parentSpanId: span?.spanId,
    });
    expect(child?.spanId).not.toBe(span?.spanId);
    expect(span?.attributes).toMatchObject({
      'langfuse.observation.type': 'tool',
      'langfuse.observation.level': 'ERROR',
      'langfuse.observation.status_message': 'consent_denied',
      'langfuse.environment': 'test',
      'langfuse.release': 'r1',
      'session.id': 'session-1',
      'allium.ok': false,
      'allium.iteration': 1,
    });
    expect(body).toContain('{"key":"service.name","value":{"stringValue":"shop"}}');
  });

  it('puts the calls of a session into one trace, each under an id of its own', async () => {
    const server = await receive();
    const { call, layer } = watching({}, [], testClock());
    for (const id of ['a', 'b']) await call(id);
    await server.got(2);
    await layer.close?.();
    const spans = server.requests.flatMap(({ body }) => readOtlp(body));

    expect(spans.map(({ traceId, spanId }) => [traceId.length, spanId.length])).toEqual([[32, 16], [32, 16]]); // biome-ignore format: pairs
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(2);
  });

  it('takes ids that are ids as they are', async () => {
    const server = await receive();
    const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', parentSpanId: 'b7ad6b7169203331' };
    const { call, layer } = watching(ids);
    await call();

    expect(readOtlp((await server.got(1)).body)[0]).toMatchObject(ids);
    await layer.close?.();
  });

  it('sends what has gathered during a request together', async () => {
    const server = await receive();
    const { call, layer } = watching();
    await Promise.all(Array.from({ length: 150 }, (_, i) => call(`c${i}`)));
    await layer.close?.();

    expect(server.requests.map(({ body }) => readOtlp(body).length)).toEqual([1, 64, 64, 21]);
  });

  it.each([
    ['LANGFUSE_BASE_URL', ''],
    ['LANGFUSE_BASE_URL', 'not an address'],
    ['LANGFUSE_BASE_URL', 'file:///etc'],
    ['LANGFUSE_BASE_URL', 'http://user:url-canary@127.0.0.1:9'],
    ['LANGFUSE_PUBLIC_KEY', ''],
    ['LANGFUSE_SECRET_KEY', ''],
  ])('says once what is missing for %s=%s, and sends nothing', async (name, value) => {
    const server = await receive();
    process.env[name] = value;
    const { call, layer, problems } = watching();
    await call('a');
    await call('b');
    await layer.close?.();

    expect(problems.map(({ kind, counts }) => [kind, counts.dropped])).toEqual([['unconfigured', 1], ['closed', 2]]); // biome-ignore format: pairs
    expect(server.requests).toEqual([]);
    expect(JSON.stringify(problems)).not.toContain('canary');
  });

  it.each([401, 500])('tells of an answer %i without quoting anything', async (status) => {
    await receive(status);
    const { call, layer, problems } = watching();
    const result = await call();
    await layer.close?.();

    expect(result.status).toBe('ok');
    expect(problems[0]).toMatchObject({
      sink: 'langfuse',
      kind: 'failed',
      message: `Langfuse answered with status ${status}`,
    });
    expect(JSON.stringify(problems)).not.toMatch(/canary|127\.0\.0\.1/);
    expect(problems.map(({ cause }) => cause)).toEqual([undefined, undefined]);
  });

  it('follows no redirect: the credentials stay where they belong', async () => {
    const elsewhere = await startReceiver();
    await receive(307, { location: `${elsewhere.url}/steal` });
    const { call, layer, problems } = watching();
    await call();
    await layer.close?.();
    await elsewhere.close();

    expect(elsewhere.requests).toEqual([]);
    expect(problems[0]).toMatchObject({ kind: 'failed', message: 'Langfuse could not be reached' });
  });

  it('stops a request that is not answered in time', async () => {
    const server = await receive(null);
    const clock = testClock();
    const { call, layer, problems } = watching({ timeoutMs: 100 }, [], clock);
    await call();
    await server.got(1);
    await clock.advance(100);
    await server.hungUp;
    await layer.close?.();

    expect(problems.map(({ kind }) => kind)).toEqual(['timeout', 'closed']);
    expect(clock.pending).toBe(0);
  });

  it('close drops what waits behind a request that is not answered', async () => {
    const server = await receive(null);
    const clock = testClock();
    const { call, layer, problems } = watching({ timeoutMs: 100 }, [], clock);
    for (let i = 0; i < 70; i += 1) await call(`c${i}`);
    await server.got(1);
    await clock.advance(50);
    const closing = layer.close?.();
    await clock.advance(100);
    await closing;

    expect(problems.at(-1)).toMatchObject({
      kind: 'closed',
      counts: { generated: 70, delivered: 0, dropped: 70, pending: 0 },
    });
    expect(clock.pending).toBe(0);
  });
});
