/**
 * The result a call ends with, for layers inside that must not speak before every layer outside has
 * had its say.
 */

import type { CallEnding } from './pass.ts';
import { stateOf } from './own-call.ts';
import type { ToolCall } from '../contract/call.ts';
import type { ToolResult } from '../contract/result.ts';

/**
 * Resolves to what the caller of the stack gets, cleaned and complete. A layer that waits for it
 * before it returns waits for itself: keep the promise and go on. Where a refusal is raised, it is
 * the refusal.
 */
export const whenEnded = (call: ToolCall): Promise<ToolResult> => endingOf(call).result;

/**
 * One per call, made when somebody asks. A stack that runs inside a layer ends with the call it
 * belongs to.
 */
export function endingOf(call: ToolCall): CallEnding {
  const state = stateOf(call);
  return (state.ending ??= createEnding());
}

function createEnding(): CallEnding {
  let settle: CallEnding['settle'] = () => {};
  const result = new Promise<ToolResult>((resolve) => {
    settle = resolve;
  });
  return { result, settle };
}
