/** The time in which a decision counts: it ends with the decision, with the deadline, or when the caller leaves. */

import { clockOf, linkAbort, type ToolCall } from '../../src/index.ts';

export type Decided<T> =
  | { readonly by: 'itself'; readonly value: T }
  | { readonly by: 'failure'; readonly cause: unknown }
  | { readonly by: 'expired' }
  | { readonly by: 'cancelled' };

/** One for all: making one for every call costs more than deciding. */
const NOT_WANTED = new DOMException('the decision is no longer wanted', 'AbortError');

/**
 * Waits for `work` no longer than allowed. Its signal aborts when nothing it does counts any more, also after it has
 * answered. Time is measured without the wall clock, and once more when the answer comes: after a machine has slept, the
 * answer can be faster than the timer.
 */
export async function decideWithin<T>(
  call: ToolCall,
  expiresMs: number | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Decided<T>> {
  const clock = clockOf(call);
  const startedAt = clock.monotonic();
  const link = linkAbort(call.signal);
  let takeBack = () => {};
  const stopped = new Promise<Decided<T>>((resolve) => {
    link.signal.addEventListener('abort', () => resolve({ by: 'cancelled' }));
    if (expiresMs !== undefined) takeBack = clock.after(expiresMs, () => resolve({ by: 'expired' }));
  });
  try {
    if (call.signal.aborted) return { by: 'cancelled' };
    const first = await Promise.race([stopped, attempt(work, link.signal)]);
    if (first.by === 'cancelled') return first;
    return expiresMs !== undefined && clock.monotonic() - startedAt >= expiresMs ? { by: 'expired' } : first;
  } finally {
    takeBack();
    link.unlink();
    link.abort(NOT_WANTED);
  }
}

async function attempt<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<Decided<T>> {
  try {
    return { by: 'itself', value: await work(signal) };
  } catch (cause) {
    return { by: 'failure', cause };
  }
}
