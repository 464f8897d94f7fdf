/** Answering an approval: the first answer counts, and a second one throws. */

import { waitWithin } from '../../core/time/abort.ts';
import { type Clock, isoTime, systemClock } from '../../core/time/clock.ts';
import { AlliumError, oneLine } from '../../core/contract/errors.ts';
import { snapshot } from '../../core/json/json.ts';
import type { Approval, ApprovalReply, ApprovalState, ApprovalStore } from './approval.ts';
import { approvalState, withReply } from './approval-rules.ts';
import { isApproval } from './approval-schema.ts';
import { isYes, readAnswer } from '../read-answer.ts';

/**
 * How often a change is tried again that somebody else's change came before. Each try means that
 * one of theirs got through.
 */
const MAX_TRIES = 100;

/**
 * What a change makes of an approval as it is; throws what the caller is told where there is
 * nothing to change.
 */
export type ApprovalChange = (approval: Approval, state: ApprovalState) => Approval;

/**
 * Reads, decides and replaces until nobody was faster. Answers the approval before and after. What
 * a store answers with is read like what a file holds: it may be half an approval, or another one.
 * Rejects with the signal's reason where a store keeps somebody waiting who left.
 */
export async function changeApproval(
  store: ApprovalStore,
  id: string,
  clock: Clock,
  change: ApprovalChange,
  signal?: AbortSignal,
): Promise<{ readonly before: Approval; readonly after: Approval }> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const found: unknown = await waitWithin(signal, () => store.get(id));
    if (found === null)
      throw new AlliumError('ERR_UNKNOWN_APPROVAL', `there is no approval "${oneLine(id)}"`);
    const before = readApproval(found, id);
    const after = change(before, approvalState(before, clock.now()));
    const isDone: unknown = await waitWithin(signal, () => store.replace(after));
    // A store that does not say so has not done it.
    if (isDone === true) return { before, after };
  }
  throw new AlliumError(
    'ERR_APPROVALS_UNAVAILABLE',
    `approval "${oneLine(id)}" could not be changed: it changes all the time`,
  );
}

function readApproval(found: unknown, id: string): Approval {
  try {
    const copy: unknown = snapshot(found);
    if (isApproval(copy) && copy.id === id) return copy;
  } catch {
    // What is not JSON is no approval either.
  }
  throw new AlliumError(
    'ERR_APPROVALS_UNAVAILABLE',
    `the store answered with something that is not approval "${oneLine(id)}"`,
  );
}

/** Reads a person's decision, or throws `ERR_INVALID_DECISION`: the approval stays pending. */
export function readReply(decision: unknown, now: number): ApprovalReply {
  const answer = readAnswer(decision);
  if (answer === null)
    throw new AlliumError(
      'ERR_INVALID_DECISION',
      'a decision is { decision, decidedBy?, reason?, args?, result? }, with "allow_once", "allow_always", "reject_once" or "reject_always", and args or a result only where it allows',
    );
  const { decidedBy = 'host', reason, ...rest } = answer;
  return Object.freeze({
    ...rest,
    decidedBy: oneLine(decidedBy),
    decidedAt: isoTime(now),
    ...(reason === undefined ? {} : { reason: oneLine(reason) }),
  });
}

/** What a second answer to one approval is refused with. */
export const alreadyResolved = (id: string): AlliumError =>
  new AlliumError('ERR_APPROVAL_RESOLVED', `approval "${oneLine(id)}" was answered before`);

/**
 * Throws where the approval can no longer be answered so: it was answered, or a yes comes too late.
 * A late no is kept.
 */
export function demandOpen(
  { id, reply, expiresAt }: Approval,
  state: ApprovalState,
  decision: string,
): void {
  if (reply !== null || (state !== 'pending' && state !== 'expired')) throw alreadyResolved(id);
  if (state === 'expired' && isYes(decision))
    throw new AlliumError(
      'ERR_APPROVAL_EXPIRED',
      `approval "${oneLine(id)}" expired at ${expiresAt ?? ''}`,
    );
}

/**
 * Writes an answer down, for a host elsewhere that takes the call up with `resume(id)`. It runs
 * nothing. Throws `ERR_APPROVAL_RESOLVED` where there is an answer already, and
 * `ERR_APPROVAL_EXPIRED` for a yes that comes too late; a late no is kept.
 */
export async function answerApproval(
  store: ApprovalStore,
  id: string,
  decision: object,
  { clock = systemClock }: { readonly clock?: Clock } = {},
): Promise<Approval> {
  const reply = readReply(decision, clock.now());
  const { after } = await changeApproval(store, id, clock, (approval, state) => {
    demandOpen(approval, state, reply.decision);
    return withReply(approval, reply);
  });
  return after;
}
