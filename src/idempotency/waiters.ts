/** The calls that wait for the one that does their work, and what they are woken with. */

import { isAborted, type ToolCall } from '../layer.ts';
import type { Verdict } from './claimed-work.ts';

/**
 * Why a waiter goes on: there is an outcome, it is its turn to try, the one at work was called off,
 * or it was itself.
 */
export type Woken = { readonly outcome: Verdict } | 'lead' | 'deserted' | 'left';

/** Work that calls may wait for. */
export interface Awaited {
  /**
   * The call at work; `null` when it has ended. A `Map` that grows leaves its old table behind with
   * what was in it, and would keep calls that have ended until the next collection of everything.
   */
  leader: ToolCall | null;
  /** Made with the first one who waits: nearly all work ends before another call comes. */
  waiters: Waiters | null;
}

interface Waiters {
  readonly wakes: Set<(woken: Woken) => void>;
  /**
   * Told when the call at work is called off. One listener for all, and only while calls wait.
   */
  readonly desert: () => void;
}

/** The one at work was called off: it may take any time to come to an end. */
export const isDeserted = ({ leader }: Awaited): boolean => leader !== null && isAborted(leader);

export function waitFor(work: Awaited, signal: AbortSignal): Promise<Woken> {
  const { wakes, desert } = (work.waiters ??= createWaiters());
  if (wakes.size === 0) work.leader?.signal.addEventListener('abort', desert);
  return new Promise((resolve) => {
    const leave = () => wake('left');
    const wake = (woken: Woken) => {
      wakes.delete(wake);
      signal.removeEventListener('abort', leave);
      if (wakes.size === 0) work.leader?.signal.removeEventListener('abort', desert);
      resolve(woken);
    };
    wakes.add(wake);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave);
  });
}

function createWaiters(): Waiters {
  const wakes: Waiters['wakes'] = new Set();
  const desert = () => {
    for (const wake of wakes) wake('deserted');
  };
  return { wakes, desert };
}

/** Takes over the work after being woken with `lead`. */
export function takeOver(work: Awaited, leader: ToolCall): void {
  unwatch(work);
  work.leader = leader;
  const { waiters } = work;
  if (waiters !== null && waiters.wakes.size > 0)
    leader.signal.addEventListener('abort', waiters.desert);
}

/** Everybody gets the outcome. */
export function wakeAll(work: Awaited, outcome: Verdict): void {
  unwatch(work);
  for (const wake of work.waiters?.wakes ?? []) wake({ outcome });
}

/** The next in line tries, and the others go on waiting. Answers whether there is one. */
export function wakeNext({ waiters }: Awaited): boolean {
  const [next] = waiters?.wakes ?? [];
  next?.('lead');
  return next !== undefined;
}

function unwatch({ leader, waiters }: Awaited): void {
  if (waiters !== null && waiters.wakes.size > 0)
    leader?.signal.removeEventListener('abort', waiters.desert);
}
