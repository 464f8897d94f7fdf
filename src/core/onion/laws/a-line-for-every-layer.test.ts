import { describe, expect, it } from 'vitest';
import { annotate, ok } from '../results.ts';
import { withCall } from '../own-call.ts';
import { echoExecutor, makeCall, testClock } from '../../../../conformance/test-kit.ts';
import { composeToolCallers } from '../compose.ts';
import type { Next, ToolCaller, ToolLayer } from '../../contract/layer.ts';
import type { ToolResult } from '../../contract/result.ts';
import { layer, lineOf, pass } from './layers.fixture.ts';

const namesOf = (result: ToolResult): readonly string[] =>
  (result.audit?.layers ?? []).map(({ name }) => name);

describe('law 6: compose writes audit.layers', () => {
  it('innermost first, with ISO times from the clock', async () => {
    const clock = testClock();
    const slow =
      (ms: number): ToolCaller =>
      async (call, next) => {
        await clock.advance(ms);
        const result = await next(call);
        await clock.advance(ms);
        return result;
      };
    const result = await composeToolCallers([layer('a', slow(1_000)), layer('b', slow(20))], {
      clock,
    })(makeCall(), echoExecutor());

    expect(result.audit?.layers).toEqual([
      {
        name: 'b',
        status: 'ok',
        startedAt: '2026-01-01T00:00:01.000Z',
        endedAt: '2026-01-01T00:00:01.040Z',
      },
      {
        name: 'a',
        status: 'ok',
        startedAt: '2026-01-01T00:00:00.000Z',
        endedAt: '2026-01-01T00:00:02.040Z',
      },
    ]);
  });

  it('and a layer says what it likes about its own line, but not whose it is and when', async () => {
    const cache = layer('cache', async (call, next) => {
      const result = await next(call);
      return annotate(
        result,
        { hitRate: 0.5 },
        { status: 'hit', count: 3, name: 'forged', startedAt: 'never' },
      );
    });
    const result = await composeToolCallers([layer('outer'), cache, layer('inner')])(
      makeCall(),
      echoExecutor(),
    );

    expect(lineOf(result, 'cache')).toMatchObject({ status: 'hit', count: 3 });
    expect(lineOf(result, 'cache')?.startedAt).toMatch(/^\d{4}-/);
    expect([lineOf(result, 'inner')?.status, lineOf(result, 'outer')?.status]).toEqual([
      'ok',
      'ok',
    ]);
    expect(result.audit).toMatchObject({ hitRate: 0.5 });
  });

  it('and the outer layer has the last word, although a retry lets the inner one write later', async () => {
    const outer = layer('outer', async (call, next) => {
      annotate(await next(call), { summary: 'outer' });
      return next(call);
    });
    const inner = layer('inner', async (call, next) =>
      annotate(await next(call), { summary: 'inner', reason: 'mine' }),
    );
    const result = await composeToolCallers([outer, inner])(makeCall(), echoExecutor());

    expect(result.audit).toMatchObject({ summary: 'outer', reason: 'mine' });
    expect(namesOf(result)).toEqual(['inner', 'inner', 'outer']);
  });

  it('and every layer writes on its own line, also about a call that was changed further in', async () => {
    const saying = (name: string, caller: ToolCaller = pass): ToolLayer =>
      layer(name, async (call, next) =>
        annotate(await caller(call, next), { [name]: true }, { status: `seen by ${name}` }),
      );
    const changing: ToolCaller = (call, next) =>
      next(withCall(call, { toolArgs: { changed: true } }));
    const result = await composeToolCallers([
      saying('a'),
      saying('b', changing),
      saying('c', changing),
    ])(makeCall(), echoExecutor());

    expect(result.audit?.layers.map(({ status }) => status)).toEqual([
      'seen by c',
      'seen by b',
      'seen by a',
    ]);
    expect(result.audit).toMatchObject({ a: true, b: true, c: true });
  });

  it('and merging is shallow, except that layers concatenates', async () => {
    const line = { name: 'step', status: 'done', startedAt: 'a', endedAt: 'b' };
    const inner = layer('inner', async (call, next) =>
      annotate(await next(call), { metadata: { a: 1 }, layers: [line] }),
    );
    const outer = layer('outer', async (call, next) =>
      annotate(await next(call), { metadata: { b: 2 } }),
    );
    const result = await composeToolCallers([outer, inner])(makeCall(), echoExecutor());

    expect(result.audit?.metadata).toEqual({ b: 2 });
    expect(namesOf(result)).toEqual(['step', 'inner', 'outer']);
  });

  it('and fills kind and hints from the tool, unless a layer said otherwise', async () => {
    const call = makeCall({ annotations: { kind: 'read', readOnly: true } });
    const plain = await composeToolCallers([pass])(call, echoExecutor());
    const saying = layer('saying', async (given, next) =>
      annotate(await next(given), { kind: 'fetch' }),
    );
    const said = await composeToolCallers([saying])(call, echoExecutor());

    expect(plain.audit).toMatchObject({
      kind: 'read',
      hints: { readOnly: true, destructive: false, openWorld: true },
    });
    expect(said.audit).toMatchObject({ kind: 'fetch', hints: { readOnly: true } });
  });

  it('and an executor may write to the record, but not on the line of a layer', async () => {
    const executor: Next = async (call) =>
      annotate(ok(call), { summary: 'executor', handoff: { to: 'b' } }, { status: 'forged' });
    const outer = layer('outer', async (call, next) =>
      annotate(await next(call), { summary: 'outer' }),
    );
    const result = await composeToolCallers([outer])(makeCall(), executor);

    expect(result.audit).toMatchObject({ summary: 'outer', handoff: { to: 'b' } });
    expect(lineOf(result, 'outer')).toMatchObject({ status: 'ok' });
  });
});
