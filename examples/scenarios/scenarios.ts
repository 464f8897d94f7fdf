/** Somebody's own layer, judged by the bundled scenarios, and a scenario of one's own. */

import assert from 'node:assert/strict';
import { annotate, defineLayer, refuse, type ToolLayer } from 'allium';
import {
  builtinSubject,
  createSubject,
  parseScenario,
  renderReport,
  runScenario,
  runScenarios,
  suiteFolder,
} from 'allium/conformance';

// #region subject
/** Counts before it asks, and forgets what everybody else counts. */
const myRateLimit = ({ maxCalls }: { maxCalls: number }): ToolLayer => {
  let count = 0;
  return defineLayer({
    name: 'rateLimit',
    async caller(call, next) {
      if (count >= maxCalls)
        return annotate(
          refuse(call, 'rate_limited', 'enough'),
          {},
          { status: 'blocked', count, cap: maxCalls },
        );
      const result = await next(call);
      count += 1;
      return result;
    },
  });
};

const mine = createSubject({ name: 'mine', factories: { rateLimit: myRateLimit } });
const report = await runScenarios(`${suiteFolder()}/rate-limit`, mine);

assert.equal(report.results.find(({ id }) => id === 'rate-limit.admits-up-to-its-limit')?.ok, true);
assert.ok(report.failed > 0, 'a limit that counts after the call lets parallel calls through');
assert.match(renderReport(report, 'text'), /✗ rate-limit\./);
// #endregion subject

// #region own
const scenario = parseScenario(
  `
id: payments.asks-first
title: a payment is not made before somebody has said yes
requirement: PAY-1
source: our own rules
tools:
  - { name: pay, answers: { respond: { paid: true } } }
layers:
  - consent: { $script: [denied, approved] }
steps:
  - { call: pay, expect: { status: consent_denied, executed: 'no' } }
  - { call: pay, expect: { result: { paid: true } } }
expect:
  received: [{ tool: pay, call_id: call-2 }]
`,
  'payments.yaml',
);

assert.equal((await runScenario({ file: 'payments.yaml', scenario }, builtinSubject)).ok, true);
// #endregion own

console.log(renderReport({ ...report, results: [] }, 'text').trimEnd());
