/** Which counter a call takes from, and which calls were counted. */

import { hash } from 'node:crypto';
import type { ToolCall } from '../../src/layer.ts';
import { memoryCounters } from '../../src/stores/index.ts';

/**
 * Whose count it is. Calls that name no run are counted by session: leaving the name out must not
 * lift the limit.
 */
export type LimitScope = 'run' | 'session';

/**
 * A key for a counter. Limits of another size have other counters, so that layers can share a
 * store.
 */
export function counterKey(
  { turn }: ToolCall,
  scope: LimitScope,
  parts: readonly unknown[],
): string {
  const owner =
    scope === 'run' && turn.runId !== undefined ? ['run', turn.runId] : ['session', turn.sessionId];
  return textOf(['callLimit', ...parts, ...owner]);
}

const MAX_KEY_LENGTH = 200;

function textOf(parts: readonly unknown[]): string {
  const text = JSON.stringify(parts);
  return text.length > MAX_KEY_LENGTH ? `sha256:${hash('sha256', text)}` : text;
}

export interface AdmittedCalls {
  add(call: ToolCall): void;
  /** Whether this is a call that was counted before it was interrupted. */
  hasCounted(call: ToolCall): boolean;
}

const MAX_REMEMBERED = 10_000;

/**
 * Calls that were counted, for when they are taken up again. One that was forgotten is counted
 * anew.
 */
export function admittedCalls(): AdmittedCalls {
  const seen = memoryCounters({ maxKeys: MAX_REMEMBERED });
  const take = ({ turn, callId }: ToolCall, max: number) =>
    seen.take(textOf([turn.sessionId, callId]), {
      max,
      windowMs: null,
      now: 0,
      owner: turn.sessionId,
    });
  return {
    add: (call) => void take(call, 1),
    // A counter that may admit nothing tells its count.
    hasCounted: (call) => (call.turn.resumes ?? 0) > 0 && take(call, 0).count > 0,
  };
}
