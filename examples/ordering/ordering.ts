/** Pairs of layers in both orders, and what changes. Prints one line for each order. */

import assert from 'node:assert/strict';
import {
  annotate,
  composeToolCallers,
  defineLayer,
  defineTool,
  explainStack,
  governTools,
  isAlliumError,
  type Next,
  ok,
  refuse,
  type ToolLayer,
  withCall,
} from 'allium';
import { echoExecutor, makeCall, testClock } from 'allium/conformance';
import {
  auditLog,
  consent,
  dryRun,
  rateLimit,
  requiredReason,
  scopedExecutor,
  summary,
  timeout,
} from 'allium/middleware';

// #region first-is-outermost
const trace: string[] = [];
const ring = (name: string): ToolLayer =>
  defineLayer({
    name,
    async caller(call, next) {
      trace.push(`${name} in`);
      const result = await next(call);
      trace.push(`${name} out`);
      return result;
    },
  });

await composeToolCallers([ring('a'), ring('b')])(makeCall(), echoExecutor());
assert.deepEqual(trace, ['a in', 'b in', 'b out', 'a out']);
// #endregion first-is-outermost
print('[a, b]', trace.join(', '));

// #region summary-dry-run
const told = summary((call, result) => `${call.toolName} ended ${result.status}`);

const outside = await composeToolCallers([told, dryRun()])(makeCall(), echoExecutor());
assert.equal(outside.audit?.summary, 'echo ended dry_run');

const inside = await composeToolCallers([dryRun(), told])(makeCall(), echoExecutor());
assert.equal(inside.audit?.summary, undefined);
// #endregion summary-dry-run
print('[summary, dryRun]', `summary: ${outside.audit.summary}`);
print('[dryRun, summary]', 'summary: none, the call never came that far');

// #region quota
function quota(max: number): ToolLayer {
  let used = 0;
  return defineLayer({
    name: 'quota',
    async caller(call, next) {
      if (used >= max) return refuse(call, 'limit_exceeded', 'The quota is used up.');
      used += 1;
      return annotate(await next(call), {}, { used, max });
    },
  });
}
// #endregion quota

// #region quota-dry-run
const countsPreviews = composeToolCallers([quota(1), dryRun()]);
await countsPreviews(makeCall(), echoExecutor());
assert.equal((await countsPreviews(makeCall(), echoExecutor())).status, 'limit_exceeded');

const countsRuns = composeToolCallers([dryRun(), quota(1)]);
await countsRuns(makeCall(), echoExecutor());
assert.equal((await countsRuns(makeCall(), echoExecutor())).status, 'dry_run');
// #endregion quota-dry-run
print('[quota, dryRun]', 'a preview takes from the quota');
print('[dryRun, quota]', 'a preview is free');

// #region ask
const ask = (answer: boolean, questions: string[]): ToolLayer =>
  defineLayer({
    name: 'ask',
    caller(call, next) {
      questions.push(call.toolName);
      return answer ? next(call) : refuse(call, 'consent_denied', 'A person said no.');
    },
  });
// #endregion ask

/** Calls a stack three times and tells how the calls ended. */
async function thrice(...layers: readonly ToolLayer[]): Promise<readonly string[]> {
  const stack = composeToolCallers(layers);
  const statuses: string[] = [];
  for (let count = 0; count < 3; count += 1)
    statuses.push((await stack(makeCall(), echoExecutor())).status);
  return statuses;
}

// #region quota-ask
const afterQuota: string[] = [];
assert.deepEqual(await thrice(quota(1), ask(true, afterQuota)), [
  'ok',
  'limit_exceeded',
  'limit_exceeded',
]);
assert.equal(afterQuota.length, 1);

const beforeQuota: string[] = [];
assert.deepEqual(await thrice(ask(true, beforeQuota), quota(1)), [
  'ok',
  'limit_exceeded',
  'limit_exceeded',
]);
assert.equal(beforeQuota.length, 3);
// #endregion quota-ask
print('[quota, ask]', `a person is asked ${afterQuota.length} of 3 times`);
print('[ask, quota]', `a person is asked ${beforeQuota.length} of 3 times`);

// #region quota-ask-no
assert.deepEqual(await thrice(quota(2), ask(false, [])), [
  'consent_denied',
  'consent_denied',
  'limit_exceeded',
]);
assert.deepEqual(await thrice(ask(false, []), quota(2)), [
  'consent_denied',
  'consent_denied',
  'consent_denied',
]);
// #endregion quota-ask-no
print('[quota, ask]', 'a "no" takes from the quota');
print('[ask, quota]', 'a "no" is free');

// #region retry
const again = (attempts: number): ToolLayer =>
  defineLayer({
    name: 'again',
    async caller(call, next) {
      let result = await next(call);
      for (let attempt = 1; attempt < attempts && result.errorClass === 'retryable'; attempt += 1)
        result = await next(call);
      return result;
    },
  });
