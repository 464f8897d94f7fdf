/**
 * A process that makes one call with an effect and kills itself where it is told to, or many until
 * it is killed.
 */

import { appendFileSync } from 'node:fs';
import { composeToolCallers, type Next, ok } from '../../src/index.ts';
import { makeCall } from '../../conformance/test-kit.ts';
import { fileClaims } from '../../src/stores/index.ts';
import { idempotency } from './idempotency.ts';

const [dir = '', log = '', point = ''] = process.argv.slice(2);
const dieAt = (here: string) => here === point && process.kill(process.pid, 'SIGKILL');

const files = fileClaims({ dir });
const store: typeof files = {
  ...files,
  async claim(key, request) {
    dieAt('before the claim');
    return files.claim(key, request);
  },
  async complete(key, token, ending) {
    dieAt('before the answer is kept');
    const kept = await files.complete(key, token, ending);
    dieAt('after the answer is kept');
    return kept;
  },
};

const effect: Next = async (call) => {
  dieAt('before the effect');
  appendFileSync(log, `${JSON.stringify(call.toolArgs.order)}\n`);
  dieAt('after the effect');
  await new Promise((resolve) => setImmediate(resolve));
  return ok(call, { receipt: 42 });
};

const stack = composeToolCallers([idempotency({ mode: 'effect', leaseMs: 2000, store })]);
for (let order = 0; order < (point === 'many' ? 10_000 : 1); order += 1) {
  const result = await stack(
    makeCall({ callId: `call-${process.pid}`, toolArgs: { order } }),
    effect,
  );
  console.log(
    JSON.stringify({
      status: result.status,
      result: result.result,
      own: result.toolCallId === `call-${process.pid}`,
    }),
  );
}
