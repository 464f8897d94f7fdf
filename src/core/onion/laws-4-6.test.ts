import { describe, expect, it } from 'vitest';
import { annotate, causeOf, fail, ok, refuse } from './results.ts';
import { withCall } from './own-call.ts';
import { echoExecutor, makeCall, settle, testClock } from '../../../conformance/test-kit.ts';
import { composeToolCallers } from './compose.ts';
import type { Next, ToolCaller, ToolLayer } from '../contract/layer.ts';
import type { ToolResult } from '../contract/result.ts';
import { whenAborted } from '../time/abort.ts';

const pass: ToolCaller = (call, next) => next(call);
const layer = (name: string, caller: ToolCaller = pass): ToolLayer => ({ name, caller });
const namesOf = (result: ToolResult): readonly string[] =>
  (result.audit?.layers ?? []).map(({ name }) => name);
const lineOf = (result: ToolResult, name: string) =>
  result.audit?.layers.find((line) => line.name === name);

/** Calls `next` so many times, one after another, and answers with the last. */
const times =
  (count: number): ToolCaller =>
  async (call, next) => {
    let result = await next(call);
    for (let again = 1; again < count; again += 1) result = await next(call);
    return result;
  };

/** An executor that does something else each time; the last thing again and again. */
function inTurn(...executors: readonly Next[]): Next {
  let turn = 0;
  return (call) => {
    const executor = executors[Math.min(turn, executors.length - 1)];
    turn += 1;
    return executor === undefined ? Promise.reject(new Error('no executor')) : executor(call);
  };
}

const throwing: Next = () => Promise.reject(new Error('broke'));
const reachedNothing: Next = async (call) =>
  fail(call, 'executor_error', null, 'Nobody there.', { executed: 'no' });

describe('law 4: what has run is never forgotten', () => {
  it('when a layer throws after next', async () => {
    const bad = layer('bad', async (call, next) => {
      await next(call);
      throw new Error('late');
    });
    const result = await composeToolCallers([layer('outer'), bad, layer('inner')])(
      makeCall(),
      echoExecutor(),
    );

    expect(result).toMatchObject({ status: 'tool_middleware_exception', executed: 'yes' });
    expect(namesOf(result)).toEqual(['inner', 'bad', 'outer']);
    expect(lineOf(result, 'inner')).toMatchObject({ status: 'ok' });
  });

  it('when a layer refuses after next', async () => {
    const late = layer('late', async (call, next) => {
      await next(call);
      return refuse(call, 'policy_blocked', 'On second thoughts, no.');
    });
    const result = await composeToolCallers([late])(makeCall(), echoExecutor());

    expect(result).toMatchObject({ status: 'policy_blocked', executed: 'yes' });
    expect(result.observation).toMatch(/^\[error from echo\]\n/);
  });

  it.each<[string, readonly Next[], string]>([
    ['never entered it', [], 'no'],
    ['answered', [echoExecutor()], 'yes'],
    [
      'answered with an error of its own',
      [async (call) => fail(call, 'executor_error', null, 'No such file.')],
      'yes',
    ],
    ['threw', [throwing], 'unknown'],
    ['knows that it reached nothing', [reachedNothing], 'no'],
    ['threw, then reached nothing', [throwing, reachedNothing], 'unknown'],
    ['answered, then threw', [echoExecutor(), throwing], 'yes'],
    ['threw, then answered', [throwing, echoExecutor()], 'yes'],
  ])(
    'and `executed` is the strongest of what happened: the executor %s',
    async (_, executors, executed) => {
      const caller =
        executors.length === 0
          ? (call: Parameters<ToolCaller>[0]) => refuse(call, 'policy_blocked', 'No.')
          : times(executors.length);
      const result = await composeToolCallers([layer('retry', caller)])(
        makeCall(),
        inTurn(...executors),
      );

      expect(result.executed).toBe(executed);
    },
  );

  it('when an abandoned run ends after a later one has done its work', async () => {
    const own = new AbortController();
    const release = new AbortController();
    const retry = layer('retry', async (call, next) => {
      await next(withCall(call, { signal: own.signal }));
      const result = await next(call);
      release.abort();
      await settle();
      return result;
    });
    const timed = layer('timed', (call, next) => {
      const pending = next(call);
      if (call.signal !== own.signal) return pending;
      own.abort();
      return refuse(call, 'timeout', 'Too slow.');
    });
    const slow: Next = async (call) =>
      whenAborted(release.signal).aborted.then(() => reachedNothing(call));
    const result = await composeToolCallers([retry, timed])(
      makeCall(),
      inTurn(slow, echoExecutor()),
    );

    expect(result).toMatchObject({ ok: true, executed: 'yes' });
  });
});

