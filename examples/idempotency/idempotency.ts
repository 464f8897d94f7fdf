/** Reads that are not read twice, and payments that are not paid twice: also not after a crash. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { composeToolCallers, type Next, ok } from 'allium';
import { echoExecutor, makeCall, testClock } from 'allium/conformance';
import { idempotency, timeout } from 'allium/middleware';
import { fileClaims, memoryClaims } from 'allium/stores';

const clock = testClock();

// #region cache
const cached = composeToolCallers([idempotency({ ttlMs: 60_000 })], { clock });
const files = echoExecutor();
const read = await cached(makeCall({ toolName: 'read_file', toolArgs: { path: 'a.txt' } }), files);
const readAgain = await cached(
  makeCall({ toolName: 'read_file', toolArgs: { path: 'a.txt' }, callId: 'call-2' }),
  files,
);

assert.deepEqual(readAgain.result, read.result);
assert.equal(readAgain.toolCallId, 'call-2');
assert.equal(readAgain.executed, 'no');
assert.equal(files.calls.length, 1);
// #endregion cache

// #region effect
const pay = (order: string, amount: number) =>
  makeCall({ toolName: 'pay', toolArgs: { order, amount } });
const once = composeToolCallers(
  [idempotency({ mode: 'effect', key: (call) => JSON.stringify(call.toolArgs.order) })],
  { clock },
);
const bank = echoExecutor();

const together = await Promise.all([
  once(pay('o-1', 5), bank),
  once(pay('o-1', 5), bank),
  once(pay('o-1', 5), bank),
]);
const changed = await once(pay('o-1', 6), bank);

assert.deepEqual(
  together.map(({ status }) => status),
  ['ok', 'ok', 'ok'],
);
assert.equal(changed.status, 'idempotency_conflict');
assert.equal(bank.calls.length, 1);
// #endregion effect

// #region unknown
const late = composeToolCallers(
  [idempotency({ mode: 'effect' }), timeout({ maxMs: 100, graceMs: 0 })],
  { clock },
);
const silent: Next = () => new Promise(() => {});

const first = late(pay('o-2', 5), silent);
await clock.advance(100);
const second = await late(pay('o-2', 5), bank);

assert.equal((await first).status, 'timeout');
assert.equal(second.status, 'outcome_unknown');
assert.equal(bank.calls.length, 1);
// #endregion unknown

const dir = join(mkdtempSync(join(tmpdir(), 'allium-example-')), 'claims');
try {
  // #region file-claims
  const before = composeToolCallers([idempotency({ mode: 'effect', store: fileClaims({ dir }) })]);
  await before(pay('o-3', 5), bank);

  // Another process, or this one after a restart.
  const after = composeToolCallers([idempotency({ mode: 'effect', store: fileClaims({ dir }) })]);
  const repeated = await after(pay('o-3', 5), bank);

  assert.equal(repeated.status, 'ok');
  assert.equal(repeated.executed, 'no');
  assert.equal(bank.calls.length, 2);
  // #endregion file-claims

  assert.equal(await fileClaims({ dir }).sweep(), 0);
} finally {
  rmSync(join(dir, '..'), { recursive: true, force: true });
}

// #region claim-store
const claims = memoryClaims({ maxEntries: 1_000, clock });
const owner = { fingerprint: 'pay o-4', leaseMs: 30_000, token: 'process-1' };

assert.deepEqual(await claims.claim('o-4', owner), { won: true });
assert.equal((await claims.claim('o-4', { ...owner, token: 'process-2' })).won, false);
assert.equal(
  await claims.complete('o-4', 'process-2', { state: 'done', answer: { paid: true } }),
  false,
);
assert.equal(
  await claims.complete('o-4', 'process-1', { state: 'done', answer: { paid: true } }),
  true,
);
assert.equal((await claims.get('o-4'))?.state, 'done');
// #endregion claim-store

const shared = await cached(makeCall({ toolName: 'now' }), async (call) => ok(call, 'noon'));
assert.equal(shared.executed, 'yes');

console.log(JSON.stringify(readAgain.audit?.layers));
console.log(JSON.stringify([second.status, second.error]));
