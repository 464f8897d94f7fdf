import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ok, refuse } from '../onion/results.ts';
import { isAborted, withCall } from '../onion/own-call.ts';
import { echoExecutor, makeCall, settle, testClock } from '../../../conformance/test-kit.ts';
import type { ToolCall } from '../contract/call.ts';
import type { Clock } from './clock.ts';
import { composeToolCallers } from '../onion/compose.ts';
import { defineLayer, type Next, type ToolLayer } from '../contract/layer.ts';
import { nextWithin, runWithin } from './run-within.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;
const isLazy = (call: ToolCall): boolean =>
  !('value' in (Object.getOwnPropertyDescriptor(call, 'signal') ?? {}));
const never = () => new Promise<never>(() => {});

function bounds(timeoutMs: number | undefined, graceMs = 10) {
  const clock = testClock();
  const controller = new AbortController();
  return { clock, controller, signal: controller.signal, timeoutMs, graceMs };
}

describe('runWithin', () => {
  it('sets no timer and no listener for work that ends at once', async () => {
    const given = bounds(100);
    let seen = -1;
    const ending = await runWithin(given, async () => {
      seen = given.clock.pending;
      return 'done';
    });
    await settle();

    expect(ending).toEqual({ by: 'itself', ran: { value: 'done' } });
    expect([seen, given.clock.pending, listeners(given.signal)]).toEqual([0, 0, 0]);
  });

  it('tells what was thrown, also at once', async () => {
    const broken = new Error('broken');
    const throws = () => {
      throw broken;
    };

    expect(await runWithin(bounds(100), throws)).toEqual({ by: 'itself', ran: { thrown: broken } });
    expect(await runWithin(bounds(undefined), () => Promise.reject(broken))).toEqual({
      by: 'itself',
      ran: { thrown: broken },
    });
  });

  it('counts the time from where it began, not from where a long turn was over', async () => {
    let time = 0;
    const asked: number[] = [];
    const clock: Clock = {
      now: () => 0,
      monotonic: () => time,
      after: (ms) => (asked.push(ms), () => {}),
    };
    void runWithin({ ...bounds(100), clock }, never);
    time = 60;
    await settle();

    expect(asked).toEqual([40]);
  });

  it.each([
    ['longer', 500, 300, 'in time'],
    ['shorter', 20, 20, null],
    ['none', 0, 0, null],
  ])(
    'has the grace of the run around it that stops it: %s',
    async (_name, outerGrace, workMs, heard) => {
      const outer = bounds(100, outerGrace);
      let inner: unknown = null;
      const ending = runWithin(outer, async (abort) => {
        const { clock } = outer;
        const bound = { clock, signal: abort.read(), timeoutMs: undefined, graceMs: 50 };
        inner = await runWithin(bound, () =>
          heard === null
            ? never()
            : new Promise((resolve) => outer.clock.after(100 + workMs, () => resolve('in time'))),
        );
      });
      await outer.clock.advance(100 + workMs);
      await ending;

      expect(inner).toEqual({ by: 'cancelled', ran: heard === null ? null : { value: heard } });
      expect(outer.clock.pending).toBe(0);
    },
  );

  it('notices a caller that leaves before the turn is over', async () => {
    const given = bounds(undefined);
    const running = runWithin(given, never);
    given.controller.abort();
    await given.clock.advance(10);

    expect(await running).toEqual({ by: 'cancelled', ran: null });
  });

  it('says cancelled of work that failed because its caller left in the same turn', async () => {
    const given = bounds(undefined);
    const heeding = (signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      );
    const running = runWithin(given, (abort) => heeding(abort.read()));
    given.controller.abort(new Error('gone'));

    expect(await running).toMatchObject({ by: 'cancelled', ran: { thrown: { message: 'gone' } } });
    expect(given.clock.pending).toBe(0);
  });

  it('lets go of everything when the clock fails, and says so', async () => {
    const given = bounds(100);
    const clock: Clock = {
      ...given.clock,
      after: () => {
        throw new Error('no timers left');
      },
    };

    expect(await runWithin({ ...given, clock }, never)).toMatchObject({
      ran: { thrown: { message: 'no timers left' } },
    });
    expect(listeners(given.signal)).toBe(0);
  });
});

