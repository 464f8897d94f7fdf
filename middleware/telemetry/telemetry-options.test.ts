import { describe, expect, it } from 'vitest';
import {
  echoExecutor,
  makeCall,
  type PartialCall,
  recordingSink,
  settle,
  testClock,
} from '../../conformance/index.ts';
import { composeToolCallers, defineLayer, ok, type ToolLayer } from '../../src/index.ts';
import { redaction } from '../redaction/redaction.ts';
import type { TelemetryProblem } from '../../src/telemetry/problem.ts';
import { never, recordOf, run } from './run.fixture.ts';
import type { SpanRecord } from '../../src/telemetry/span-record.ts';
import { telemetry } from './telemetry.ts';

describe('telemetry options', () => {
  it('sink takes a function, and a function may stand for the options', async () => {
    const sink = recordingSink<SpanRecord>();
    for (const layer of [telemetry(sink), telemetry({ sink })])
      await composeToolCallers([layer])(makeCall(), echoExecutor());

    expect(sink.records.map(({ name }) => name)).toEqual(['tool_call.echo', 'tool_call.echo']);
  });

  it('sinks get one record each, whatever the others do', async () => {
    const throws = () => {
      throw new Error('broken');
    };
    const last = recordingSink<SpanRecord>();
    const { result, records, problems } = await run({
      options: { sinks: [throws, () => Promise.reject(new Error('no')), 'noop', 'otel', last] },
    });
    await settle();

    expect(result.status).toBe('ok');
    expect([records.length, last.records.length]).toEqual([1, 1]);
    expect(problems.map(({ sink, kind }) => [sink, kind])).toEqual([
      ['sink 2', 'failed'],
      ['sink 3', 'failed'],
    ]);
    expect(problems[0]?.cause).toMatchObject({ message: 'broken' });
    expect(JSON.stringify(problems[0])).not.toContain('broken');
  });

  it('project, environment, release, persona and mode are on every span', async () => {
    const given = { project: 'p', environment: 'e', release: 'r', persona: 'q', mode: 'm' };
    const { attributes } = await recordOf({ options: given });

    expect(Object.entries(given).map(([name]) => attributes[`allium.${name}`])).toEqual([
      'p',
      'e',
      'r',
      'q',
      'm',
    ]);
  });

  it('traceId and parentSpanId say where records belong', async () => {
    expect(await recordOf({ options: { traceId: 't', parentSpanId: 's' } })).toMatchObject({
      trace_id: 't',
      parent_span_id: 's',
    });
  });

  it('attributes are added but replace nothing the layer says itself', async () => {
    const attributes = JSON.parse(
      '{"team":"a","n":1,"b":false,"gen_ai.tool.name":"lie","allium.status":"lie","__proto__":"x"}',
    ) as Record<string, string>;
    const record = await recordOf({ options: { attributes } });

    expect(record.attributes).toMatchObject({
      team: 'a',
      n: 1,
      b: false,
      'gen_ai.tool.name': 'echo',
      'allium.status': 'ok',
    });
    expect(Object.getPrototypeOf(record.attributes)).toBe(Object.prototype);
  });

  it('captureContent adds arguments and result, or the error', async () => {
    const options = { captureContent: true };
    const good = await recordOf({ options, call: { toolArgs: { a: [1] } } });
    const bad = await recordOf({ options, executor: () => Promise.reject(new Error('boom')) });

    expect(good).toMatchObject({ arguments: { a: [1] }, result: { a: [1] } });
    expect(good).not.toHaveProperty('error');
    expect(bad).toMatchObject({ arguments: {}, error: 'boom' });
    expect(bad).not.toHaveProperty('result');
  });

  it('captureContent is off unless it is asked for', async () => {
    const record = await recordOf({ call: { toolArgs: { a: 'canary' } } });

    expect(
      Object.keys(record).filter((key) => ['arguments', 'result', 'error'].includes(key)),
    ).toEqual([]);
  });

  it('captureContent passes everything through the scrubs of the stack, names included', async () => {
    const cleaning = defineLayer({
      name: 'redaction',
      caller: (call, next) => next(call),
      scrub: (text) => text.replaceAll('s3cret', '***'),
    });
    const setup = { options: { captureContent: true }, outer: [cleaning] };
    const good = await recordOf({ ...setup, call: { toolArgs: { s3cret: ['my s3cret'] } } });
    const bad = await recordOf({
      ...setup,
      executor: () => Promise.reject(new Error('s3cret in an error')),
    });

    expect(good).toMatchObject({ arguments: { '***': ['my ***'] }, result: { '***': ['my ***'] } });
    expect(bad.error).toBe('*** in an error');
  });

  it('captureContent shows scrubs the whole as well: a password is known by its name', async () => {
    const scrub = (text: string) => text.replace(/"password":"[^"]*"/g, '"password":"***"');
    const cleaning = defineLayer({ name: 'redaction', caller: (call, next) => next(call), scrub });
    const record = await recordOf({
      options: { captureContent: true },
      outer: [cleaning],
      executor: async (call) => ok(call, { password: 'hunter2' }),
    });

    expect(record.result).toBe('{"password":"***"}');
  });

  it('captureContent must stand inside redaction', () => {
    const cleaning = defineLayer({ name: 'redaction', caller: (call, next) => next(call) });
    const capturing = telemetry({ captureContent: true });

    expect(() => composeToolCallers([capturing, cleaning])).toThrow(
      expect.objectContaining({ code: 'ERR_LAYER_ORDER' }) as Error,
    );
    expect(() => composeToolCallers([cleaning, capturing])).not.toThrow();
    expect(() => composeToolCallers([telemetry(), cleaning])).not.toThrow();
  });

  it('captureContent cuts what is too large', async () => {
    const record = await recordOf({
      options: { captureContent: true },
      call: { toolArgs: { text: 'x'.repeat(1_000_000) } },
    });

    expect(record.arguments).toHaveLength(32_768);
    expect(record.result).toHaveLength(32_768);
  });

  it.each<[string, ToolLayer, PartialCall]>([
    ['a path', redaction({ paths: ['**.pin'] }), {}],
    ['a path the tool names', redaction(), { annotations: { safety: { redaction: ['pin'] } } }],
    [
      'a function',
      redaction(({ phase, args, result }) =>
        phase === 'in' ? { args } : { result: result === null ? null : 'gone' },
      ),
      {},
    ],
  ])(
    'captureContent shows the result as it left the stack: masked by %s',
    async (_name, outer, call) => {
      const record = await recordOf({
        options: { captureContent: true },
        outer: [outer],
        call,
        executor: async (sent) => ok(sent, { pin: 'p1n-out' }),
      });

      expect(record.result).toBeDefined();
      expect(JSON.stringify(record)).not.toContain('p1n-out');
    },
  );

  it('captureContent has only the layers inside as children, although it waits for those outside', async () => {
    const record = await recordOf({ options: { captureContent: true }, outer: [redaction()] });

    expect(record.child_spans.map(({ name }) => name)).not.toContain('tool_call.redaction');
  });

  it('timeoutMs bounds a delivery', async () => {
    const { clock, problems } = await run({ options: { sinks: [never], timeoutMs: 20 } });

    await clock.advance(19);
    expect(problems).toEqual([]);
    await clock.advance(1);
    expect(problems).toMatchObject([
      {
        sink: 'sink 2',
        kind: 'timeout',
        counts: { generated: 1, delivered: 0, dropped: 1, pending: 0 },
      },
    ]);
    expect(clock.pending).toBe(0);
  });

  it('timeoutMs is 5000 unless it is given', async () => {
    const { clock, problems } = await run({ options: { sinks: [never] } });

    await clock.advance(4999);
    expect(problems).toEqual([]);
    await clock.advance(1);
    expect(problems).toHaveLength(1);
  });

  it('onError that fails itself changes nothing', async () => {
    const fails = () => {
      throw new Error('sink');
    };
    const handlers = [fails, () => Promise.reject(new Error('late')) as never];
    for (const onError of handlers)
      expect((await run({ options: { sinks: [fails], onError } })).result.status).toBe('ok');
    await settle();
  });

  it('onError that is not given makes a warning of the process, once for each sink and kind', async () => {
    const warnings: Error[] = [];
    const listener = (warning: Error) => void warnings.push(warning);
    process.on('warning', listener);
    const layer = telemetry(() => Promise.reject(new Error('canary')));
    for (const callId of ['a', 'b'])
      await composeToolCallers([layer])(makeCall({ callId }), echoExecutor());
    await settle();
    process.off('warning', listener);

    expect(warnings.map(({ name, message }) => [name, message])).toEqual([
      ['AlliumTelemetryWarning', 'telemetry, sink 1: the sink failed'],
    ]);
  });

  it('maxPending drops what is too much, and counts it exactly', async () => {
    const problems: TelemetryProblem[] = [];
    const clock = testClock();
    const layer = telemetry({
      sink: never,
      maxPending: 3,
      timeoutMs: 10,
      onError: (p) => void problems.push(p),
    });
    const caller = composeToolCallers([layer], { clock });
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, i) => caller(makeCall({ callId: `c${i}` }), echoExecutor())),
    );

    expect(results.every(({ status }) => status === 'ok')).toBe(true);
    expect(problems).toMatchObject([
      { kind: 'full', counts: { generated: 4, delivered: 0, dropped: 1, pending: 3 } },
    ]);
    await clock.advance(10);
    await layer.close?.();
    expect(problems.at(-1)).toMatchObject({
      kind: 'closed',
      counts: { generated: 10, delivered: 0, dropped: 10, pending: 0 },
    });
  });

  it('maxPending is 1024 unless it is given, and there is room again once sinks have answered', async () => {
    const problems: TelemetryProblem[] = [];
    const waiting: (() => void)[] = [];
    const layer = telemetry({
      sink: () => new Promise<void>((done) => waiting.push(done)),
      onError: (p) => void problems.push(p),
    });
    const caller = composeToolCallers([layer], { clock: testClock() });
    const callTimes = async (times: number) => {
      for (let i = 0; i < times; i += 1) await caller(makeCall(), echoExecutor());
    };
    await callTimes(1024);
    expect(problems).toEqual([]);
    await callTimes(2);
    for (const done of waiting.splice(0)) done();
    await settle();
    await callTimes(1024);
    await callTimes(1);

    expect(problems.map(({ kind, counts }) => [kind, counts.dropped])).toEqual([
      ['full', 1],
      ['full', 3],
    ]);
    expect(problems[1]?.counts).toEqual({
      generated: 2051,
      delivered: 1024,
      dropped: 3,
      pending: 1024,
    });
  });
});
