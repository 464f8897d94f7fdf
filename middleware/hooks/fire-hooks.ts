/** Events that a host fires itself, such as the start of a session. */

import { type JsonObject, systemClock } from '../../src/index.ts';
import type { HooksOptions } from './hooks.ts';
import { blockedText } from './outcomes.ts';
import { mergeAny } from './payloads.ts';
import { sourceOf } from './read-options.ts';
import { type HookRun, runHooks } from './run-hooks.ts';

export interface FireOptions extends HooksOptions {
  /** Who has left needs no answer: the hooks then count as blocking. */
  readonly signal?: AbortSignal;
}

export interface HookOutcome {
  readonly action: 'allow' | 'block';
  /** Why, where a hook blocked. */
  readonly reason: string | null;
  /** As the last hook left it. */
  readonly payload: JsonObject;
  readonly runs: readonly HookRun[];
}

/**
 * Asks the hooks of one event, under the rules of the layer: lower priority first, the first block ends it, a failure blocks, and what a
 * hook hands over stands over the payload. Without a pool it makes one for this event alone, which costs as much as a cold start.
 */
export async function fireHooks(
  event: string,
  payload: JsonObject,
  { signal, ...options }: FireOptions,
): Promise<HookOutcome> {
  const source = sourceOf('fireHooks', options);
  const parts = {
    use: source.use,
    merge: mergeAny,
    signal: signal ?? new AbortController().signal,
    now: () => systemClock.monotonic(),
  };
  try {
    const {
      blocked,
      runs,
      payload: left,
    } = await runHooks(await source.hooksFor(event), event, payload, parts);
    return {
      action: blocked === null ? 'allow' : 'block',
      reason: blocked === null ? null : blockedText(blocked),
      payload: left,
      runs,
    };
  } finally {
    await source.use.close();
  }
}
