/** What a call limit remembers: how much each run has used, and which calls were counted. */

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CounterStore, ToolCall } from '../../src/index.ts';

/** Whose count it is. Calls that name no run are counted by session: leaving the name out must not lift the limit. */
export type LimitScope = 'run' | 'session';

/** A key for a counter. Limits of another size have other counters, so that layers can share a store. */
export function counterKey({ turn }: ToolCall, scope: LimitScope, parts: readonly unknown[]): string {
  const owner = scope === 'run' && turn.runId !== undefined ? ['run', turn.runId] : ['session', turn.sessionId];
  return textOf(['callLimit', ...parts, ...owner]);
}

const MAX_KEY_LENGTH = 200;

function textOf(parts: readonly unknown[]): string {
  const text = JSON.stringify(parts);
  return text.length > MAX_KEY_LENGTH ? `sha256:${hash('sha256', text)}` : text;
}

const MAX_COUNTED = 100_000;

/**
 * Counters that never refill, in memory. Runs come and go without a word, so the one that was idle longest is forgotten first:
 * whoever could start so many others to be forgotten would have their allowances anyway.
 */
export function runCounters(): CounterStore & { readonly take: (key: string, request: { readonly max: number }) => SyncTaken } {
  const counts = new LRUCache<string, number>({ maxSize: MAX_COUNTED, sizeCalculation: () => 1 });
  return {
    take(key, { max }) {
      const count = counts.get(key) ?? 0;
      if (count >= max) return { admitted: false, count, retryAfterMs: null };
      counts.set(key, count + 1);
      return { admitted: true, count: count + 1, retryAfterMs: null };
    },
  };
}

/** Taken at once, without a promise. */
export interface SyncTaken {
  readonly admitted: boolean;
  readonly count: number;
  readonly retryAfterMs: null;
}

export interface AdmittedCalls {
  add(call: ToolCall): void;
  /** Whether this is a call that was counted before it was interrupted. */
  hasCounted(call: ToolCall): boolean;
}

const MAX_REMEMBERED = 10_000;

/** Calls that were counted, for when they are taken up again. One that was forgotten is counted anew. */
export function admittedCalls(): AdmittedCalls {
  const seen = new LRUCache<string, true>({ maxSize: MAX_REMEMBERED, sizeCalculation: () => 1 });
  const identity = ({ turn, callId }: ToolCall) => textOf([turn.sessionId, callId]);
  return {
    add: (call) => void seen.set(identity(call), true),
    hasCounted: (call) => (call.turn.resumes ?? 0) > 0 && seen.has(identity(call)),
  };
}
