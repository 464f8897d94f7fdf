/**
 * Time that is not the tool's: a person thinks about a call, or it waits for its turn afterwards.
 */

import { stateOf } from './own-call.ts';
import { slotIn } from './pass.ts';
import type { SLOT, ToolCall } from '../contract/call.ts';

/** Keeps the time that `wait` takes off every limit on the call. */
export async function offTheClock<T>(call: ToolCall, wait: () => Promise<T>): Promise<T> {
  const state = stateOf(call);
  const startedAt = state.clock.monotonic();
  state.askingSince = startedAt;
  try {
    return await wait();
  } finally {
    state.askingSince = null;
    state.askedMs += state.clock.monotonic() - startedAt;
  }
}

/** How long people have been asked about a call by now; nothing for what is no call. */
export function askedMsOf(source: { readonly [SLOT]?: object }): number {
  const state = slotIn(source)?.state;
  if (state === undefined) return 0;
  const { askedMs, askingSince, clock } = state;
  return askingSince === null ? askedMs : askedMs + clock.monotonic() - askingSince;
}
