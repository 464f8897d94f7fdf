import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeCall, settle, testClock } from '../../conformance/index.ts';
import {
  composeToolCallers,
  defineLayer,
  fail,
  type Next,
  ok,
  refuse,
  type ToolLayer,
} from '../../src/index.ts';
import { type ClaimStore, memoryClaims } from '../../src/stores/index.ts';
import { idempotency } from './idempotency.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

/** How often the tool runs for so many calls at once under so many keys. */
async function runsFor(layer: ToolLayer, calls: number, keys: number): Promise<number> {
  let runs = 0;
  const slow: Next = async (call) => {
    runs += 1;
    await settle();
    return ok(call, call.toolArgs);
  };
  const stack = composeToolCallers([layer]);
  const results = await Promise.all(
    Array.from({ length: calls }, (_, index) =>
      stack(makeCall({ callId: `call-${index}`, toolArgs: { key: index % keys } }), slow),
    ),
  );
  results.forEach((result, index) => {
    if (result.toolCallId !== `call-${index}`) throw new Error('a result for another call');
    if (result.status !== 'ok' || JSON.stringify(result.result) !== `{"key":${index % keys}}`)
      throw new Error('another answer');
  });
  return runs;
}

/** Looks, runs, keeps: the cache that everybody writes first. */
function naiveCache(): ToolLayer {
  const answers = new Map<string, unknown>();
  return defineLayer({
    name: 'naive',
    async caller(call, next) {
      const key = JSON.stringify(call.toolArgs);
      if (answers.has(key)) return ok(call, answers.get(key));
      const result = await next(call);
      answers.set(key, result.result);
      return result;
    },
  });
}

