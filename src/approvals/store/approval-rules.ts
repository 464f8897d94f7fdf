/**
 * The rules every approval goes by, whoever keeps it. Each answers with the approval as it is
 * afterwards; none waits.
 */

import { isoTime } from '../../core/time/clock.ts';
import type { EarlierDecision } from '../consultation.ts';
import { ownerHere, ownerLives } from '../../system/process-owner.ts';
import type { Approval, ApprovalCode, ApprovalReply, ApprovalState } from './approval.ts';

/** Where an approval stands; `lost` where the process that took its call up has died. */
export function approvalState(approval: Approval, now: number): ApprovalState {
  const { ended, taken, reply, expiresAt } = approval;
  if (ended !== null) return 'ended';
  if (taken !== null) return ownerLives(taken.owner) ? 'taken' : 'lost';
  if (expiresAt !== null && now >= Date.parse(expiresAt)) return 'expired';
  return reply === null ? 'pending' : 'answered';
}

const changed = (approval: Approval, changes: Partial<Approval>): Approval =>
  Object.freeze({ ...approval, ...changes, revision: approval.revision + 1 });

/** Without the code: what was answered cannot be answered with it again. */
function withoutCode(approval: Approval): Approval {
  const { code: _code, ...rest } = approval;
  return rest;
}

/** With a person's answer. */
export const withReply = (approval: Approval, reply: ApprovalReply): Approval =>
  changed(withoutCode(approval), { reply });

/** With one comparison of a code more. */
export const withTry = (approval: Approval, { hash, tries }: ApprovalCode): Approval =>
  changed(approval, { code: Object.freeze({ hash, tries: tries + 1 }) });

/**
 * Resumed by this process: from here on no other one may, and the arguments are not kept any more.
 */
export const takenUp = (approval: Approval, reply: ApprovalReply | null, now: number): Approval =>
  changed(withoutCode(approval), {
    taken: Object.freeze({ at: isoTime(now), owner: ownerHere() }),
    arguments: null,
    shown: null,
    earlier: approval.earlier.map(withoutContent),
    reply: reply === null ? null : withoutContent(reply),
  });

/** Arguments and results that a person wrote are as private as the model's. */
function withoutContent<T extends EarlierDecision | ApprovalReply>(decision: T): T {
  const { args: _args, supplied: _supplied, ...rest } = decision;
  return Object.freeze(rest) as T; // Both members are optional.
}

/** The approval after its call has run, or was turned away. */
export const endedWith = (
  approval: Approval,
  ending: { status: string; executed: string },
  now: number,
): Approval => changed(approval, { ended: Object.freeze({ at: isoTime(now), ...ending }) });

/**
 * What a gate finds when the call is taken up: who decided what about which call. Made before the
 * contents are dropped.
 */
export function decisionOf(
  approval: Approval,
  reply: ApprovalReply | null,
  now: number,
): EarlierDecision {
  const { id, gate, fingerprint, definition, policy, requestedAt, receiptUri } = approval;
  const of = {
    id,
    gate,
    fingerprint,
    definition,
    policy,
    requestedAt,
    ...(receiptUri === null ? {} : { receiptUri }),
  };
  const nobody = { decidedBy: 'approvals', decidedAt: isoTime(now) };
  // A late no is a no; a late yes is none.
  const isLate =
    approvalState(approval, now) === 'expired' &&
    !(reply?.decision === 'reject_once' || reply?.decision === 'reject_always');
  return Object.freeze(
    reply === null || isLate ? { ...of, ...nobody, decision: 'expired' } : { ...of, ...reply },
  );
}
