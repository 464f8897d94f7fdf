/** A budget of questions: people who are asked too often say yes to everything. */

import { type EntryPatch, limitAsking, type Refusal, type ToolCall } from '../layer.ts';
import { memoryCounters } from '../stores/index.ts';
import { counterKey, type LimitScope, scopeOf } from './counted-calls.ts';

/** The call under the budget, and what to say about it afterwards. */
export interface LimitedQuestions {
  readonly call: ToolCall;
  readonly line: () => EntryPatch;
}

/**
 * Counts one for each question that is about to be put, whatever becomes of it. Counted in memory
 * and at once: whoever asks does not wait for a store, and two questions at a time cannot both be
 * the last one.
 */
export function limitQuestions(
  max: number,
  scope: LimitScope,
): (call: ToolCall) => LimitedQuestions {
  const counters = memoryCounters();
  return (call) => {
    let asked: EntryPatch = {};
    const guard = (about: ToolCall): Refusal | null => {
      // A call that the tool makes itself comes through the stack with a guard of its own, and
      // brings this one along.
      if (about.callId !== call.callId) return null;
      const key = counterKey(['callLimit', 'prompts', max, ...scopeOf(call, scope)]);
      const { admitted, count } = counters.take(key, {
        max,
        windowMs: null,
        now: 0,
        owner: call.turn.sessionId,
      });
      asked = { prompts: count, maxPrompts: max };
      return admitted ? null : enough(call, max, scope);
    };
    return { call: limitAsking(call, guard), line: () => asked };
  };
}

const enough = ({ toolName }: ToolCall, max: number, scope: LimitScope): Refusal => ({
  status: 'limit_exceeded',
  message: `${toolName} needs an approval, and in this ${scope} people are asked no more than ${max} times. Go on without it, or finish with what you have.`,
  blockedBy: 'callLimit',
});