describe('idempotency under concurrency', () => {
  it.each(['cache', 'effect'] as const)(
    'mode %s runs the tool exactly once for 10 000 calls with one key',
    async (mode) => {
      expect(await runsFor(idempotency({ mode }), 10_000, 1)).toBe(1);
    },
  );

  it.each(['cache', 'effect'] as const)(
    'mode %s runs the tool once a key for 10 000 calls with 100 keys',
    async (mode) => {
      expect(await runsFor(idempotency({ mode }), 10_000, 100)).toBe(100);
    },
  );

  it('mode effect runs the tool once where the key takes its time', async () => {
    expect(
      await runsFor(
        idempotency({ mode: 'effect', key: async (call) => JSON.stringify(call.toolArgs.key) }),
        10_000,
        1,
      ),
    ).toBe(1);
  });

  it('is not what a cache that looks, runs and keeps does', async () => {
    expect(await runsFor(naiveCache(), 10_000, 1)).toBe(10_000);
  });

  it('tells those who waited, and gives every call a line of its own', async () => {
    const stack = composeToolCallers([idempotency({ mode: 'effect' })]);
    const slow: Next = async (call) => {
      await settle();
      return ok(call);
    };
    const results = await Promise.all(
      ['a', 'b', 'c'].map((callId) => stack(makeCall({ callId }), slow)),
    );

    expect(results.map(({ audit }) => audit?.layers[0]?.status)).toEqual([
      'miss',
      'waited',
      'waited',
    ]);
    expect(results.map(({ executed }) => executed)).toEqual(['yes', 'no', 'no']);
  });

  it('mode effect tells those who wait that the end is not known', async () => {
    const stack = composeToolCallers([idempotency({ mode: 'effect' })]);
    const dies: Next = async () => {
      await settle();
      throw new Error('connection lost');
    };
    const results = await Promise.all([1, 2, 3].map(() => stack(makeCall(), dies)));

    expect(results.map(({ status }) => status)).toEqual([
      'executor_error',
      'outcome_unknown',
      'outcome_unknown',
    ]);
  });

  it('mode effect refuses another use of a key that is being worked on', async () => {
    const stack = composeToolCallers([idempotency({ mode: 'effect', key: () => 'k' })]);
    const slow: Next = async (call) => {
      await settle();
      return ok(call);
    };
    const [first, second] = await Promise.all(
      [1, 2].map((a) => stack(makeCall({ toolArgs: { a } }), slow)),
    );

    expect([first?.status, second?.status]).toEqual(['ok', 'idempotency_conflict']);
  });

  it('mode effect lets those who wait try one after the other when nothing ran', async () => {
    let asked = 0;
    let runs = 0;
    const gate = defineLayer({
      name: 'gate',
      async caller(call, next) {
        asked += 1;
        const turn = asked;
        await settle();
        return turn < 2500 ? refuse(call, 'policy_blocked', 'not yet') : next(call);
      },
    });
    const stack = composeToolCallers([idempotency({ mode: 'effect' }), gate]);
    const results = await Promise.all(
      Array.from({ length: 5000 }, () => stack(makeCall(), async (call) => ok(call, (runs += 1)))),
    );

    expect(results.filter(({ status }) => status === 'policy_blocked')).toHaveLength(2499);
    expect([asked, runs]).toEqual([2500, 1]);
  });

  it('mode effect lets go of the one before when the next in line takes over', async () => {
    const controllers = Array.from({ length: 3 }, () => new AbortController());
    const listening: number[] = [];
    const inside: Next = async (call) => {
      await settle();
      listening.push(...controllers.map(({ signal }) => getEventListeners(signal, 'abort').length));
      return refuse(call, 'policy_blocked', 'Not yet.');
    };
    const stack = composeToolCallers([idempotency({ mode: 'effect' }), (call) => inside(call)]);
    await Promise.all(
      controllers.map(({ signal }, index) =>
        stack(makeCall({ callId: `call-${index}`, signal }), inside),
      ),
    );

    // While the second is at work, one listens to it for the third, the third listens for itself,
    // and nobody to the first.
    expect(listening.slice(3, 6)).toEqual([0, 1, 1]);
    expect(listening.slice(6)).toEqual([0, 0, 0]);
  });

  it('mode cache lets everybody run when the first fails', async () => {
    let runs = 0;
    const stack = composeToolCallers([idempotency()]);
    const first: Next = async (call) => {
      runs += 1;
      const turn = runs;
      await settle();
      return turn === 1 ? fail(call, 'executor_error', null, 'no') : ok(call, turn);
    };
    const results = await Promise.all([1, 2, 3].map(() => stack(makeCall(), first)));

    expect(results.map(({ status }) => status)).toEqual(['executor_error', 'ok', 'ok']);
    expect(runs).toBe(3);
  });

  it.each(['cache', 'effect'] as const)(
    'mode %s lets a waiter leave without taking the first along',
    async (mode) => {
      const leaving = new AbortController();
      const stack = composeToolCallers([idempotency({ mode })]);
      let finish = () => {};
      const slow: Next = (call) =>
        new Promise((resolve) => (finish = () => resolve(ok(call, 'done'))));
      const [first, second] = [
        stack(makeCall(), slow),
        stack(makeCall({ signal: leaving.signal }), slow),
      ];
      await settle();
      leaving.abort();

      expect(await second).toMatchObject({ status: 'cancelled', executed: 'no' });
      finish();
      expect(await first).toMatchObject({ status: 'ok', executed: 'yes' });
      expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
    },
  );

  it('lets a caller that has gone already not wait at all', async () => {
    const stack = composeToolCallers([idempotency({ mode: 'effect' })]);
    const never: Next = () => new Promise(() => {});
    void stack(makeCall(), never);

    expect(await stack(makeCall({ signal: AbortSignal.abort() }), never)).toMatchObject({
      status: 'cancelled',
      executed: 'no',
    });
  });

  it('mode cache does not wait for a first call that was called off', async () => {
    const gone = new AbortController();
    const stack = composeToolCallers([idempotency()]);
    void stack(makeCall({ signal: gone.signal }), () => new Promise(() => {}));
    const waiting = stack(makeCall({ callId: 'waits' }), async (call) => ok(call, 'own'));
    await settle();
    gone.abort();

    expect(await waiting).toMatchObject({ status: 'ok', executed: 'yes', result: 'own' });
    expect(await stack(makeCall(), async (call) => ok(call, 'later'))).toMatchObject({
      result: 'later',
    });
  });

  it('mode effect keeps its claim alive as long as the tool runs', async () => {
    const clock = testClock();
    const store = memoryClaims({ clock });
    const [here, there] = [1, 2].map(() =>
      composeToolCallers([idempotency({ mode: 'effect', leaseMs: 300, store })], { clock }),
    );
    let finish = () => {};
    const first = here?.(
      makeCall(),
      (call) => new Promise((resolve) => (finish = () => resolve(ok(call, 'late')))),
    );
    const second = there?.(makeCall({ callId: 'other-process' }), async (call) =>
      ok(call, 'twice'),
    );
    await clock.advance(10_000);
    finish();
    await clock.advance(100);

    expect(await first).toMatchObject({ result: 'late', executed: 'yes' });
    expect(await second).toMatchObject({
      result: 'late',
      executed: 'no',
      toolCallId: 'other-process',
    });
    expect(clock.pending).toBe(0);
  });

  it('mode effect does not wait for the next in line either once it was called off', async () => {
    const clock = testClock();
    let asked = 0;
    const gate = defineLayer({
      name: 'gate',
      caller: async (call, next) => {
        asked += 1;
        return asked === 1 ? refuse(call, 'policy_blocked', 'not yet') : next(call);
      },
    });
    const stack = composeToolCallers([idempotency({ mode: 'effect', leaseMs: 300 }), gate], {
      clock,
    });
    const second = new AbortController();
    const ended: string[] = [];
    for (const signal of [
      new AbortController().signal,
      second.signal,
      new AbortController().signal,
    ]) {
      void stack(makeCall({ signal }), () => new Promise(() => {})).then(({ status }) =>
        ended.push(status),
      );
    }
    await clock.advance(100);
    second.abort();
    await clock.advance(1000);

    expect(ended).toEqual(['policy_blocked', 'outcome_unknown']);
  });

  it('mode effect: what a call that was called off comes to late ends no wait for the next one', async () => {
    const clock = testClock();
    const leaving = new AbortController();
    const steps: (() => void)[] = [];
    const step = () => new Promise<void>((resolve) => steps.push(resolve));
    const gate = defineLayer({
      name: 'gate',
      async caller(call, next) {
        if (call.callId !== 'first') return next(call);
        await step();
        return refuse(call, 'policy_blocked', 'too late');
      },
    });
    const stack = composeToolCallers([idempotency({ mode: 'effect' }), gate], { clock });
    const slow: Next = async (call) => {
      await step();
      return ok(call, 'done');
    };
    void stack(makeCall({ callId: 'first', signal: leaving.signal }), slow);
    leaving.abort();
    const second = stack(makeCall({ callId: 'second' }), slow);
    steps[0]?.();
    await clock.advance(100);
    const third = stack(makeCall({ callId: 'third' }), slow);
    steps[1]?.();
    await clock.advance(100);

    expect(await second).toMatchObject({ result: 'done', executed: 'yes' });
    const { result, executed, audit } = await third;
    expect({ result, executed }).toEqual({ result: 'done', executed: 'no' });
    expect(audit?.layers).toMatchObject([{ name: 'idempotency', status: 'waited' }]);
  });

  it('mode effect leaves nothing behind of a wait for another process', async () => {
    const clock = testClock();
    const store = memoryClaims({ clock });
    const leaving = new AbortController();
    const [here, there] = [1, 2].map(() =>
      composeToolCallers([idempotency({ mode: 'effect', store })], { clock }),
    );
    void here?.(makeCall(), () => new Promise(() => {}));
    const waiting = there?.(makeCall({ signal: leaving.signal }), async (call) => ok(call));
    await clock.advance(550);

    expect(getEventListeners(leaving.signal, 'abort')).toHaveLength(1);
    leaving.abort();
    expect(await waiting).toMatchObject({ status: 'cancelled', executed: 'no' });
    // What is left is the lease of the one at work.
    expect(clock.pending).toBe(1);
  });

  it('mode effect stops renewing a claim that is no longer its own', async () => {
    const clock = testClock();
    let renewals = 0;
    const renew = () => {
      renewals += 1;
      return false;
    };
    const stack = composeToolCallers(
      [idempotency({ mode: 'effect', leaseMs: 30, store: { ...memoryClaims({ clock }), renew } })],
      {
        clock,
      },
    );
    void stack(makeCall(), () => new Promise(() => {}));
    await clock.advance(1000);

    expect([renewals, clock.pending]).toEqual([1, 0]);
  });
});

