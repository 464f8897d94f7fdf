/**
 * A tool hands its work over: found in its result, checked, and cut down to what the call was
 * allowed.
 */

import assert from 'node:assert/strict';
import {
  composeToolCallers,
  defineLayer,
  defineTool,
  governTools,
  isAlliumError,
  ok,
  toWire,
} from 'allium';
import { makeCall, testClock } from 'allium/conformance';
import { HANDOFF_SCHEMA, handoffArtifact, type HandoffRecord } from 'allium/middleware';
import { narrowPolicy } from 'allium/policy';

const clock = testClock();
const createId = () => '1';

// #region use
const received: HandoffRecord[] = [];
const finishMerge = defineTool({
  name: 'finish_merge',
  description: 'Merges, and hands the change over for review.',
  inputSchema: { type: 'object', properties: {} },
  execute: () => ({
    merged: true,
    handoff: {
      target_persona_or_human: { kind: 'persona', id: 'review_captain' },
      task: 'Review the change before it is released',
      reason: 'Two tests were changed',
      open_questions: ['Is the second test still needed?', ' ', 'Is the second test still needed?'],
      confidence: 1.4,
    },
  }),
});
const governed = governTools({
  tools: [finishMerge],
  layers: [handoffArtifact({ source: 'merge_captain', sink: (record) => received.push(record) })],
  clock,
  createId,
});

const result = await governed.call({ name: 'finish_merge', arguments: {}, id: 'call-1' });
await governed.close();

assert.equal(result.audit?.kind, 'handoff');
assert.equal(received[0]?.sourcePersona, 'merge_captain');
assert.deepEqual(received[0].openQuestions, ['Is the second test still needed?']);
assert.equal(received[0].confidence, 1);
// #endregion use

// #region override
const readOnly = defineLayer({
  name: 'readOnly',
  caller: (call, next) =>
    next(
      narrowPolicy(
        call,
        { tools: ['echo', 'read_file'], sideEffectLevel: 'read_only' },
        'readOnly',
      ),
    ),
});
const greedy = {
  ...received[0],
  policyOverride: { tools: ['read_file', 'delete_file'], sideEffectLevel: 'network' },
};
const scoped = composeToolCallers([readOnly, handoffArtifact()], { clock, createId });
const asked = await scoped(makeCall({ annotations: { readOnly: true } }), async (call) =>
  ok(call, { handoff: greedy }),
);

assert.deepEqual(asked.audit?.handoff?.policyOverride, {
  tools: ['read_file'],
  sideEffectLevel: 'read_only',
});
// #endregion override

// #region strict
const strict = composeToolCallers([handoffArtifact({ strict: true })], { clock, createId });
const incomplete = await strict(makeCall(), async (call) =>
  ok(call, { handoff: { task: 'Go on' } }),
).catch((error: unknown) => error);

assert.ok(isAlliumError(incomplete, 'ERR_CALL_REFUSED'));
assert.equal(incomplete.result?.status, 'output_schema_violation');
assert.equal(incomplete.result.executed, 'yes');
// #endregion strict

// #region found
const withDetect = handoffArtifact({
  keys: ['transfer'],
  detect: (_call, { result: value }) => (value === 'escalate' ? greedy : null),
});
const found = composeToolCallers([withDetect], { clock, createId });
const byKey = await found(makeCall(), async (call) =>
  ok(call, JSON.stringify({ transfer: greedy })),
);
const byDetect = await found(makeCall(), async (call) => ok(call, 'escalate'));

assert.deepEqual(byKey.audit?.handoff, byDetect.audit?.handoff);
// #endregion found

assert.equal(HANDOFF_SCHEMA.type, 'object');
console.log(JSON.stringify(toWire({ handoff: result.audit.handoff }).handoff, null, 2));
console.log(JSON.stringify(result.audit.layers));
