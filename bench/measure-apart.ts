/**
 * Cases that take turns, each in a process of its own. For cases that share a library: in one process its code would see the objects of
 * all of them, and each would be slower for the company of the others. Only one process works at a time.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  type Case,
  type Measured,
  type MeasureOptions,
  sampleOf,
  WARM_UP_PASSES,
  warmUp,
} from './harness.ts';

type Order = { readonly warmUpMs: number } | 'sample';

/** Measures a case that another process asks for, until that process hangs up. */
export function serveCase(subject: Pick<Case, 'run'>, close: () => Promise<void>): void {
  let times = 1;
  process.on('message', (order: Order) => {
    void carryOut(order).then((ns) => process.send?.(ns));
  });
  process.once('disconnect', () => void close());

  async function carryOut(order: Order): Promise<number> {
    if (order === 'sample') return sampleOf(subject, times);
    times = await warmUp(subject, order.warmUpMs);
    return 0;
  }
}

/** `program` is started once for every case, with its name as the only argument, and must serve it. */
export async function measureApart(
  program: string,
  cases: readonly Pick<Case, 'group' | 'name'>[],
  { rounds, onProgress, warmUpPassMs = 300 }: MeasureOptions,
): Promise<readonly Measured[]> {
  const entries = cases.map(({ group, name }) => ({
    group,
    name,
    child: fork(program, [name]),
    samples: new Array<number>(),
  }));
  try {
    onProgress(
      `warming up ${entries.length} cases, ${(WARM_UP_PASSES * warmUpPassMs) / 1000} s each`,
    );
    for (let pass = 0; pass < WARM_UP_PASSES; pass++)
      for (const { child } of entries) await ask(child, { warmUpMs: warmUpPassMs });
    onProgress(`measuring ${rounds} rounds`);
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < entries.length; i++) {
        const entry = entries[(round + i) % entries.length];
        if (entry !== undefined) entry.samples.push(await ask(entry.child, 'sample'));
      }
    }
    return entries.map(({ group, name, samples }) => ({ group, name, samples }));
  } finally {
    await Promise.all(entries.map(({ child }) => hangUp(child)));
  }
}

async function ask(child: ChildProcess, order: Order): Promise<number> {
  const over = new AbortController();
  const { signal } = over;
  try {
    child.send(order);
    const ended = once(child, 'exit', { signal }).then(() =>
      Promise.reject(new Error('the process of a case ended')),
    );
    const [ns] = (await Promise.race([once(child, 'message', { signal }), ended])) as [number]; // What `serveCase` sends.
    return ns;
  } finally {
    over.abort();
  }
}

async function hangUp(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  await ended;
}
