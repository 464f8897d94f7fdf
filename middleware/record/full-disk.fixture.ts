/**
 * A process whose files may not grow over a size: it records until it is refused, then is given
 * room, and goes on.
 */

import { execFileSync } from 'node:child_process';
import { composeToolCallers, type Next, ok } from '../../src/index.ts';
import { makeCall } from '../../conformance/test-kit.ts';
import { record } from './record.ts';

const [file = ''] = process.argv.slice(2);
const layer = record({ file });
const stack = composeToolCallers([layer]);
const ran: unknown[] = [];
const tool: Next = async (call) => {
  ran.push(call.toolArgs.index);
  return ok(call, 'x'.repeat(10_000));
};

let refusals = 0;
let index = 0;
for (; refusals < 3 && index < 1_000; index += 1) {
  const { status } = await stack(makeCall({ toolArgs: { index } }), tool);
  if (status === 'audit_unavailable') refusals += 1;
}
const lift = 'import os, resource; resource.prlimit(os.getppid(), resource.RLIMIT_FSIZE, (-1, -1))';
execFileSync('python3', ['-c', lift]);
const last = await stack(makeCall({ toolArgs: { index } }), tool);
await layer.close?.();
console.log(JSON.stringify({ ran, refusals, last: last.status }));
