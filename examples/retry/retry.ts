/**
 * Trying again: what may be repeated is, and a write that may have happened is not. Nothing here
 * waits.
 */

import assert from 'node:assert/strict';
import { composeToolCallers, fail, type Next, ok, refuse } from 'allium';
import { makeCall, testClock } from 'allium/conformance';
import { pause } from 'allium/layer';
import { retry, timeout } from 'allium/middleware';

const clock = testClock();

// #region use
const steady = composeToolCallers([retry({ maxAttempts: 3, backoffMs: 200, jitter: false })], {
  clock,
});

let failures = 2;
const unsteady: Next = async (call) => {
  failures -= 1;
  if (failures >= 0)
    return fail(call, 'executor_error', null, 'The connection was lost.', {
      errorClass: 'retryable',
      executed: 'unknown',
    });
  return ok(call, { temperature: 21 });
};

const reading = steady(
  makeCall({ toolName: 'read_sensor', annotations: { readOnly: true } }),
  unsteady,
);
await clock.advance(600);
const read = await reading;

assert.equal(read.status, 'ok');
assert.deepEqual(read.result, { temperature: 21 });
assert.equal(clock.pending, 0);
// #endregion use

// #region write
const sent: string[] = [];
const loses: Next = async (call) => {
  sent.push(call.toolName);
  return fail(call, 'executor_error', null, 'Timed out, please try again.', {
    errorClass: 'retryable',
    executed: 'unknown',
  });
};
const write = await steady(makeCall({ toolName: 'send_mail' }), loses);

assert.equal(sent.length, 1);
assert.equal(write.errorClass, 'fatal');
assert.equal(
  write.error,
  'send_mail may have run and ended with executor_error. It is not safe to repeat: check what it did before you call it again.',
);
// #endregion write

// #region asked
let times = 0;
const busy: Next = async (call) => {
  times += 1;
  return times === 1
    ? refuse(call, 'rate_limited', 'Come back later.', { retryAfterMs: 1_500 })
    : ok(call, 'done');
};
const asking = steady(makeCall({ annotations: { idempotent: true } }), busy);
await clock.advance(1_500);

assert.equal((await asking).status, 'ok');
// #endregion asked

// #region each
const each = composeToolCallers(
  [retry({ maxAttempts: 2, backoffMs: 0 }), timeout({ maxMs: 100, graceMs: 0 })],
  { clock },
);
const deaf: Next = () => new Promise(() => {});
const stuck = each(makeCall({ annotations: { readOnly: true } }), deaf);
await clock.advance(200);

assert.equal((await stuck).status, 'timeout');
// #endregion each

// #region pause
const waited = pause(makeCall({}, { clock }), 50);
await clock.advance(50);

assert.equal(await waited, true);
// #endregion pause

console.log(JSON.stringify(read.audit?.layers));
console.log(JSON.stringify(write.audit?.layers));
