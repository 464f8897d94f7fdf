/**
 * Cases that take turns, each in a process of its own. For cases that share a library: in one
 * process its code would see the objects of all of them, and each would be slower for the company
 * of the others. Only one process works at a time.
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
import { quantile } from './statistics.ts';

type Order = { readonly warmUpMs: number } | 'sample' | 'bytes';

/** A case that may know better than a plain loop how one sample of it is taken. */
export interface Served extends Pick<Case, 'run'> {
  /** Nanoseconds of processor time per operation. */
  readonly sample?: () => Promise<number>;
}

/** Measures a case that another process asks for, until that process hangs up. */
export function serveCase(subject: Served, close: () => Promise<void>): void {
  let times = 1;
  process.on('message', (order: Order) => {
    void carryOut(order).then((figure) => process.send?.(figure));
  });
  process.once('disconnect', () => void close());

  async function carryOut(order: Order): Promise<number> {
    if (order === 'bytes') return bytesOf(subject);
    if (order === 'sample') return subject.sample?.() ?? sampleOf(subject, times);
    times = await warmUp(subject, order.warmUpMs);
    return 0;
  }
}

const WEIGHED_CALLS = 512;

/** Bytes of heap that one operation leaves until they are collected. */
async function bytesOf({ run }: Served): Promise<number> {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  await run(WEIGHED_CALLS);
  return (process.memoryUsage().heapUsed - before) / WEIGHED_CALLS;
}

/** Room for everything that is allocated between two collections: none may come in between. */
const WEIGHING = ['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128'];
const WEIGHINGS = 9;

/** Bytes of heap per operation of a case, in a process of its own: the median of some samples. */
export async function weighApart(
  program: string,
  { name, group }: Pick<Case, 'group' | 'name'>,
  warmUpMs: number,
): Promise<number> {
  const child = fork(program, [name, group], { execArgv: WEIGHING });
  try {
    await ask(child, { warmUpMs });
    const samples: number[] = [];
    while (samples.length < WEIGHINGS) samples.push(await ask(child, 'bytes'));
    return quantile(samples, 0.5);
  } finally {
    await hangUp(child);
  }
}

/**
 * `program` is started once for every case, with its name and its group as arguments, and must
 * serve it.
 */
export async function measureApart(
  program: string,
  cases: readonly Pick<Case, 'group' | 'name'>[],
  { rounds, onProgress, warmUpPassMs = 300 }: MeasureOptions,
): Promise<readonly Measured[]> {
  const entries = cases.map(({ group, name }) => ({
    group,
    name,
    child: fork(program, [name, group]),
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
