/** Each bundled layer at work, with the clock of a test, so that nothing here waits. */

import assert from 'node:assert/strict';
import { composeToolCallers, explainStack, type Next, ok, when } from 'allium';
import { echoExecutor, makeCall, testClock } from 'allium/conformance';
import { dryRun, summary, timeout } from 'allium/middleware';

const clock = testClock();
const sent = makeCall({ toolName: 'send_mail', toolArgs: { to: 'ada@example.org' } });

// #region dry-run
const previews = composeToolCallers(
  [dryRun({ only: ['send_*', 'delete_*'], message: 'Would call' })],
  { clock },
);
const mail = echoExecutor();
const preview = await previews(sent, mail);

assert.equal(preview.status, 'dry_run');
assert.equal(preview.executed, 'no');
assert.equal(preview.renderedResult, 'Would call — send_mail({"to":"ada@example.org"})');
assert.equal(mail.calls.length, 0);
// #endregion dry-run

// #region summary
const told = composeToolCallers([
  summary((call, result) => `${call.toolName} in ${call.turn.sessionId}: ${result.status}`),
]);
const result = await told(sent, echoExecutor());

assert.equal(result.audit?.summary, 'send_mail in session-1: ok');
// #endregion summary

// #region timeout
const limited = composeToolCallers(
  [timeout({ maxMs: 1_000, perTool: { 'send_*': 200 }, graceMs: 50 })],
  { clock },
);

const deaf: Next = () => new Promise(() => {});
const calling = limited(sent, deaf);
await clock.advance(200);
await clock.advance(50);
const late = await calling;

assert.equal(late.status, 'timeout');
assert.equal(late.executed, 'unknown');
assert.equal(
  late.error,
  'send_mail did not answer in time (limit: 200 ms). It may have done its work; check before you try again.',
);
assert.equal(clock.pending, 0);
// #endregion timeout

// #region timeout-grace
const heeding: Next = (call) =>
  new Promise((resolve) =>
    call.signal.addEventListener('abort', () => resolve(ok(call, 'stopped half way'))),
  );
const stopping = limited(sent, heeding);
await clock.advance(200);
const stopped = await stopping;

assert.equal(stopped.status, 'timeout');
assert.equal(stopped.executed, 'yes');
// #endregion timeout-grace

// #region when
const destructiveOnly = when((tool) => tool.annotations.destructive === true, dryRun());
const read = await composeToolCallers([destructiveOnly])(
  makeCall({ annotations: { readOnly: true } }),
  echoExecutor(),
);
const write = await composeToolCallers([destructiveOnly])(
  makeCall({ annotations: { destructive: true } }),
  echoExecutor(),
);

assert.deepEqual([read.status, write.status], ['ok', 'dry_run']);
// #endregion when

console.log(JSON.stringify(preview.audit, null, 2));
console.log(JSON.stringify(late.audit?.layers));
console.log(explainStack([summary(() => null), dryRun(), timeout({ maxMs: 1_000 })]));
