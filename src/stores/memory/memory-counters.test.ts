import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CounterStore, Taken } from '../counter-store.ts';
import { memoryCounters } from './memory-counters.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

/** The memory store answers at once. */
const take = (
  store: CounterStore,
  key: string,
  max: number,
  windowMs: number | null,
  now: number,
) => store.take(key, { max, windowMs, now }) as Taken;

/**
 * Exact arithmetic on whole numbers, one millisecond after the other: what the algorithm shortens.
 */
function oracle(max: number, windowMs: number): (now: number) => boolean {
  let used = 0n;
  let at = 0;
  return (now) => {
    for (; at < now; at += 1) used = used > BigInt(max) ? used - BigInt(max) : 0n;
    if (used + BigInt(windowMs) > BigInt(windowMs) * BigInt(max)) return false;
    used += BigInt(windowMs);
    return true;
  };
}

const traces = fc.record({
  max: fc.integer({ min: 1, max: 12 }),
  windowMs: fc.integer({ min: 1, max: 300 }),
  gaps: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 80 })), { maxLength: 120 }),
});

const arrivals = (gaps: readonly number[]) =>
  gaps.reduce<number[]>((times, gap) => [...times, (times.at(-1) ?? 0) + gap], []);

describe('memoryCounters', () => {
  it('counts to the maximum and no further where there is no window', () => {
    const store = memoryCounters();
    const taken = [0, 1, 1e12].map((now) => take(store, 'k', 2, null, now));

    expect(taken).toEqual([
      { admitted: true, count: 1, retryAfterMs: null },
      { admitted: true, count: 2, retryAfterMs: null },
      { admitted: false, count: 2, retryAfterMs: null },
    ]);
  });

  it('admits a burst at once, then one call per share of the window', () => {
    const store = memoryCounters();
    const burst = Array.from({ length: 5 }, () => take(store, 'k', 4, 1000, 0).admitted);

    expect(burst).toEqual([true, true, true, true, false]);
    expect(take(store, 'k', 4, 1000, 249)).toEqual({ admitted: false, count: 4, retryAfterMs: 1 });
    expect(take(store, 'k', 4, 1000, 250)).toEqual({
      admitted: true,
      count: 4,
      retryAfterMs: null,
    });
    expect(take(store, 'k', 4, 1000, 250)).toEqual({
      admitted: false,
      count: 4,
      retryAfterMs: 250,
    });
  });

  it.each([3, 7, 9, 49])(
    'admits a whole burst of %i although the window cannot be divided by it',
    (max) => {
      const store = memoryCounters();
      const burst = Array.from(
        { length: max + 1 },
        () => take(store, 'k', max, 1000, 0.1).admitted,
      );

      expect(burst.filter(Boolean)).toHaveLength(max);
    },
  );

  it('decides like the oracle on random arrivals', () => {
    fc.assert(
      fc.property(traces, ({ max, windowMs, gaps }) => {
        const store = memoryCounters();
        const expected = oracle(max, windowMs);
        for (const now of arrivals(gaps))
          expect(take(store, 'k', max, windowMs, now).admitted).toBe(expected(now));
      }),
      { numRuns: howMany(125, 500) },
    );
  });

  it('counts in whole milliseconds, so that no fraction adds up', () => {
    fc.assert(
      fc.property(traces, ({ max, windowMs, gaps }) => {
        const store = memoryCounters();
        const expected = oracle(max, windowMs);
        for (const now of arrivals(gaps).map((time) => time / 7)) {
          expect(take(store, 'k', max, windowMs, now).admitted).toBe(expected(Math.floor(now)));
        }
      }),
      { numRuns: howMany(100, 300) },
    );
  });

  it('never admits more than a burst and the rate in any span of time', () => {
    fc.assert(
      fc.property(traces, ({ max, windowMs, gaps }) => {
        const store = memoryCounters();
        const admitted = arrivals(gaps).filter(
          (now) => take(store, 'k', max, windowMs, now).admitted,
        );
        for (const [first, from] of admitted.entries()) {
          for (const [last, to] of admitted.entries()) {
            if (last >= first)
              expect(last - first + 1).toBeLessThanOrEqual(max + ((to - from) * max) / windowMs);
          }
        }
      }),
      { numRuns: howMany(100, 200) },
    );
  });

  it('says how long to wait, to the millisecond', () => {
    fc.assert(
      fc.property(traces, ({ max, windowMs, gaps }) => {
        const store = memoryCounters();
        for (const now of arrivals(gaps)) {
          const { retryAfterMs } = take(store, 'k', max, windowMs, now);
          if (retryAfterMs === null) continue;
          expect(take(store, 'k', max, windowMs, now + retryAfterMs - 1).admitted).toBe(false);
          expect(take(store, 'k', max, windowMs, now + retryAfterMs).admitted).toBe(true);
          return;
        }
      }),
    );
  });

  it('counts keys apart, whatever they are called', () => {
    const store = memoryCounters();
    const keys = ['a', '__proto__', 'constructor', '\ud800', ''];

    expect(keys.map((key) => take(store, key, 1, null, 0).admitted)).toEqual(keys.map(() => true));
    expect(keys.map((key) => take(store, key, 1, null, 0).admitted)).toEqual(keys.map(() => false));
  });

  it('gives nothing back when time runs backwards', () => {
    const store = memoryCounters();
    take(store, 'k', 1, 100, 1000);

    expect(take(store, 'k', 1, 100, -1e9)).toMatchObject({ admitted: false, retryAfterMs: 100 });
    expect(take(store, 'k', 1, 100, 1099)).toMatchObject({ admitted: false, retryAfterMs: 1 });
    expect(take(store, 'k', 1, 100, 1100)).toMatchObject({ admitted: true });
  });

  it('admits nothing where nothing is allowed', () => {
    expect(take(memoryCounters(), 'k', 0, 1000, 0)).toEqual({
      admitted: false,
      count: 0,
      retryAfterMs: null,
    });
    expect(take(memoryCounters(), 'k', 0, null, 0)).toEqual({
      admitted: false,
      count: 0,
      retryAfterMs: null,
    });
  });

  it('maxKeys keeps a new key out until an old one is at rest', () => {
    const store = memoryCounters({ maxKeys: 2 });
    take(store, 'a', 2, 100, 0);
    take(store, 'b', 2, 100, 10);

    expect(take(store, 'c', 2, 100, 20)).toEqual({ admitted: false, count: 0, retryAfterMs: 30 });
    expect(take(store, 'b', 2, 100, 20).admitted).toBe(true);
    expect(take(store, 'c', 2, 100, 50).admitted).toBe(true);
    expect(take(store, 'a', 2, 100, 50).admitted).toBe(false);
  });

  it('maxKeys forgets the key that was used longest ago, not the one that came first', () => {
    const store = memoryCounters({ maxKeys: 2 });
    take(store, 'a', 2, 100, 0);
    take(store, 'b', 2, 100, 0);
    take(store, 'a', 2, 100, 60);

    expect(take(store, 'c', 2, 100, 61).admitted).toBe(true);
    expect(take(store, 'a', 2, 100, 61).count).toBe(2);
  });

  it('maxKeys never forgets a count that does not go down', () => {
    const store = memoryCounters({ maxKeys: 1 });
    take(store, 'a', 1, null, 0);

    expect(take(store, 'b', 1, null, 1e12)).toEqual({
      admitted: false,
      count: 0,
      retryAfterMs: null,
    });
    expect(take(store, 'a', 1, null, 1e12).admitted).toBe(false);
  });

  it('maxKeys does not forget the key that its owner still runs into', () => {
    const store = memoryCounters({ maxKeys: 2 });
    const takeAs = (key: string) =>
      store.take(key, { max: 1, windowMs: null, now: 0, owner: 'one' }).admitted;

    expect(['a', 'b', 'a', 'c', 'a'].map(takeAs)).toEqual([true, true, false, true, false]);
  });

  it('counts a key once, whether or not it is said whose it is', () => {
    const store = memoryCounters();
    const owners = [undefined, 'one', 'one', undefined, 'two'];
    const taken = owners.map((owner) =>
      store.take('k', {
        max: 4,
        windowMs: null,
        now: 0,
        ...(owner === undefined ? {} : { owner }),
      }),
    );

    expect(taken.map(({ count }) => count)).toEqual([1, 2, 3, 4, 4]);
    expect(taken.at(-1)).toMatchObject({ admitted: false });
  });

  it.each([[null], [{ maxKeys: 0 }], [{ maxKeys: 1.5 }], [{ keys: 5 }]])(
    'refuses %j',
    (options) => {
      expect(() => memoryCounters(options as never)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
      );
    },
  );
});
