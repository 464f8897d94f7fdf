/**
 * A call that waits: kept in a file, decided about elsewhere, and taken up once, by whoever comes
 * first.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, governTools, isAlliumError } from 'allium';
import { consent } from 'allium/middleware';
import { answerApproval, approvalState, fileApprovals, memoryApprovals } from 'allium/policy';

const folder = mkdtempSync(join(tmpdir(), 'allium-example-'));
const paid: unknown[] = [];
const pay = defineTool({
  name: 'pay',
  description: 'Pays somebody.',
  inputSchema: {
    type: 'object',
    properties: { to: { type: 'string' }, amount: { type: 'integer' } },
    required: ['to', 'amount'],
  },
  execute: (args) => {
    paid.push(args);
    return { paid: true };
  },
});
const request = { name: 'pay', arguments: { to: 'bob', amount: 500 } };
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: unknown) => (isAlliumError(error) ? error.code : 'other'),
  );

// #region use
const approvals = fileApprovals({ dir: join(folder, 'approvals') });
const host = () => governTools({ tools: [pay], layers: [consent({ default: 'ask' })], approvals });

const waiting = await host().call(request);
const id = waiting.interruption?.id ?? '';
assert.deepEqual([waiting.status, waiting.executed], ['approval_required', 'no']);

// A person decides, in another process or in a week.
await answerApproval(approvals, id, { decision: 'allow_once', decidedBy: 'ada', reason: 'rent' });

// A host resumes the call. It may be another one, after a restart.
const done = await host().resume(id);
assert.deepEqual(
  [done.status, done.toolCallId, done.approval?.decidedBy],
  ['ok', waiting.toolCallId, 'ada'],
);
assert.equal(await codeOf(host().resume(id)), 'ERR_APPROVAL_RESOLVED');
assert.equal(paid.length, 1);
// #endregion use

// #region decide
const governed = governTools({
  tools: [pay],
  layers: [consent({ default: 'ask' })],
  approvals: memoryApprovals(),
});
const ask = async () => (await governed.call(request)).interruption?.id ?? '';

const edited = await governed.resume(await ask(), {
  decision: 'allow_once',
  decidedBy: 'ada',
  args: { to: 'bob', amount: 50 },
});
const byHand = await governed.resume(await ask(), {
  decision: 'allow_once',
  decidedBy: 'ada',
  result: { paid: 'in cash' },
});
const denied = await governed.resume(await ask(), {
  decision: 'reject_once',
  decidedBy: 'ada',
  reason: 'too much',
});

assert.deepEqual(edited.arguments, { to: 'bob', amount: 50 });
assert.deepEqual([byHand.executed, byHand.result], ['no', { paid: 'in cash' }]);
assert.equal(denied.error, 'pay was not approved: too much. Do not repeat the call unchanged.');
// #endregion decide

// #region changed
const open = await host().call(request);
const changed = governTools({
  tools: [{ ...pay, description: 'Pays somebody, twice.' }],
  layers: [consent({ default: 'ask' })],
  approvals,
});
const stale = await changed.resume(open.interruption?.id ?? '', {
  decision: 'allow_once',
  decidedBy: 'ada',
});

assert.deepEqual([stale.status, stale.executed], ['definition_changed', 'no']);
// #endregion changed

const kept = await approvals.list({ ended: true });
assert.deepEqual(
  kept.map((approval) => [
    approvalState(approval, Date.now()),
    approval.arguments,
    approval.ended?.status,
  ]),
  [
    ['ended', null, 'ok'],
    ['ended', null, 'definition_changed'],
  ],
);
assert.equal(paid.length, 2);
console.log(
  JSON.stringify(done.audit?.approval)
    .replace(id, 'approval_…')
    .replace(/sha256:\w+/, 'sha256:…')
    .replace(/"20[^"]+"/, '"2026-…"'),
);
rmSync(folder, { recursive: true });