/** A store behind a network: every step takes a turn that the scheduler chooses. */
const remote = (store: ClaimStore, s: fc.Scheduler): ClaimStore => ({
  claim: (key, request) =>
    s.schedule(Promise.resolve('claim')).then(() => store.claim(key, request)),
  complete: (key, token, ending) =>
    s.schedule(Promise.resolve('complete')).then(() => store.complete(key, token, ending)),
  release: (key, token) =>
    s.schedule(Promise.resolve('release')).then(() => store.release(key, token)),
  get: (key) => s.schedule(Promise.resolve('get')).then(() => store.get(key)),
  renew: (key, token, leaseMs) =>
    s.schedule(Promise.resolve('renew')).then(() => store.renew(key, token, leaseMs)),
});

/**
 * Looks and then takes, with a turn in between, as a key-value store without set-if-absent makes
 * one do.
 */
const racy = (store: ClaimStore): ClaimStore => ({
  ...store,
  async claim(key) {
    const record = await store.get(key);
    return record === null ? { won: true } : { won: false, record };
  },
});

interface Chance {
  /** Milliseconds that go by before each turn: some are longer than the lease. */
  readonly pauses: readonly number[];
  readonly outcomes: readonly ('ok' | 'throws' | 'refused')[];
  /** The turn at which each caller leaves. */
  readonly leaves: readonly number[];
}

