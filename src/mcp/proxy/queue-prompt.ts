/**
 * The approval queue as a channel: a question that is open elsewhere, too, can be answered with
 * `allium approvals`.
 */

import type { JsonObject } from '../../core/json/json-value.ts';
import type { ApprovalAnswer, ApprovalPrompt, ApprovalQuestion } from '../../approvals/question.ts';
import { type Clock, isoTime } from '../../core/time/clock.ts';
import { snapshotObject } from '../../core/json/json.ts';
import type { Turn } from '../../core/contract/call.ts';
import type { Approval, ApprovalReply, ApprovalStore } from '../../approvals/store/approval.ts';
import { approvalState, endedWith, takenUp } from '../../approvals/store/approval-rules.ts';

export interface QueueParts {
  readonly store: ApprovalStore;
  readonly clock: Clock;
  /** How often the store is looked at. */
  readonly pollMs: number;
  /** How long a question stands in the queue at most. */
  readonly maxMs: number;
}

/**
 * Waits until somebody answers in the store, or the answer is no longer wanted. It is a copy of the
 * question, not the call: nobody can take the call up from it, and it is closed when the question
 * is.
 */
export function queuePrompt(
  { store, clock, pollMs, maxMs }: QueueParts,
  argsOf: (callId: string) => JsonObject | null,
): ApprovalPrompt {
  return async function queue(question) {
    const args = argsOf(question.callId);
    if (args === null) return null;
    let approval = recordOf(question, args, clock, maxMs);
    await store.add(approval);
    try {
      for (;;) {
        const found = await store.get(approval.id);
        if (found === null) return null;
        approval = found;
        if (found.reply !== null) return answerOf(found.reply);
        if (approvalState(found, clock.now()) !== 'pending') return null;
        await nextLook(clock, pollMs, question.signal);
      }
    } finally {
      await close(store, approval, clock).catch(() => {});
    }
  };
}

/**
 * The id of the copy in the queue. If no answer comes in time, the call itself waits under its own
 * id.
 */
export const queueIdOf = (id: string): string => `queue_${id}`;

function recordOf(
  question: ApprovalQuestion,
  args: JsonObject,
  clock: Clock,
  maxMs: number,
): Approval {
  const { id, toolName, callId, turn, fingerprint, shown, options, expiresAt } = question;
  const now = clock.now();
  return Object.freeze({
    ...{
      id: queueIdOf(id),
      kind: 'approval_required' as const,
      toolName,
      callId,
      fingerprint,
      shown,
      options,
      gate: 'queue',
      definition: fingerprint,
    },
    ...{
      policy: '',
      revision: 0,
      arguments: args,
      reply: null,
      taken: null,
      ended: null,
      earlier: [],
      trace: null,
      receiptUri: null,
    },
    turn: snapshotObject(turn) as unknown as Turn, // A copy of a turn is one.
    requestedAt: isoTime(now),
    expiresAt: expiresAt ?? isoTime(now + maxMs),
  });
}

const answerOf = ({
  decision,
  decidedBy,
  reason,
  args,
  supplied,
  anyArguments,
}: ApprovalReply): ApprovalAnswer => ({
  ...{ decision, decidedBy },
  ...(reason === undefined ? {} : { reason }),
  ...(anyArguments === undefined ? {} : { anyArguments }),
  ...(args === undefined ? {} : { args }),
  ...(supplied === undefined ? {} : { result: supplied.value }),
});

/** Rejects when the answer is no longer wanted. */
function nextLook(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel();
      reject(new Error('the answer is no longer wanted'));
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** Closes the copy, so that the queue shows no open question. */
async function close(store: ApprovalStore, approval: Approval, clock: Clock): Promise<void> {
  const now = clock.now();
  const closed = takenUp(approval, approval.reply, now);
  if (!(await store.replace(closed))) {
    // The store has a newer version: an answer came at the last moment.
    const newest = await store.get(approval.id);
    if (newest !== null && newest.taken === null) await close(store, newest, clock);
    return;
  }
  await store.replace(endedWith(closed, { status: 'decided', executed: 'unknown' }, now));
}
