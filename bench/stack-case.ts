/** One captain stack, in a process of its own: `node stack-case.js <name>`, started by the benchmark. */

import { type Case, distinct } from './harness.ts';
import { serveCase } from './measure-apart.ts';
import { argsAt, type Governed, startTracing } from './stack-scenario.ts';
import { STACKS } from './stacks.ts';

let calls = 1_000;

/**
 * Every call has arguments of its own: an answer from the cache would hide the stack. After some calls the event loop goes
 * round, as it does in any program whose tools wait for something; otherwise nothing in the background is ever written.
 */
function loopOf(call: Governed['call']): Case['run'] {
  const ring = new Array<unknown>(256).fill(null);
  const next = () => argsAt((calls += 1));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return distinct(
    'async (times) => { for (let i = 0; i < times; i++) { ring[i % 256] = await call(next()); if (i % 32 === 31) await turn(); } }',
    { ring, call, next, turn },
  );
}

const [, , wanted] = process.argv;
const tracing = startTracing();
for (const make of STACKS) {
  const { name, call, close } = await make();
  if (name !== wanted) {
    await close();
    continue;
  }
  serveCase({ run: loopOf(call) }, async () => {
    await tracing.stop();
    await close();
  });
}
