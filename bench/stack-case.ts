/**
 * One stack in one of the cases, in a process of its own: `node stack-case.js <name> <group>`,
 * started by the benchmark.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { type Case, distinct } from './harness.ts';
import { type Served, serveCase } from './measure-apart.ts';
import { CASES, type StackCase } from './stack-cases.ts';
import { argsAt, type Governed, startTracing } from './stack-scenario.ts';

let calls = 1_000;
/**
 * Every call has arguments of its own: an answer from the cache would hide the stack. After some
 * calls the event loop goes round, as it does in any program whose tools wait for something;
 * otherwise nothing in the background is ever written.
 */
const parts = {
  next: () => argsAt((calls += 1)),
  turn: () => new Promise((resolve) => setImmediate(resolve)),
};

const SERIAL = `async (times) => {
  for (let i = 0; i < times; i++) {
    ring[i % 256] = await call(next());
    if (i % 32 === 31) await turn();
  }
}`;
const HOT = `async (times) => {
  let pending = [];
  for (let i = 1; i <= times; i++) {
    pending.push(call(next()));
    if (i % 64 !== 0 && i !== times) continue;
    ring[i % 256] = await Promise.all(pending);
    pending = [];
    await turn();
  }
}`;

const loopOf = (source: string, call: Governed['call']): Case['run'] =>
  distinct(source, { ...parts, ring: new Array<unknown>(256).fill(null), call });

const PACE_MS = 4;
const PACED_CALLS = 25;

/**
 * One call, then a pause. Counted is the call with the two turns of the event loop behind it, in
 * which its receipt is handed to the system; not what sleeping and waking up cost by themselves.
 */
const pacedSample = (call: Governed['call']) => async (): Promise<number> => {
  let usedUs = 0;
  for (let index = 0; index < PACED_CALLS; index += 1) {
    const args = parts.next();
    const before = process.cpuUsage();
    await call(args);
    await parts.turn();
    await parts.turn();
    const { user, system } = process.cpuUsage(before);
    usedUs += user + system;
    await pause(PACE_MS);
  }
  return (usedUs * 1000) / PACED_CALLS;
};

function servedAs(how: StackCase['how'], call: Governed['call']): Served {
  const run = loopOf(how === 'hot' ? HOT : SERIAL, call);
  return how === 'paced' ? { run, sample: pacedSample(call) } : { run };
}

const [, , wanted = '', group] = process.argv;
const subject = CASES.find((one) => one.group === group);
const make = subject?.stacks[wanted];
if (subject === undefined || make === undefined) throw new Error(`no case "${wanted}"`);
const tracing = subject.isTraced ? startTracing() : null;
const { call, close } = await make();
serveCase(servedAs(subject.how, call), async () => {
  await tracing?.stop();
  await close();
});
