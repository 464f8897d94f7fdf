/** The time a person took to decide about a call, between two passes over it. */

import { type ApprovalWait, approvalWaitOf, type ToolCall } from '../../src/index.ts';
import { clip, MAX_NAME } from './text.ts';

/** Wall-clock milliseconds since 1970, of two machines perhaps. */
export interface HumanWait extends ApprovalWait {
  readonly startMs: number;
  readonly endMs: number;
}

export const WAIT_SPAN = 'allium.approval_wait';

/** `null` for a first pass, and where the times are not known. */
export function humanWaitOf(call: ToolCall): HumanWait | null {
  // Asked for every call: only those that were taken up again have more to tell.
  const wait = call.turn.resumes === undefined ? null : approvalWaitOf(call);
  if (wait === null) return null;
  const [startMs, decidedMs] = [Date.parse(wait.requestedAt), Date.parse(wait.decidedAt)];
  if (!Number.isFinite(startMs) || !Number.isFinite(decidedMs)) return null;
  // The clocks of two machines may differ by more than somebody thought.
  return { ...wait, startMs, endMs: Math.max(startMs, decidedMs) };
}

/** Codes and ids: not who decided, and not why. */
export const waitAttributes = ({ id, gate, decision }: HumanWait): Record<string, string> => ({
  'allium.approval.id': clip(id, MAX_NAME),
  'allium.approval.gate': clip(gate, MAX_NAME),
  'allium.approval.decision': clip(decision, MAX_NAME),
});
