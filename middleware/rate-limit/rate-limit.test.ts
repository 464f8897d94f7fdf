import { RateLimiterMemory } from 'rate-limiter-flexible';
import { describe, expect, it } from 'vitest';
import {
  echoExecutor,
  makeCall,
  type PartialCall,
  settle,
  testClock,
} from '../../conformance/index.ts';
import {
  causeOf,
  composeToolCallers,
  defineLayer,
  type Next,
  ok,
  refuse,
  type ToolLayer,
  type ToolResult,
} from '../../src/index.ts';
import { type CounterStore, flexibleCounter, memoryCounters } from '../../src/stores/index.ts';
import { dryRun } from '../dry-run/dry-run.ts';
import { idempotency } from '../idempotency/idempotency.ts';
import { timeout } from '../timeout/timeout.ts';
import { type RateLimitOptions, rateLimit } from './rate-limit.ts';

function start(
  options: RateLimitOptions,
  inner: readonly ToolLayer[] = [],
  outer: readonly ToolLayer[] = [],
) {
  const clock = testClock();
  const executor = echoExecutor();
  const stack = composeToolCallers([...outer, rateLimit(options), ...inner], { clock });
  let calls = 0;
  const call = (partial: PartialCall = {}, next: Next = executor) =>
    stack(makeCall({ callId: `call-${(calls += 1)}`, ...partial }), next);
  return { clock, call, runs: () => executor.calls.length };
}

const lineOf = (result: ToolResult) =>
  result.audit?.layers.find(({ name }) => name === 'rateLimit');
const gate = (name: string, caller: ToolLayer['caller']) => defineLayer({ name, caller });

/** How many of 10 000 calls at once a layer admits. */
async function admittedOf(layer: ToolLayer): Promise<number> {
  const stack = composeToolCallers([layer]);
  let runs = 0;
  await Promise.all(
    Array.from({ length: 10_000 }, () => stack(makeCall(), async (call) => ok(call, (runs += 1)))),
  );
  return runs;
}

/** Looks at the count, asks its store, then counts: the limiter that everybody writes first. */
function naiveLimit(max: number): ToolLayer {
  let count = 0;
  return gate('naive', async (call, next) => {
    const before = count;
    await settle();
    if (before >= max) return refuse(call, 'rate_limited', 'no');
    count = before + 1;
    return next(call);
  });
}

