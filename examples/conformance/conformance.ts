/**
 * The conformance kit on its own: the parts, the contract on a good and on a bad layer, and hostile
 * values.
 */

import assert from 'node:assert/strict';
import { composeToolCallers, defineLayer, ok, type ToolLayer } from 'allium';
import {
  echoExecutor,
  hostileThrowables,
  LAYER_CONTRACT,
  type LayerSubject,
  makeCall,
  malformedResults,
  recordingSink,
  settle,
  testClock,
} from 'allium/conformance';
import { dryRun } from 'allium/middleware';

// #region parts
const clock = testClock();
const executor = echoExecutor();
const sink = recordingSink<string>();
const slow = defineLayer({
  name: 'slow',
  async caller(call, next) {
    await new Promise<void>((resolve) => clock.after(1_000, resolve));
    sink(`let ${call.callId} through`);
    return next(call);
  },
});

const calling = composeToolCallers([slow], { clock })(
  makeCall({ toolArgs: { text: 'hi' }, turn: { runId: 'run-1' } }),
  executor,
);
await settle();
assert.equal(executor.calls.length, 0);

await clock.advance(1_000);
assert.deepEqual((await calling).result, { text: 'hi' });
assert.deepEqual(sink.records, ['let call-1 through']);
assert.equal(clock.pending, 0);
// #endregion parts

// #region contract
async function brokenPromises(subject: LayerSubject): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const promise of LAYER_CONTRACT)
    await promise.check(subject).catch(() => broken.push(promise.name));
  return broken;
}

// The types forbid the misspelt option; plain JavaScript does not.
const good: LayerSubject = {
  create: () => dryRun(),
  badOptions: [() => dryRun({ onyl: [] } as object)],
};
assert.deepEqual(await brokenPromises(good), []);

const sticky = (): ToolLayer => {
  let first: unknown = null;
  return {
    name: 'sticky',
    async caller(call, next) {
      first ??= call.toolArgs;
      await next(call);
      return ok(call, first);
    },
  };
};
assert.deepEqual(await brokenPromises({ create: sticky, badOptions: [] }), [
  'keeps concurrent calls apart',
  'refuses bad options',
]);
// #endregion contract

// #region hostile
for (const [name, make] of hostileThrowables) {
  const result = await composeToolCallers([dryRun({ only: [] })])(makeCall(), () => {
    throw make();
  });
  assert.equal(result.status, 'executor_error', name);
}

for (const [name, make] of malformedResults) {
  // The types forbid it; a layer in plain JavaScript may do it all the same.
  const careless = { name: 'careless', caller: (call) => make(call) } as ToolLayer;
  const result = await composeToolCallers([careless])(makeCall(), echoExecutor());
  assert.equal(result.status, 'tool_middleware_exception', name);
}
// #endregion hostile

console.log(LAYER_CONTRACT.map(({ name }) => `- ${name}`).join('\n'));
console.log(`${hostileThrowables.length} throwables, ${malformedResults.length} malformed results`);
