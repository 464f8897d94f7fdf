/** Asks a person about what a call is about to do. */

import { approveEdited, supplyResult } from '../core/onion/conditions.ts';
import { clockOf, createIdOf } from '../core/onion/own-call.ts';
import type { ToolCall } from '../core/contract/call.ts';
import { isoTime } from '../core/time/clock.ts';
import { cancelled } from '../core/onion/frame.ts';
import { breached } from '../core/onion/gates.ts';
import type { ApprovalRecord, ToolResult } from '../core/contract/result.ts';
import { type ApprovalAsk, type ApprovalSaid, askApproval } from '../approvals/ask-approval.ts';
import { decideWithin } from '../approvals/decision-window.ts';
import { editCall } from '../approvals/edit-call.ts';
import { fingerprintOf } from '../approvals/fingerprint.ts';
import { askingFailed, interrupt, notApproved, unanswered } from '../approvals/refusals.ts';
import type { Finding } from './finding.ts';
import type { PermissionRequest } from './permission.ts';
import { blamed } from './refusals.ts';
import { shownRequests } from './proposals.ts';

/** Who approved what, for records. */
export interface Approved extends ApprovalRecord {
  readonly decision: ApprovalSaid['decision'];
  /** Where the pass that ended with the question is recorded. */
  readonly receiptUri?: string;
}

/** Under which rules, and until when, a person is asked. */
interface AskingLimits {
  /** Digest of the rules that made the check ask. */
  readonly policy: string;
  readonly expiresMs: number | 'never' | undefined;
}

/** What asking came to. */
interface AskedPermission {
  /** What the executor may be entered with, or what the call came to. `null`: as it is. */
  readonly entered: ToolResult | ToolCall | null;
  readonly approval?: Approved;
}

/**
 * Calls that a person put in the place of others: they are checked again, and not asked about
 * again.
 */
const approvedCalls = new WeakSet<ToolCall>();

/** Whether a person put this call in the place of the one they were asked about. */
export const isApproved = (call: ToolCall): boolean => approvedCalls.has(call);

/**
 * Asks a person about a call that the checkers did not decide. Whatever keeps it from running is
 * blamed on the owner of the rules that wanted it asked, except that its caller left it.
 */
export async function askPermission(
  call: ToolCall,
  requests: readonly PermissionRequest[],
  finding: Finding,
  limits: AskingLimits,
): Promise<AskedPermission> {
  const blame = (result: ToolResult) => ({ entered: blamed(call, finding, result) });
  const expiresMs = limits.expiresMs === 'never' ? undefined : limits.expiresMs;
  const decided = await decideWithin(
    call,
    expiresMs,
    (signal) => askApproval(call, { ...questionAbout(call, requests, finding, limits), signal }),
    (outcome) => 'said' in outcome && outcome.said.decision === 'approved',
  );
  if (decided.by === 'cancelled') return { entered: cancelled(call) };
  if (decided.by === 'expired') return blame(unanswered(call));
  if (decided.by === 'failure') return blame(askingFailed(call, decided.cause));
  const outcome = decided.value;
  if ('refusal' in outcome) return { entered: breached(call, outcome.refusal) };
  if ('interruption' in outcome) return blame(interrupt(call, outcome.interruption));
  return {
    entered: enteredAfter(call, outcome.said, finding),
    approval: recordOf(call, outcome.said),
  };
}

function questionAbout(
  call: ToolCall,
  requests: readonly PermissionRequest[],
  { code, reason }: Finding,
  { policy, expiresMs }: AskingLimits,
): Omit<ApprovalAsk, 'signal'> {
  const { toolName, toolArgs: args } = call;
  const shown = { toolName, args, requests: shownRequests(requests) };
  const question = {
    gate: 'permissions',
    id: `approval_${createIdOf(call)()}`,
    policy,
    kind: code === 'auth_required' ? 'auth_required' : 'approval_required',
    shown: reason === undefined ? shown : { ...shown, reason },
  } as const;
  if (expiresMs === undefined) return question;
  if (expiresMs === 'never') return { ...question, expiresAt: null };
  return { ...question, expiresAt: isoTime(clockOf(call).now() + expiresMs) };
}

/** What a person's answer makes of the call. Edited arguments pass every guard and gate again. */
function enteredAfter(
  call: ToolCall,
  said: ApprovalSaid,
  finding: Finding,
): ToolResult | ToolCall | null {
  if (said.decision === 'expired') return blamed(call, finding, unanswered(call));
  if (said.decision === 'denied') return blamed(call, finding, notApproved(call, said.reason));
  if (said.supplied !== undefined) return approved(supplyResult(call, said.supplied));
  try {
    const edited = editCall(call, said.args, true);
    if ('result' in edited) return edited.result;
    return edited.call === call ? null : approved(approveEdited(call, edited.call));
  } catch (thrown) {
    return blamed(call, finding, askingFailed(call, thrown));
  }
}

function approved(call: ToolCall): ToolCall {
  approvedCalls.add(call);
  return call;
}

function recordOf(
  call: ToolCall,
  { id, decision, by, at, reason, earlier }: ApprovalSaid,
): Approved {
  return Object.freeze({
    id,
    decision,
    decidedBy: by,
    decidedAt: at,
    fingerprint: fingerprintOf(call),
    ...(reason === undefined ? {} : { reason }),
    ...(earlier?.receiptUri === undefined ? {} : { receiptUri: earlier.receiptUri }),
  });
}
