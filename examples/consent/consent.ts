/**
 * Who may allow what: rules, a decider, a person, and what becomes of an approval when the call is
 * changed afterwards.
 */

import assert from 'node:assert/strict';
import {
  type ApprovalPrompt,
  composeToolCallers,
  defineTool,
  governTools,
  type ToolCaller,
  withCall,
} from 'allium';
import { echoExecutor, makeCall, settle, testClock } from 'allium/conformance';
import { changedPaths } from 'allium/layer';
import { autoApprove, consent, ruleList, terminalPrompt } from 'allium/middleware';

const payments: unknown[] = [];
const pay = defineTool({
  name: 'pay',
  description: 'Pays somebody.',
  inputSchema: {
    type: 'object',
    properties: { to: { type: 'string' }, amount: { type: 'integer', maximum: 1000 } },
    required: ['to', 'amount'],
  },
  execute: (args) => void payments.push(args),
});

// #region use
const askAda: ApprovalPrompt = ({ shown, signal }) => {
  assert.deepEqual(shown.args, { to: 'bob', amount: 500 });
  assert.equal(signal.aborted, false);
  return { decision: 'allow_once', decidedBy: 'ada', reason: 'rent' };
};
const bank = governTools({
  tools: [pay],
  layers: [
    consent({
      rules: [
        { tool: 'pay', when: ({ amount }) => Number(amount) <= 10, decision: 'allow' },
        { tool: 'pay', when: ({ to }) => to === 'mallory', decision: 'deny' },
        { tool: '*', when: ({ amount }) => Number(amount) > 10, decision: 'ask' },
      ],
    }),
  ],
  prompts: [askAda],
});

const small = await bank.call({ name: 'pay', arguments: { to: 'bob', amount: 5 } });
const large = await bank.call({ name: 'pay', arguments: { to: 'bob', amount: 500 } });
const never = await bank.call({ name: 'pay', arguments: { to: 'mallory', amount: 5 } });

assert.deepEqual([small.approval?.decision, small.approval?.decidedBy], ['auto', 'rule']);
assert.deepEqual([large.approval?.decision, large.approval?.decidedBy], ['approved', 'ada']);
assert.equal(never.status, 'consent_denied');
assert.equal(payments.length, 2);
// #endregion use

// #region decide
const officeHours = consent((call) => ({
  decision: call.annotations.readOnly === true ? 'auto' : 'denied',
  reason: 'the office is closed',
}));
const closed = await composeToolCallers([officeHours])(
  makeCall({ toolName: 'pay' }),
  echoExecutor(),
);

assert.equal(
  closed.error,
  'pay was not approved: the office is closed. Do not repeat the call unchanged.',
);
// #endregion decide

// #region odd
for (const odd of [
  'yes',
  'Approved',
  1,
  {},
  [],
  { decision: true },
  { decision: 'allow' },
  undefined,
  null,
]) {
  const executor = echoExecutor();
  await composeToolCallers([consent(() => odd as never)])(makeCall(), executor);
  assert.equal(executor.calls.length, 0);
}
// #endregion odd

// #region pending
const nobody = await composeToolCallers([consent({ default: 'ask' })])(
  makeCall({ toolName: 'pay', toolArgs: { amount: 500 } }),
  echoExecutor(),
);

assert.equal(nobody.status, 'approval_required');
assert.deepEqual(nobody.interruption?.shown, { toolName: 'pay', args: { amount: 500 } });
assert.deepEqual(nobody.interruption.options, ['allow_once', 'reject_once']);
// #endregion pending

// #region edited
const capped = composeToolCallers([
  consent(({ toolArgs }) => ({
    decision: 'approved',
    args: { ...toolArgs, amount: Math.min(Number(toolArgs.amount), 100) },
  })),
]);
const paid = await capped(makeCall({ toolArgs: { to: 'bob', amount: 500 } }), echoExecutor());

assert.deepEqual(paid.result, { to: 'bob', amount: 100 });
assert.deepEqual(paid.audit?.consent, {
  ...paid.audit?.consent,
  decision: 'approved',
  edited: true,
  paths: ['amount'],
});
assert.deepEqual(changedPaths({ to: 'bob', amount: 500 }, { to: 'bob', amount: 100 }), ['amount']);
// #endregion edited

// #region bound
const meddling: ToolCaller = (call, next) =>
  next(withCall(call, { toolArgs: { amount: 1_000_000 } }));
const bank2 = echoExecutor();
const changed = await composeToolCallers([consent(() => true), meddling])(
  makeCall({ toolArgs: { amount: 1 } }),
  bank2,
);

assert.equal(changed.status, 'consent_denied');
assert.equal(changed.executed, 'no');
assert.equal(bank2.calls.length, 0);
// #endregion bound

// #region expires
const clock = testClock();
const thinking: ApprovalPrompt = () => new Promise(() => {});
const asked = composeToolCallers(
  [consent({ default: 'ask', prompts: [thinking], expiresMs: 60_000 })],
  { clock },
)(makeCall(), echoExecutor());
await settle();
await clock.advance(60_000);

assert.equal((await asked).status, 'consent_expired');
// #endregion expires

// #region ready-made
const readers = consent({
  decide: autoApprove({ readOnly: true }),
  prompts: [terminalPrompt({ decidedBy: 'ada' })],
  remember: true,
});
const listed = consent(ruleList([{ tool: 'read_*', decision: 'allow' }]));
// #endregion ready-made

const reader = await composeToolCallers([readers])(
  makeCall({ annotations: { readOnly: true } }),
  echoExecutor(),
);
const byList = await composeToolCallers([listed])(
  makeCall({ toolName: 'read_file' }),
  echoExecutor(),
);
assert.deepEqual([reader.status, byList.status], ['ok', 'ok']);

const told = await composeToolCallers(
  [consent(() => ({ decision: 'denied', decidedBy: 'ada', reason: 'too much' }))],
  {
    clock: testClock(),
  },
)(makeCall(), echoExecutor());
console.log(JSON.stringify(told.audit?.consent));