const limited = (timeoutMs: number, graceMs = 10): ToolLayer =>
  defineLayer({
    name: 'limited',
    caller: (call, next) =>
      nextWithin(call, next, { timeoutMs, graceMs }, ({ by }) => refuse(call, by, by)),
  });

function start(
  executor: Next,
  layers: readonly ToolLayer[] = [],
  signal = new AbortController().signal,
) {
  const clock = testClock();
  return {
    clock,
    calling: composeToolCallers([limited(100), ...layers], { clock })(
      makeCall({ signal }),
      executor,
    ),
  };
}

describe('nextWithin', () => {
  it('makes no signal that nobody reads, and none for looking whether the caller has gone', async () => {
    const { signal } = new AbortController();
    let seen = true;
    await start(
      async (call) => {
        await settle();
        seen = isAborted(call);
        expect(isLazy(call)).toBe(true);
        return ok(call);
      },
      [],
      signal,
    ).calling;

    expect([seen, listeners(signal)]).toEqual([false, 0]);
  });

  it('gives the same signal to every reader', async () => {
    let same = false;
    await start(async (call) => {
      same = call.signal === call.signal;
      return ok(call);
    }).calling;

    expect(same).toBe(true);
  });

  it('gives the same signal to every copy', async () => {
    const signals: AbortSignal[] = [];
    const copies = defineLayer({
      name: 'copies',
      caller: (call, next) => next(withCall(call, { toolArgs: { other: 1 } })),
    });
    const spreads = defineLayer({
      name: 'spreads',
      caller: (call, next) => next({ ...call, toolArgs: { more: 1 } }),
    });
    const look: Next = async (call) => {
      signals.push(call.signal, call.signal, { ...call }.signal);
      return ok(call);
    };
    await start(look, [copies, spreads]).calling;

    expect(signals).toHaveLength(3);
    expect(new Set(signals).size).toBe(1);
    expect(signals[0]).toBeInstanceOf(AbortSignal);
  });

  it('keeps a copy from making the signal', async () => {
    const lazy: boolean[] = [];
    const copies = defineLayer({
      name: 'copies',
      caller: (call, next) => next(withCall(call, { toolArgs: { other: 1 } })),
    });
    const look: Next = async (call) => {
      lazy.push(isLazy(call));
      return ok(call);
    };
    await start(look, [copies]).calling;

    expect(lazy).toEqual([true]);
  });

  it('aborts what a layer inside put in its place no more and no less than the layer says', async () => {
    const own = new AbortController();
    const replaces = defineLayer({
      name: 'replaces',
      caller: (call, next) => next(withCall(call, { signal: own.signal })),
    });
    let seen: AbortSignal | null = null;
    await start(
      async (call) => {
        seen = call.signal;
        return ok(call);
      },
      [replaces],
    ).calling;

    expect(seen).toBe(own.signal);
  });

  it('lets a tool that first reads the signal after the deadline find it aborted', async () => {
    let late: ToolCall | null = null;
    const { clock, calling } = start((call) => {
      late = call;
      return never();
    });
    await clock.advance(110);
    await calling;

    // The executor has run by now; a closure hides the assignment from the compiler.
    const { signal } = late as unknown as ToolCall;
    expect([signal.aborted, signal.reason]).toEqual([
      true,
      expect.objectContaining({ name: 'TimeoutError' }),
    ]);
  });

  it.each([
    ['while it runs', (controller: AbortController) => controller.abort('why'), false],
    ['when it is over', (controller: AbortController) => controller.abort('why'), true],
  ])(
    'shows the reason of a caller that left to whoever reads the signal later: %s',
    async (_name, leave, over) => {
      const controller = new AbortController();
      const calls: ToolCall[] = [];
      const executor: Next = async (call) => {
        calls.push(call);
        return over ? ok(call) : never();
      };
      const { clock, calling } = start(executor, [], controller.signal);
      if (over) await calling;
      leave(controller);
      await clock.advance(10);
      await calling;

      expect(calls[0]?.signal.reason).toBe('why');
      expect(listeners(controller.signal)).toBe(0);
    },
  );

  it('tells a tool that listens at once when the caller leaves, also within its first turn', async () => {
    const controller = new AbortController();
    const told: unknown[] = [];
    const executor: Next = (call) => {
      call.signal.addEventListener('abort', () => told.push(call.signal.reason));
      return never();
    };
    const { clock, calling } = start(executor, [], controller.signal);
    await Promise.resolve();
    controller.abort('left');

    expect(told).toEqual(['left']);
    await clock.advance(10);
    expect(await calling).toMatchObject({ status: 'cancelled' });
  });

  it('asks for the answer once, also if the tool comes to an end later', async () => {
    let asked = 0;
    let finish = () => {};
    const counts = defineLayer({
      name: 'counts',
      caller: (call, next) =>
        nextWithin(
          call,
          next,
          { timeoutMs: 5, graceMs: 5 },
          ({ by }) => (asked++, refuse(call, by, by)),
        ),
    });
    const clock = testClock();
    const calling = composeToolCallers([counts], { clock })(
      makeCall(),
      (call) => new Promise((resolve) => void (finish = () => resolve(ok(call)))),
    );
    await clock.advance(10);
    await calling;
    finish();
    await settle();

    expect(asked).toBe(1);
  });

  it('blames the layer for an answer that cannot be made', async () => {
    const broken = defineLayer({
      name: 'broken',
      caller: (call, next) =>
        nextWithin(call, next, { timeoutMs: 5, graceMs: 0 }, () => {
          throw new Error('no answer');
        }),
    });
    const clock = testClock();
    const calling = composeToolCallers([broken], { clock })(makeCall(), never);
    await clock.advance(5);

    expect(await calling).toMatchObject({
      status: 'tool_middleware_exception',
      executed: 'unknown',
    });
  });

  it('leaves nothing behind when next cannot even be called', async () => {
    const clock = testClock();
    const call = makeCall({}, { clock });
    const running = nextWithin(
      call,
      () => {
        throw new Error('not a next');
      },
      { timeoutMs: 5, graceMs: 0 },
      ({ by }) => refuse(call, by, by),
    );

    await expect(running).rejects.toThrow('not a next');
    await settle();
    expect([clock.pending, listeners(call.signal)]).toEqual([0, 0]);
  });

  it('enters nothing for a layer outside that takes the call back within the turn, before anybody follows its signal', async () => {
    const leaving = defineLayer({
      name: 'leaving',
      caller: async (call, next) => {
        const controller = new AbortController();
        const answer = next(withCall(call, { signal: controller.signal }));
        controller.abort();
        return answer;
      },
    });
    const pausing = defineLayer({
      name: 'pausing',
      caller: async (call, next) => {
        await Promise.resolve();
        return next(call);
      },
    });
    const executor = echoExecutor();
    const result = await composeToolCallers([leaving, limited(100), pausing])(makeCall(), executor);

    expect([result.status, result.executed, executor.calls.length]).toEqual(['cancelled', 'no', 0]);
  });

  it('costs no timer per call: a thousand at once share one', async () => {
    const clock = testClock();
    const caller = composeToolCallers([limited(100)], { clock });
    const slow: Next = async (call) => {
      await settle();
      return ok(call);
    };
    const { signal } = new AbortController();
    const running = Array.from({ length: 1000 }, () => caller(makeCall({ signal }), slow));
    await new Promise((resolve) => setImmediate(resolve));

    expect([clock.pending, listeners(signal)]).toEqual([1, 1]);
    await Promise.all(running);
    expect([clock.pending, listeners(signal)]).toEqual([0, 0]);
    await caller(makeCall({ signal }), echoExecutor());
    expect(clock.pending).toBe(0);
  });
});