// #endregion retry

/** Two attempts of 60 ms each: the first fails, the second answers. */
function flaky(clock: ReturnType<typeof testClock>): Next {
  let attempt = 0;
  return (call) =>
    new Promise((resolve) => {
      attempt += 1;
      const result =
        attempt === 1 ? refuse(call, 'rate_limited', 'Too fast.') : ok(call, 'second attempt');
      clock.after(60, () => resolve(result));
    });
}

async function runFor200(...layers: readonly ToolLayer[]) {
  const clock = testClock();
  const calling = composeToolCallers(layers, { clock })(makeCall(), flaky(clock));
  await clock.advance(200);
  return calling;
}

// #region timeout-retry
const perAttempt = await runFor200(again(2), timeout({ maxMs: 100 }));
assert.equal(perAttempt.status, 'ok');

const forAll = await runFor200(timeout({ maxMs: 100 }), again(2));
assert.equal(forAll.status, 'timeout');
// #endregion timeout-retry
print('[again, timeout]', `every attempt has 100 ms: ${perAttempt.status}`);
print('[timeout, again]', `all attempts share 100 ms: ${forAll.status}`);

// #region rewrites
const trim = defineLayer({
  name: 'trim',
  rewrites: true,
  caller(call, next) {
    const { text } = call.toolArgs;
    return next(
      typeof text === 'string'
        ? withCall(call, { toolArgs: { ...call.toolArgs, text: text.trim() } })
        : call,
    );
  },
});
const watch = (seen: unknown[]) =>
  defineLayer({
    name: 'watch',
    observes: true,
    caller(call, next) {
      seen.push(call.toolArgs.text);
      return next(call);
    },
  });

const asSent: unknown[] = [];
await composeToolCallers([watch(asSent), trim])(
  makeCall({ toolArgs: { text: ' hi ' } }),
  echoExecutor(),
);
assert.deepEqual(asSent, [' hi ']);

const asRun: unknown[] = [];
await composeToolCallers([trim, watch(asRun)])(
  makeCall({ toolArgs: { text: ' hi ' } }),
  echoExecutor(),
);
assert.deepEqual(asRun, ['hi']);
// #endregion rewrites
print('[watch, trim]', 'watch sees what the model sent');
print('[trim, watch]', 'watch sees what the tool is given');

const echo = defineTool({
  name: 'echo',
  description: 'Answers with its arguments.',
  inputSchema: { type: 'object' },
  execute: (args) => args,
});

// #region leading-observers
const gate = defineLayer({ name: 'gate', caller: (call, next) => next(call) });

const unknown: string = 'no_such_tool';
for (const leading of [true, false]) {
  const seen: unknown[] = [];
  const governed = governTools({
    tools: [echo],
    layers: leading ? [watch(seen), gate] : [gate, watch(seen)],
  });
  await governed.call({ name: unknown, arguments: {} });
  await governed.call({ name: 'echo', arguments: '{"text": ' });
  assert.equal(seen.length, leading ? 2 : 0);
}
// #endregion leading-observers
print('[watch, gate]', 'watch sees unknown tools and malformed calls');
print('[gate, watch]', 'watch sees admitted calls only');

// #region must
const asking = consent({ default: 'ask' });

assert.throws(
  () => composeToolCallers([timeout({ maxMs: 100 }), asking]),
  (error) => isAlliumError(error, 'ERR_LAYER_ORDER'),
);
composeToolCallers([asking, timeout({ maxMs: 100 })]);
// #endregion must

// #region should
const advice = explainStack([requiredReason(), told]);
// #endregion should
assert.match(advice, /! "summary" should stand outside "requiredReason"/);
composeToolCallers([requiredReason(), told]);
console.log(`\n${advice}`);
console.log(`\n${explainStack([timeout({ maxMs: 100 }), asking])}`);

// #region transforms
const says = (word: string): ToolLayer =>
  defineLayer({
    name: word,
    caller: (call, next) => next(call),
    schemaTransform: (tool) => ({ ...tool, description: word }),
  });

const shown = governTools({ tools: [echo], layers: [says('outer'), says('inner')] });
assert.equal(shown.tools[0]?.description, 'outer');
// #endregion transforms

// #region variants
const limitsFirst = [
  auditLog('cloud'),
  rateLimit({ maxCalls: 50 }),
  consent({ default: 'ask' }),
  timeout({ maxMs: 30_000 }),
];
const scopeFirst = [
  scopedExecutor({ allowedTools: ['echo'] }),
  auditLog('cloud'),
  consent({ default: 'ask' }),
  timeout({ maxMs: 30_000 }),
];
// #endregion variants
for (const layers of [limitsFirst, scopeFirst])
  assert.match(explainStack(layers), /The order breaks no rule\./);

function print(order: string, what: string): void {
  console.log(`${order.padEnd(19)} ${what}`);
}