describe('rateLimit', () => {
  it('lets so many calls through, and counts them on its line', async () => {
    const { call, runs } = start({ maxCalls: 2 });
    const lines = [lineOf(await call()), lineOf(await call())];

    expect(lines).toMatchObject([
      { status: 'ok', count: 1, cap: 2 },
      { status: 'ok', count: 2, cap: 2 },
    ]);
    expect(runs()).toBe(2);
  });

  it('turns the next one away for good where there is no window', async () => {
    const { call, clock, runs } = start({ maxCalls: 1 });
    await call();
    await clock.advance(1e12);
    const refused = await call();

    expect(refused).toMatchObject({
      ok: false,
      status: 'rate_limited',
      errorCategory: 'rate_limited',
      executed: 'no',
      errorClass: 'fatal',
    });
    expect(refused.error).toBe('rate limit exceeded (cap: 1, count: 1). Do not call echo again.');
    expect(refused.metadata).toBeUndefined();
    expect(lineOf(refused)).toMatchObject({ status: 'blocked', count: 1, cap: 1 });
    expect(runs()).toBe(1);
  });

  it('maxCalls 0 admits nothing', async () => {
    const { call, runs } = start({ maxCalls: 0, windowMs: 1000 });

    expect(await call()).toMatchObject({ status: 'rate_limited', errorClass: 'fatal' });
    expect(runs()).toBe(0);
  });

  it('windowMs lets calls in again, and says when', async () => {
    const { call, clock, runs } = start({ maxCalls: 2, windowMs: 1000 });
    await call();
    await call();
    const refused = await call();

    expect(refused).toMatchObject({
      status: 'rate_limited',
      errorClass: 'retryable',
      metadata: { retryAfterMs: 500 },
    });
    expect(refused.error).toBe(
      'rate limit exceeded (cap: 2, count: 2). Wait 500 ms before calling echo again.',
    );
    await clock.advance(499);
    expect(await call()).toMatchObject({ status: 'rate_limited', metadata: { retryAfterMs: 1 } });
    await clock.advance(1);
    expect(await call()).toMatchObject({ status: 'ok' });
    expect(runs()).toBe(3);
  });

  it('takes nothing for a call it turns away', async () => {
    const { call, clock } = start({ maxCalls: 1, windowMs: 100 });
    await call();
    for (let tries = 0; tries < 50; tries += 1) await call();
    await clock.advance(100);

    expect(await call()).toMatchObject({ status: 'ok' });
  });

  it.each<[string, RateLimitOptions['per'], PartialCall, boolean]>([
    [
      'nothing counts all calls together',
      undefined,
      { toolName: 'other', turn: { sessionId: 'other' } },
      false,
    ],
    ["'tool' counts each tool", 'tool', { toolName: 'other' }, true],
    ["'tool' counts sessions together", 'tool', { turn: { sessionId: 'other' } }, false],
    ["'session' counts each session", 'session', { turn: { sessionId: 'other' } }, true],
    ["'session' counts tools together", 'session', { toolName: 'other' }, false],
    [
      'a function counts what it names',
      (call) => JSON.stringify(call.toolArgs.user),
      { toolArgs: { user: 'eve' } },
      true,
    ],
    [
      'a function may take its time',
      (call) => Promise.resolve(call.toolName),
      { toolArgs: { user: 'eve' } },
      false,
    ],
  ])('per: %s', async (_name, per, second, admitted) => {
    const { call } = start({ maxCalls: 1, ...(per === undefined ? {} : { per }) });
    await call({ toolArgs: { user: 'ada' } });

    expect((await call(second)).ok).toBe(admitted);
  });

  it.each<[string, () => unknown]>([
    ['nothing', () => undefined],
    ['an empty string', () => ''],
    ['a number', () => 7],
    ['a promise of nothing', () => Promise.resolve(null)],
    ['an exception', () => JSON.parse('{') as unknown],
    ['a rejection', () => Promise.reject(new Error('pin 7391'))],
  ])('per: %s turns the call away', async (_name, per) => {
    const { call, runs } = start({ maxCalls: 5, per: per as never });
    const result = await call();

    expect(result).toMatchObject({
      ok: false,
      status: 'tool_middleware_exception',
      executed: 'no',
    });
    expect(lineOf(result)).toMatchObject({ status: 'failed' });
    expect(JSON.stringify([result.error, result.audit])).not.toContain('7391');
    expect(causeOf(result)).toBeInstanceOf(Error);
    expect(runs()).toBe(0);
  });

  it.each([undefined, () => 'ada'])(
    'store may be shared, and limits of another size have their own counts',
    async (per) => {
      const store = memoryCounters();
      const limit = (maxCalls: number) =>
        start({ maxCalls, store, ...(per === undefined ? {} : { per }) });
      const [first, same, other] = [limit(1), limit(1), limit(2)];
      await first.call();

      expect(await same.call()).toMatchObject({ status: 'rate_limited' });
      expect([(await other.call()).ok, (await other.call()).ok, (await other.call()).ok]).toEqual([
        true,
        true,
        false,
      ]);
    },
  );

  it('store may be a limiter of rate-limiter-flexible', async () => {
    const store = flexibleCounter(new RateLimiterMemory({ points: 2, duration: 60 }));
    const { call, runs } = start({ maxCalls: 2, windowMs: 60_000, per: 'tool', store });
    await call();
    await call();

    expect(await call()).toMatchObject({
      status: 'rate_limited',
      metadata: { retryAfterMs: expect.any(Number) as number },
    });
    expect(runs()).toBe(2);
  });

  it.each<[string, CounterStore['take']]>([
    ['fails', () => Promise.reject(new Error('down'))],
    ['throws', () => JSON.parse('{') as never],
    ['says nothing', () => undefined as never],
    ['says something else', () => ({ admitted: 'yes', count: 1, retryAfterMs: null }) as never],
    ['does not count', () => ({ admitted: true, retryAfterMs: null }) as never],
    [
      'cannot say when to come again',
      () => ({ admitted: true, count: 1, retryAfterMs: 'soon' }) as never,
    ],
  ])('store that %s turns the call away', async (_name, take) => {
    const { call, runs } = start({ maxCalls: 5, store: { take } });

    expect(await call()).toMatchObject({
      ok: false,
      status: 'tool_middleware_exception',
      executed: 'no',
    });
    expect(runs()).toBe(0);
  });

  it('message begins the error', async () => {
    expect((await start({ maxCalls: 0, message: 'Enough' }).call()).error).toBe(
      'Enough (cap: 0, count: 0). Do not call echo again.',
    );
  });

  it('takes nothing when a call that was admitted comes again after an interruption', async () => {
    let isApproved = false;
    const ask = gate('ask', (call, next) =>
      isApproved ? next(call) : refuse(call, 'approval_required', 'ask'),
    );
    const { call, runs } = start({ maxCalls: 1 }, [ask]);
    await call({ callId: 'a' });
    isApproved = true;
    const resumed = await call({ callId: 'a', turn: { resumes: 1 } });

    expect(resumed).toMatchObject({ status: 'ok', executed: 'yes' });
    expect(lineOf(resumed)).toMatchObject({ status: 'ok', resumed: true, cap: 1 });
    expect(await call({ callId: 'b' })).toMatchObject({ status: 'rate_limited' });
    expect(runs()).toBe(1);
  });

  it('counts a resumed call that was interrupted before it came this far', async () => {
    const { call } = start({ maxCalls: 1 });

    expect(lineOf(await call({ callId: 'a', turn: { resumes: 1 } }))).toMatchObject({ count: 1 });
    expect(await call({ callId: 'b', turn: { resumes: 1 } })).toMatchObject({
      status: 'rate_limited',
    });
    expect(await call({ callId: 'a', turn: { resumes: 1, sessionId: 'other' } })).toMatchObject({
      status: 'rate_limited',
    });
    expect(await call({ callId: 'a' })).toMatchObject({ status: 'rate_limited' });
  });

  it.each<[string, ToolLayer[], ToolLayer[], number]>([
    ['denied inside', [gate('no', (call) => refuse(call, 'policy_blocked', 'no'))], [], 0],
    ['previewed inside', [dryRun()], [], 0],
    ['that failed', [gate('breaks', () => Promise.reject(new Error('x')))], [], 0],
    ['denied outside', [], [gate('no', (call) => refuse(call, 'policy_blocked', 'no'))], 1],
    ['previewed outside', [], [dryRun()], 1],
  ])(
    'after one call %s has as many left of one as the table says',
    async (_name, inner, outer, left) => {
      const store = memoryCounters();
      await start({ maxCalls: 1, store }, inner, outer).call();

      expect((await start({ maxCalls: 1, store }).call()).ok).toBe(left === 1);
    },
  );

  it('does not count an answer that is given again outside, and counts one that timed out', async () => {
    const cached = start({ maxCalls: 1 }, [], [idempotency()]);
    await cached.call();
    expect(await cached.call()).toMatchObject({ status: 'ok', executed: 'no' });

    const slow = start({ maxCalls: 1 }, [timeout({ maxMs: 5, graceMs: 0 })]);
    const late = slow.call({}, () => new Promise(() => {}));
    await slow.clock.advance(5);
    expect((await late).status).toBe('timeout');
    expect(await slow.call()).toMatchObject({ status: 'rate_limited' });
  });

  it('admits exactly 100 of 10 000 calls at once', async () => {
    expect(await admittedOf(rateLimit({ maxCalls: 100 }))).toBe(100);
    expect(
      await admittedOf(
        rateLimit({ maxCalls: 100, windowMs: 3_600_000, per: async () => 'slow name' }),
      ),
    ).toBe(100);
  });

  it('is not what a limiter that looks and then counts does', async () => {
    expect(await admittedOf(naiveLimit(100))).toBe(10_000);
  });

  it.each([
    ['__proto__', '__proto__', 'constructor'],
    ['half a character', '\ud800', '\ud801'],
    ['a megabyte', 'x'.repeat(1_000_000), `${'x'.repeat(999_999)}y`],
  ])('keeps names apart, whatever they are: %s', async (_name, one, two) => {
    const { call } = start({ maxCalls: 1, per: (given) => JSON.stringify(given.toolArgs.who) });
    const seen = [
      await call({ toolArgs: { who: one } }),
      await call({ toolArgs: { who: two } }),
      await call({ toolArgs: { who: one } }),
    ];

    expect(seen.map((result) => result.ok)).toEqual([true, true, false]);
  });

  it('should stand inside idempotency', () => {
    expect(rateLimit({ maxCalls: 1 }).order).toMatchObject([
      { insideOf: 'idempotency', level: 'should' },
    ]);
  });

  it.each([
    [undefined],
    [{}],
    [{ maxCalls: 1.5 }],
    [{ maxCalls: 1, windowMs: -1 }],
    [{ maxCalls: 2 ** 30, windowMs: 2 ** 30 }],
    [{ maxCalls: 1, per: 'user' }],
    [{ maxCalls: 1, store: { get: () => 1 } }],
    [{ max: 1 }],
  ])('refuses %j', (options) => {
    expect(() => rateLimit(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
