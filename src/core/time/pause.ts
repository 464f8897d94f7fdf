/** Waiting that ends when nobody waits any more. */

import { abortOf, clockOf } from '../onion/own-call.ts';
import type { ToolCall } from '../contract/call.ts';

/** What `setTimeout` can hold: a longer one would ring at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits for `ms` on the clock of the call and answers `true`, or `false` as soon as its caller has
 * gone. Leaves neither timer nor listener behind. Waits at most 24 days.
 */
export function pause(call: ToolCall, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const takeBack = clockOf(call).after(Math.min(ms, MAX_TIMER_MS), () => {
      letGo();
      resolve(true);
    });
    const letGo = abortOf(call).follow(() => {
      takeBack();
      resolve(false);
    });
  });
}
