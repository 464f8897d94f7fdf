/** How long to wait before a call is tried again. */

import type { ToolResult } from '../../src/index.ts';

export interface Backoff {
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  readonly jitter: boolean;
  readonly random: () => number;
}

/** Beyond this the wait has long reached its maximum, and the power of two would run into infinity. */
const MAX_DOUBLINGS = 40;

/**
 * The wait after a number of attempts, in whole milliseconds. What the result itself asks for is never cut short, so it can be
 * more than the maximum.
 */
export function waitAfter(
  result: ToolResult,
  attempts: number,
  { backoffMs, maxBackoffMs, jitter, random }: Backoff,
): number {
  const full = Math.min(maxBackoffMs, backoffMs * 2 ** Math.min(attempts - 1, MAX_DOUBLINGS));
  const wait = jitter ? Math.floor(full * share(random())) : full;
  return Math.max(wait, askedWait(result));
}

/** A source of chance that answers nonsense makes the wait longer, never shorter. */
const share = (chance: number): number => (chance >= 0 && chance <= 1 ? chance : 1);

function askedWait({ metadata }: ToolResult): number {
  const asked =
    metadata !== undefined && Object.hasOwn(metadata, 'retryAfterMs')
      ? metadata.retryAfterMs
      : undefined;
  return typeof asked === 'number' && asked > 0 ? Math.ceil(asked) : 0;
}
