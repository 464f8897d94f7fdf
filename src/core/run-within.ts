/** Runs work that may not heed its signal: a deadline and a caller that leaves are both answered in time. */

import type { Clock } from './clock.ts';
import { linkAbort, whenAborted } from './signal.ts';

export type Ran<T> = { readonly value: T } | { readonly thrown: unknown };
/** How it ended, and, where it was stopped, what it still did within the grace. */
export type Ending<T> =
  | { readonly by: 'itself'; readonly ran: Ran<T> }
  | { readonly by: 'timeout' | 'cancelled'; readonly ran: Ran<T> | null };

export interface Bounds {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number | undefined;
  /** How long stopped work may take to come to an end and tell what it did. */
  readonly graceMs: number;
}

/** Aborts the signal given to `work` on deadline or cancellation, waits out the grace, and leaves nothing behind. */
export async function runWithin<T>(bounds: Bounds, work: (signal: AbortSignal) => T | Promise<T>): Promise<Ending<T>> {
  const { clock, signal, timeoutMs, graceMs } = bounds;
  const own = timeoutMs === undefined ? null : linkAbort(signal);
  const cancellation = whenAborted(signal);
  const deadline = timeoutMs === undefined ? null : timer(clock, timeoutMs);
  const ran = settled(() => work(own?.signal ?? signal));
  try {
    const stops = [
      cancellation.aborted.then(() => 'cancelled' as const),
      ...(deadline === null ? [] : [deadline.due.then(() => 'timeout' as const)]),
    ];
    const first = await Promise.race([ran, ...stops]);
    if (typeof first === 'object') return { by: 'itself', ran: first };
    own?.abort(new DOMException('the tool ran out of time', 'TimeoutError'));
    const grace = timer(clock, graceMs);
    const late = await Promise.race([ran, grace.due.then(() => null)]);
    grace.cancel();
    return { by: first, ran: late };
  } finally {
    cancellation.stop();
    deadline?.cancel();
    own?.unlink();
  }
}

async function settled<T>(work: () => T | Promise<T>): Promise<Ran<T>> {
  try {
    return { value: await work() };
  } catch (thrown) {
    return { thrown };
  }
}

function timer(clock: Clock, ms: number): { readonly due: Promise<void>; cancel(): void } {
  let cancel = () => {};
  const due = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  return { due, cancel: () => cancel() };
}
