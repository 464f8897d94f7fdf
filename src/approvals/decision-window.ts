/**
 * The time in which a decision counts: it ends with the decision, with the deadline, or when the
 * caller leaves.
 */

import { clockOf, offTheClock } from '../core/onion/own-call.ts';
import { servicesOf } from './consultation.ts';
import type { ToolCall } from '../core/contract/call.ts';
import { runWithin } from '../core/time/run-within.ts';

/** How the wait for a decision ended; `cancelled` where the caller took the call back. */
export type Decided<T> =
  | { readonly by: 'itself'; readonly value: T }
  | { readonly by: 'failure'; readonly cause: unknown }
  | { readonly by: 'expired' }
  | { readonly by: 'cancelled' };

/**
 * Waits for `work` no longer than allowed. Its signal aborts when nothing it does counts any more.
 * Time is measured without the wall clock, and once more when the answer comes: after a machine has
 * slept, the answer can be faster than the timer. A call that gave up its place for the decision
 * takes one again where it goes on; that wait is not part of the time.
 */
export async function decideWithin<T>(
  call: ToolCall,
  expiresMs: number | undefined,
  work: (signal: AbortSignal) => Promise<T>,
  goesOn: (value: T) => boolean = () => true,
): Promise<Decided<T>> {
  const decided = await windowOf(call, expiresMs, work);
  if (decided.by !== 'itself' || !goesOn(decided.value)) return decided;
  const services = servicesOf(call);
  if (services !== null) await offTheClock(call, () => services.comeBack(call));
  return call.signal.aborted ? { by: 'cancelled' } : decided;
}

async function windowOf<T>(
  call: ToolCall,
  expiresMs: number | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Decided<T>> {
  if (call.signal.aborted) return { by: 'cancelled' };
  const clock = clockOf(call);
  const startedAt = clock.monotonic();
  const ending = await runWithin(
    { clock, signal: call.signal, timeoutMs: expiresMs, graceMs: 0 },
    (abort) => work(abort.read()),
  );
  if (call.signal.aborted) return { by: 'cancelled' };
  if (ending.by !== 'itself') return { by: ending.by === 'timeout' ? 'expired' : 'cancelled' };
  if (expiresMs !== undefined && clock.monotonic() - startedAt >= expiresMs)
    return { by: 'expired' };
  return 'value' in ending.ran
    ? { by: 'itself', value: ending.ran.value }
    : { by: 'failure', cause: ending.ran.thrown };
}