/**
 * Four calls in two processes that share a store: how often the tool ran, and how the calls ended.
 */
async function played(
  s: fc.Scheduler,
  { pauses, outcomes, leaves }: Chance,
  tamper: (store: ClaimStore) => ClaimStore = (store) => store,
) {
  const clock = testClock();
  const store = tamper(remote(memoryClaims({ clock }), s));
  let runs = 0;
  let refusals = 0;
  const inner = defineLayer({
    name: 'inner',
    caller: (call, next) =>
      outcomes[(refusals += 1) - 1] === 'refused'
        ? refuse(call, 'policy_blocked', 'no')
        : next(call),
  });
  const executor: Next = async (call) => {
    runs += 1;
    await s.schedule(Promise.resolve('execute'));
    if (outcomes[refusals - 1] === 'throws') throw new Error('lost');
    return ok(call, 'done');
  };
  const stacks = [1, 2].map(() =>
    composeToolCallers([idempotency({ mode: 'effect', leaseMs: 250, store }), inner], { clock }),
  );
  const callers = [0, 1, 0, 1].map((at) => ({ stack: stacks[at], leaving: new AbortController() }));
  const calling = Promise.all(
    callers.map(async ({ stack, leaving: { signal } }) => stack?.(makeCall({ signal }), executor)),
  );
  let statuses: readonly string[] = [];
  void calling.then((results) => (statuses = results.map((result) => result?.status ?? 'none')));
  for (let turn = 0; turn < 500 && statuses.length === 0; turn += 1) {
    await settle();
    for (const [at, { leaving }] of callers.entries()) if (leaves[at] === turn) leaving.abort();
    // Time goes on even where every pause that was drawn is none.
    await clock.advance(pauses[turn % pauses.length] ?? turn);
    if (s.count() > 0) await s.waitNext(1);
    else await clock.advance(50);
  }
  return { runs, statuses };
}

const chances = fc.record({
  pauses: fc.array(fc.constantFrom(0, 10, 100, 300), { minLength: 1, maxLength: 10 }),
  outcomes: fc.array(fc.constantFrom('ok', 'throws', 'refused'), { minLength: 4, maxLength: 4 }),
  leaves: fc.array(fc.oneof(fc.constant(-1), fc.nat(8)), { minLength: 4, maxLength: 4 }),
});

describe('two processes with one store', () => {
  it('never run the tool twice for one effect, whatever the order and however slow', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), chances, async (s, chance) => {
        const { runs, statuses } = await played(s, chance);
        expect(runs).toBeLessThanOrEqual(1);
        expect(statuses).toHaveLength(4);
        expect(
          statuses.filter(
            (status) =>
              !['ok', 'policy_blocked', 'outcome_unknown', 'executor_error', 'cancelled'].includes(
                status,
              ),
          ),
        ).toEqual([]);
      }),
      { numRuns: howMany(100, 200) },
    );
  });

  it('run it twice where claiming is two steps', async () => {
    await expect(
      fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          chances,
          async (s, chance) => (await played(s, chance, racy)).runs <= 1,
        ),
      ),
    ).rejects.toThrow();
  });
});
