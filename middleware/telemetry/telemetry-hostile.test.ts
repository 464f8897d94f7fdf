import { describe, expect, it } from 'vitest';
import { annotate, defineLayer } from '../../src/index.ts';
import { hashWith } from '../../src/layer.ts';
import { recordOf, run } from './run.fixture.ts';

describe('telemetry with hostile input', () => {
  it.each(['__proto__', 'constructor', 'x'.repeat(1_000_000), 'a\uD800', 'line\nbreak', 'ok'])(
    'keeps name %# within bounds',
    async (toolName) => {
      const record = await recordOf({
        call: { toolName, callId: toolName, turn: { sessionId: toolName } },
      });

      expect(record.name.length).toBeLessThanOrEqual('tool_call.'.length + 128);
      expect(record.name.startsWith(`tool_call.${toolName.slice(0, 1)}`)).toBe(true);
      const names = [
        record.name,
        record.span_id,
        record.trace_id,
        ...Object.values(record.attributes),
      ];
      expect(names.filter((name) => typeof name === 'string' && !name.isWellFormed())).toEqual([]);
      expect(JSON.stringify(record).length).toBeLessThan(5000);
    },
  );

  it('cuts a description of a megabyte, and attached attributes', async () => {
    const record = await recordOf({
      options: { attributes: { note: 'y'.repeat(1_000_000) } },
      call: { description: 'x'.repeat(1_000_000) },
    });

    expect(record.attributes['gen_ai.tool.description']).toHaveLength(1024);
    expect(record.attributes.note).toHaveLength(1024);
  });

  it('makes at most 128 child spans, and says how many it left out', async () => {
    const lines = Array.from({ length: 200 }, () => ({
      name: 'x'.repeat(500),
      status: 's',
      startedAt: 'not a time',
      endedAt: '',
    }));
    const many = defineLayer({
      name: 'many',
      caller: async (call, next) => annotate(await next(call), { layers: lines }),
    });
    const record = await recordOf({ inner: [many] });

    expect(record.child_spans).toHaveLength(128);
    expect(record.child_spans[0]?.name).toHaveLength('tool_call.'.length + 128);
    expect(record.child_spans[0]?.started_at).toBe(record.start_time_iso);
    expect(record.attributes['allium.layers.omitted']).toBe(73);
  });

  it('takes lines in which everything is missing', async () => {
    const odd = defineLayer({
      name: 'odd',
      caller: async (call, next) =>
        annotate(await next(call), { layers: [{ count: 'a secret' }] as never }),
    });
    const record = await recordOf({ inner: [odd] });

    expect(record.child_spans[0]).toMatchObject({
      name: 'tool_call.unknown',
      status: 'unknown',
      duration_ms: 0,
    });
    expect(JSON.stringify(record)).not.toContain('a secret');
  });

  it('survives sinks that answer with tampered promises', async () => {
    const evil = Object.assign(Promise.resolve(), { then: () => 'never calls back' });
    const trap = new Proxy({}, { has: () => true, get: () => raiseTrap() });
    const { result, problems, clock } = await run({
      options: { sinks: [() => evil, () => trap], timeoutMs: 10 },
    });
    await clock.advance(10);

    expect(result.status).toBe('ok');
    expect(problems.map(({ sink, kind }) => [sink, kind])).toEqual([
      ['sink 3', 'failed'],
      ['sink 2', 'timeout'],
    ]);
  });

  it('counts once what a hostile promise answers twice, or throws', async () => {
    const throws = { then: raiseTrap };
    const twice = {
      then: (done: () => void, failed: (why: unknown) => void) => (done(), failed('late'), done()),
    };
    const { layer, problems, clock } = await run({
      options: { sinks: [() => throws, () => twice], timeoutMs: 10 },
    });
    await clock.advance(20);
    await layer.close?.();

    expect(problems.map(({ sink, kind, counts }) => [sink, kind, counts])).toEqual([
      ['sink 2', 'failed', { generated: 1, delivered: 0, dropped: 1, pending: 0 }],
      ['sink 2', 'closed', { generated: 1, delivered: 0, dropped: 1, pending: 0 }],
    ]);
    expect(clock.pending).toBe(0);
  });

  it('counts a span that cannot be built, for every sink', async () => {
    const badHash = defineLayer({
      name: 'badHash',
      caller: (call, next) => next(hashWith(call, raiseTrap)),
    });
    const { result, records, problems } = await run({
      outer: [badHash],
      options: { sinks: [() => {}] },
    });

    expect(result.status).toBe('ok');
    expect(records).toEqual([]);
    expect(problems.map(({ sink, message, counts }) => [sink, message, counts.dropped])).toEqual([
      ['sink 1', 'the span could not be built', 1],
      ['sink 2', 'the span could not be built', 1],
    ]);
  });
});

function raiseTrap(): never {
  throw new Error('trap');
}
