/** What keeps the passes over one call in one trace, however long somebody thinks between them. */

import { stateOf } from './own-call.ts';
import type { ToolCall } from '../contract/call.ts';

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Says which span this pass over the call is, as a W3C `traceparent`. Where the call ends with a
 * question it is kept with it, and the pass that goes on carries it as `metadata.traceparent`. What
 * has not that form is ignored: a trace is nothing to fail for.
 */
export function traceWith(call: ToolCall, traceparent: string): void {
  if (TRACEPARENT.test(traceparent)) stateOf(call).trace = traceparent;
}

/**
 * How long somebody took to decide about a call that was taken up again. Codes and times; nothing
 * that a person wrote.
 */
export interface ApprovalWait {
  /** Of the approval. */
  readonly id: string;
  /** Who asked. */
  readonly gate: string;
  readonly decision: string;
  readonly requestedAt: string;
  readonly decidedAt: string;
}

/**
 * The wait that this pass over the call follows; `null` for a first one. To be asked on the way in:
 * gates use decisions up.
 */
export function approvalWaitOf(call: ToolCall): ApprovalWait | null {
  const last = stateOf(call).decisions.at(-1);
  if (last === undefined) return null;
  const { id, gate, decision, requestedAt, decidedAt } = last;
  return Object.freeze({ id, gate, decision, requestedAt, decidedAt });
}
