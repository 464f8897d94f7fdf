import { RateLimiterMemory } from 'rate-limiter-flexible';
import { describe, expect, it } from 'vitest';
import { flexibleCounter, type FlexibleLimiter } from './counter-store.ts';

const ask = { max: 3, windowMs: 60_000, now: 0 };

describe('flexibleCounter', () => {
  it('admits what the limiter admits, and says when to come again', async () => {
    const store = flexibleCounter(new RateLimiterMemory({ points: 3, duration: 60 }));
    const taken = [
      await store.take('k', ask),
      await store.take('k', ask),
      await store.take('k', ask),
      await store.take('k', ask),
    ];

    expect(taken.map(({ admitted, count }) => [admitted, count])).toEqual([
      [true, 1],
      [true, 2],
      [true, 3],
      [false, 3],
    ]);
    expect(taken[3]?.retryAfterMs).toBeGreaterThan(0);
    expect(await store.take('other', ask)).toMatchObject({ admitted: true, count: 1 });
  });

  it('admits exactly as many as it may of 10 000 at once', async () => {
    const store = flexibleCounter(new RateLimiterMemory({ points: 100, duration: 60 }));
    const all = await Promise.all(
      Array.from({ length: 10_000 }, async () => store.take('k', { ...ask, max: 100 })),
    );

    expect(all.filter(({ admitted }) => admitted)).toHaveLength(100);
  });

  it('does not tell anybody to wait for a limit that never refills', async () => {
    const store = flexibleCounter(new RateLimiterMemory({ points: 1, duration: 0 }));
    const total = { max: 1, windowMs: null, now: 0 };
    await store.take('k', total);

    expect(await store.take('k', total)).toEqual({ admitted: false, count: 1, retryAfterMs: null });
  });

  it.each([
    ['other calls', { ...ask, max: 4 }],
    ['another window', { ...ask, windowMs: 1000 }],
    ['no window', { ...ask, windowMs: null }],
  ])('fails for a layer with %s than the limiter', async (_name, request) => {
    const store = flexibleCounter(new RateLimiterMemory({ points: 3, duration: 60 }));

    await expect(store.take('k', request)).rejects.toThrow('another limit');
  });

  it.each([
    ['an error', () => Promise.reject(new Error('down'))],
    [
      'an error that looks like a refusal',
      () =>
        Promise.reject(Object.assign(new Error('down'), { msBeforeNext: 1, consumedPoints: 1 })),
    ],
    ['something else', () => Promise.reject('no')],
    ['an answer without figures', () => Promise.resolve({})],
  ])('passes %s on as a failure', async (_name, consume: FlexibleLimiter['consume']) => {
    await expect(
      flexibleCounter({ points: 3, duration: 60, consume }).take('k', ask),
    ).rejects.toBeDefined();
  });

  it.each([[null], [{}], [{ consume: 1 }], [() => 1]])('refuses what is no limiter', (limiter) => {
    expect(() => flexibleCounter(limiter as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
