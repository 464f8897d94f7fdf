/** The last calls of each run, by fingerprint. */

import { hash } from 'node:crypto';
import { clockOf, declaresParameter, hashCanonical, type ToolCall } from '../layer.ts';
import { fairTable } from '../stores/index.ts';
import { type LimitScope, scopeOf } from './counted-calls.ts';

export interface HistoryOptions {
  readonly per: LimitScope;
  readonly windowCalls: number;
  readonly windowMs: number | null;
  /** Names that are left out of the comparison; `null` for a reason that some layer asked for. */
  readonly ignore: readonly string[] | null;
}

export interface CallHistory {
  /**
   * Adds the call, and answers how many of the last ones were the same, this one included; `null`
   * for one that was let in before.
   */
  add(call: ToolCall): number | null;
}

interface Seen {
  readonly callId: string;
  readonly fingerprint: string;
  readonly at: number;
}

const MAX_RUNS = 2_000;

/**
 * Remembers so many runs, and of each so many calls. Of the session with most runs the one that was
 * idle longest is forgotten first: a run that is forgotten may repeat itself again, so one session
 * must not be able to push out those of another. Adds and counts in one step, so that calls at once
 * are told apart. Keeps hashes, never arguments.
 */
export function callHistory({ per, windowCalls, windowMs, ignore }: HistoryOptions): CallHistory {
  const runs = fairTable<Seen[]>();
  return {
    add(call) {
      const { turn, callId } = call;
      const now = clockOf(call).monotonic();
      const fingerprint = fingerprintOf(call, ignore);
      const run = JSON.stringify(scopeOf(call, per));
      const seen = runs.get(run) ?? [];
      // Taken up again after an interruption: it was counted when it first came.
      const isResumed =
        (turn.resumes ?? 0) > 0 &&
        seen.some((one) => one.callId === callId && one.fingerprint === fingerprint);
      if (isResumed) return null;
      seen.push({ callId, fingerprint, at: now });
      if (seen.length > windowCalls) seen.shift();
      runs.set(run, turn.sessionId, seen);
      const loser = runs.size > MAX_RUNS ? runs.loser() : null;
      if (loser !== null) runs.delete(loser.key);
      return seen.filter(
        (one) => one.fingerprint === fingerprint && (windowMs === null || now - one.at <= windowMs),
      ).length;
    },
  };
}

/** What two calls have in common that are the same. */
function fingerprintOf(
  { toolName, toolArgs, schema }: ToolCall,
  ignore: readonly string[] | null,
): string {
  const isLeftOut = (name: string): boolean =>
    // A tool's own reason says what to do; one that a layer asked for only says why.
    ignore === null
      ? name === 'reason' && !(schema !== null && declaresParameter(schema, name))
      : ignore.includes(name);
  const names = Object.keys(toolArgs);
  const args = names.some(isLeftOut)
    ? Object.fromEntries(Object.entries(toolArgs).filter(([name]) => !isLeftOut(name)))
    : toolArgs;
  return digestOf([toolName, args]);
}

/**
 * Half a surrogate pair has no canonical text. A call that holds one is compared as it was written,
 * and is no way around the guard.
 */
function digestOf(value: readonly unknown[]): string {
  try {
    return hashCanonical(value);
  } catch {
    return hash('sha256', JSON.stringify(value));
  }
}
