/** So many calls and no more: in all, per window, per tool, and counted by somebody else. */

import assert from 'node:assert/strict';
import { composeToolCallers } from 'allium';
import { echoExecutor, makeCall, testClock } from 'allium/conformance';
import { idempotency, rateLimit } from 'allium/middleware';
import { flexibleCounter, type FlexibleLimiter, memoryCounters } from 'allium/stores';

const clock = testClock();
const search = makeCall({ toolName: 'search', toolArgs: { query: 'onions' } });

// #region window
const limited = composeToolCallers([rateLimit({ maxCalls: 2, windowMs: 1_000, per: 'tool' })], {
  clock,
});
const engine = echoExecutor();
await limited(search, engine);
await limited(search, engine);
const refused = await limited(search, engine);

assert.equal(refused.status, 'rate_limited');
assert.equal(refused.executed, 'no');
assert.deepEqual(refused.metadata, { retryAfterMs: 500 });
assert.equal(
  refused.error,
  'rate limit exceeded (cap: 2, count: 2). Wait 500 ms before calling search again.',
);

await clock.advance(500);
assert.equal((await limited(search, engine)).status, 'ok');
// #endregion window

// #region total
const capped = composeToolCallers([rateLimit({ maxCalls: 100 })], { clock });
const tool = echoExecutor();
const all = await Promise.all(Array.from({ length: 1_000 }, () => capped(search, tool)));

assert.equal(all.filter(({ ok }) => ok).length, 100);
assert.equal(tool.calls.length, 100);
// #endregion total

// #region per
const byUser = rateLimit({
  maxCalls: 1,
  windowMs: 60_000,
  per: (call) => JSON.stringify(call.toolArgs.user),
  store: memoryCounters(),
});
const perUser = composeToolCallers([byUser], { clock });
const ask = (user: string) => perUser(makeCall({ toolArgs: { user } }), echoExecutor());

assert.deepEqual(
  [(await ask('ada')).ok, (await ask('ada')).ok, (await ask('eve')).ok],
  [true, false, true],
);
// #endregion per

// #region cached
const cheap = composeToolCallers([idempotency(), rateLimit({ maxCalls: 1 })], { clock });
await cheap(search, echoExecutor());

assert.equal((await cheap(search, echoExecutor())).status, 'ok');
// #endregion cached

/**
 * Stands for a limiter of rate-limiter-flexible, such as `new RateLimiterRedis({ storeClient,
 * points: 5, duration: 60 })`.
 */
function fiveAMinute(): FlexibleLimiter {
  let used = 0;
  return {
    points: 5,
    duration: 60,
    consume() {
      used += 1;
      const figures = { msBeforeNext: 60_000, consumedPoints: used };
      return used > 5 ? Promise.reject(figures) : Promise.resolve(figures);
    },
  };
}

// #region flexible
const store = flexibleCounter(fiveAMinute());
const counted = composeToolCallers([rateLimit({ maxCalls: 5, windowMs: 60_000, store })], {
  clock,
});
const statuses: string[] = [];
for (let call = 0; call < 6; call += 1)
  statuses.push((await counted(search, echoExecutor())).status);

assert.deepEqual(statuses, ['ok', 'ok', 'ok', 'ok', 'ok', 'rate_limited']);
// #endregion flexible

console.log(JSON.stringify(refused.audit?.layers));