describe('law 5: cancellation is a result', () => {
  it('and nothing runs for a caller that has gone before the call', async () => {
    const executor = echoExecutor();
    const result = await composeToolCallers([layer('outer')])(
      makeCall({ signal: AbortSignal.abort() }),
      executor,
    );

    expect(result).toMatchObject({
      ok: false,
      status: 'cancelled',
      errorCategory: 'cancelled',
      executed: 'no',
    });
    expect(executor.calls).toEqual([]);
  });

  it.each<[string, (swap: AbortSignal) => ToolCaller]>([
    ['waits', () => pass],
    [
      'passes on a signal of its own',
      (swap) => (call, next) => next(withCall(call, { signal: swap })),
    ],
  ])(
    'and the signal is looked at again right before the executor, although a layer %s',
    async (_, make) => {
      const host = new AbortController();
      const asking = layer('asking', async (call, next) => {
        host.abort();
        return next(call);
      });
      const executor = echoExecutor();
      const stack = [layer('outer', make(new AbortController().signal)), asking];
      const result = await composeToolCallers(stack)(makeCall({ signal: host.signal }), executor);

      expect(result).toMatchObject({ status: 'cancelled', executed: 'no' });
      expect(executor.calls).toEqual([]);
    },
  );

  it('also when the executor heeds the signal by throwing', async () => {
    const host = new AbortController();
    const executor: Next = async () => {
      host.abort();
      throw host.signal.reason;
    };
    const result = await composeToolCallers([layer('outer')])(
      makeCall({ signal: host.signal }),
      executor,
    );

    expect(result).toMatchObject({ status: 'cancelled', executed: 'unknown' });
    expect(causeOf(result)).toBe(host.signal.reason);
  });

  it('and what the tool answered nevertheless is kept', async () => {
    const host = new AbortController();
    const stubborn: Next = async (call) => {
      host.abort();
      return ok(call, 'done anyway');
    };
    const result = await composeToolCallers([layer('outer')])(
      makeCall({ signal: host.signal }),
      stubborn,
    );

    expect(result).toMatchObject({ ok: true, executed: 'yes', result: 'done anyway' });
  });

  it('and a layer that turns it into a success is overruled', async () => {
    const cheerful = layer('cheerful', async (call, next) => {
      await next(call);
      return ok(call, 'all is well');
    });
    const result = await composeToolCallers([layer('outer'), cheerful])(
      makeCall({ signal: AbortSignal.abort() }),
      echoExecutor(),
    );

    expect(result).toMatchObject({ ok: false, status: 'cancelled' });
    expect(lineOf(result, 'cheerful')).toMatchObject({
      status: 'exception',
      error: 'turned a cancelled call into a success',
    });
  });

  it('and two layers together cannot turn it into a success', async () => {
    const renaming = layer('renaming', async (call, next) =>
      (await next(call)).ok ? ok(call) : refuse(call, 'outage', 'Not now.'),
    );
    const cheerful = layer('cheerful', async (call, next) =>
      (await next(call)).ok ? ok(call) : ok(call, 'from the cache'),
    );
    const result = await composeToolCallers([cheerful, renaming])(
      makeCall({ signal: AbortSignal.abort() }),
      echoExecutor(),
    );

    expect(result).toMatchObject({ ok: false, status: 'cancelled' });
    expect(lineOf(result, 'cheerful')).toMatchObject({ status: 'exception' });
  });

  it('while a call nobody took back may be saved by a layer', async () => {
    const saving = layer('saving', async (call, next) =>
      (await next(call)).ok ? ok(call) : ok(call, 'from the cache'),
    );
    const result = await composeToolCallers([saving])(makeCall(), throwing);

    expect(result).toMatchObject({ ok: true, result: 'from the cache', executed: 'unknown' });
  });

  it('but a layer that took back only its own attempt may try again', async () => {
    const retry = layer('retry', async (call, next) => {
      const first = await next(withCall(call, { signal: AbortSignal.abort() }));
      return first.status === 'cancelled' ? next(call) : first;
    });
    const executor = echoExecutor();
    const result = await composeToolCallers([retry])(makeCall(), executor);

    expect(result).toMatchObject({ ok: true, executed: 'yes' });
    expect(executor.calls).toHaveLength(1);
  });
});

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
