/** Somebody is asked about what a call is about to do. */

import { clockOf, createIdOf, type ToolCall } from '../../core/call.ts';
import { isoTime } from '../../core/clock.ts';
import { breached } from '../../core/gates.ts';
import type { ToolResult } from '../../core/result.ts';
import { approveEdited, supplyResult } from '../../core/terms.ts';
import { type ApprovalOutcome, type ApprovalSaid, askApproval } from '../approvals/ask-approval.ts';
import { decideWithin } from '../approvals/decision-window.ts';
import { editCall } from '../approvals/edit-call.ts';
import { fingerprintOf } from '../approvals/fingerprint.ts';
import type { Finding } from './finding.ts';
import type { PermissionRequest } from './permission.ts';
import { askingFailed, cancelledBefore, rejected, tooLate, waiting } from './permission-endings.ts';
import { shownRequests } from './proposals.ts';

/** Who approved what, for records. */
export interface Approved {
  readonly id: string;
  readonly decision: 'approved' | 'denied' | 'expired';
  readonly decidedBy: string;
  readonly decidedAt: string;
  readonly fingerprint: string;
  readonly reason?: string;
  /** Where the pass that ended with the question is recorded. */
  readonly receiptUri?: string;
}

export interface AskedPermission {
  /** What the executor may be entered with, or what the call came to. `null`: as it is. */
  readonly entered: ToolResult | ToolCall | null;
  readonly approval?: Approved;
}

/** Calls that a person put in the place of others: they are checked again, and not asked about again. */
const approvedCalls = new WeakSet<ToolCall>();
export const isApproved = (call: ToolCall): boolean => approvedCalls.has(call);

export async function askPermission(
  call: ToolCall,
  requests: readonly PermissionRequest[],
  finding: Finding,
  {
    policy,
    expiresMs: given,
  }: { readonly policy: string; readonly expiresMs: number | 'never' | undefined },
): Promise<AskedPermission> {
  const { toolName, toolArgs: args } = call;
  const startedAt = clockOf(call).now();
  const expiresMs = given === 'never' ? undefined : given;
  const ask = (signal: AbortSignal) =>
    askApproval(call, {
      ...{ gate: 'permissions', id: `approval_${createIdOf(call)()}`, policy, signal },
      kind: finding.code === 'auth_required' ? 'auth_required' : 'approval_required',
      shown: {
        toolName,
        args,
        requests: shownRequests(requests),
        ...(finding.reason === undefined ? {} : { reason: finding.reason }),
      },
      ...(expiresMs === undefined ? {} : { expiresAt: isoTime(startedAt + expiresMs) }),
      ...(given === 'never' ? { expiresAt: null } : {}),
    });
  const isApproval = (outcome: ApprovalOutcome) =>
    'said' in outcome && outcome.said.decision === 'approved';
  const decided = await decideWithin(call, expiresMs, ask, isApproval);
  if (decided.by === 'cancelled') return { entered: cancelledBefore(call) };
  if (decided.by === 'expired') return { entered: tooLate(call, finding) };
  if (decided.by === 'failure') return { entered: askingFailed(call, decided.cause, finding) };
  const outcome = decided.value;
  if ('refusal' in outcome) return { entered: breached(call, outcome.refusal) };
  if ('interruption' in outcome) return { entered: waiting(call, outcome.interruption, finding) };
  return {
    entered: enteredAfter(call, outcome.said, finding),
    approval: recordOf(call, outcome.said),
  };
}

/** What a person's answer makes of the call. Edited arguments pass every guard and gate again. */
function enteredAfter(
  call: ToolCall,
  said: ApprovalSaid,
  finding: Finding,
): ToolResult | ToolCall | null {
  if (said.decision === 'expired') return tooLate(call, finding);
  if (said.decision === 'denied') return rejected(call, said.reason, finding);
  if (said.supplied !== undefined) return approved(supplyResult(call, said.supplied));
  try {
    const edited = editCall(call, said.args, true);
    if ('result' in edited) return edited.result;
    return edited.call === call ? null : approved(approveEdited(call, edited.call));
  } catch (thrown) {
    return askingFailed(call, thrown, finding);
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
    ...{ id, decision, decidedBy: by, decidedAt: at, fingerprint: fingerprintOf(call) },
    ...(reason === undefined ? {} : { reason }),
    ...(earlier?.receiptUri === undefined ? {} : { receiptUri: earlier.receiptUri }),
  });
}
