/** The time in which a person thinks about a call: nobody else waits for it, and it is not the tool's. */

import { type CallSlot, SLOT, stateOf, type ToolCall } from './call.ts';
import { servicesOf } from './services.ts';

/** Lets others go ahead while somebody is asked, and keeps that time off every limit on the call. */
export async function whileAsking<T>(call: ToolCall, ask: () => Promise<T>): Promise<T> {
  const state = stateOf(call);
  const startedAt = state.clock.monotonic();
  state.askingSince = startedAt;
  const back = servicesOf(call)?.stepAside(call);
  try {
    return await ask();
  } finally {
    await back?.();
    state.askingSince = null;
    state.askedMs += state.clock.monotonic() - startedAt;
  }
}

/** How long people have been asked about a call by now; nothing for what is no call. */
export function askedMsOf(source: { readonly [SLOT]?: CallSlot }): number {
  const state = source[SLOT]?.state;
  if (state === undefined) return 0;
  const { askedMs, askingSince, clock } = state;
  return askingSince === null ? askedMs : askedMs + clock.monotonic() - askingSince;
}
