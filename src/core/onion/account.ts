/** What is known about a call besides its result: for layers that keep records. */

import { linkOf, type CallEnding } from './pass.ts';
import type { JsonObject } from '../json/json-value.ts';
import { snapshotObject } from '../json/json.ts';
import type { ToolResult } from '../contract/result.ts';
import { stateOf } from './own-call.ts';
import type { ToolCall } from '../contract/call.ts';

export interface CallAccount {
  /** The arguments that were approved; `null` where no approval was needed. */
  readonly approvedArgs: JsonObject | null;
  /** What the executor was entered with; `null` where it never was. */
  readonly executedArgs: JsonObject | null;
  /**
   * The layer that turned the call away; `null` where it ran, or where it came to a good end
   * without running.
   */
  readonly blockedBy: string | null;
}

export function accountOf(result: ToolResult): CallAccount {
  const { approvedArgs, executedArgs, blockedBy, executed } = linkOf(result).state;
  return {
    approvedArgs,
    executedArgs,
    blockedBy: result.ok || executed !== 'no' ? null : blockedBy,
  };
}

/** Gives a receipt to the listeners of the call: it rides on the `tool_call_audit` event. */
export function attachReceipt(result: ToolResult, receipt: object): ToolResult {
  linkOf(result).state.receipt = snapshotObject(receipt);
  return result;
}

export const receiptOf = (result: ToolResult): JsonObject | null => linkOf(result).state.receipt;

/**
 * Resolves to what the caller of the stack gets, cleaned and complete. A layer that waits for it
 * before it returns waits for itself: keep the promise and go on. Where a refusal is raised, it is
 * the refusal.
 */
export const whenEnded = (call: ToolCall): Promise<ToolResult> => endingOf(call).result;

/**
 * One per call, made when `whenEnded` is first called. A stack that runs inside a layer ends with
 * the call it belongs to.
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

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Says which span this pass over the call is, as a W3C `traceparent`. Where the call ends with a
 * question it is kept with it, and the pass that goes on carries it as `metadata.traceparent`. What
 * has not that form is ignored: a trace is nothing to fail for.
 */
export function traceWith(call: ToolCall, traceparent: string): void {
  if (TRACEPARENT.test(traceparent)) stateOf(call).trace = traceparent;
}
