/** Approvals to try stores on, and stores that make the mistake that the tests must find. */

import { testClock } from '../../conformance/index.ts';
import { isoTime } from '../core/time/clock.ts';
import { isAlliumError } from '../core/contract/errors.ts';
import type { Approval, ApprovalReply, ApprovalStore } from './store/approval.ts';

export const MINUTE_MS = 60_000;
const NOW = isoTime(testClock().now());

export const REPLY: ApprovalReply = Object.freeze({
  decision: 'allow_once',
  decidedBy: 'ada',
  decidedAt: NOW,
});

let made = 0;

/** An approval that waits, since the beginning of a test clock. */
export function approvalOf(changes: Partial<Approval> = {}): Approval {
  made += 1;
  return Object.freeze<Approval>({
    ...{
      id: `approval_${made}`,
      revision: 0,
      kind: 'approval_required',
      toolName: 'pay',
      callId: 'call-1',
    },
    turn: { iteration: 1, sessionId: 'session-1' },
    arguments: { to: 'bob', amount: 5 },
    ...{ gate: 'consent', fingerprint: 'sha256:f', definition: 'sha256:d', policy: '' },
    shown: { toolName: 'pay', args: { to: 'bob', amount: 5 } },
    options: ['allow_once', 'reject_once'],
    ...{
      requestedAt: NOW,
      expiresAt: null,
      earlier: [],
      trace: null,
      receiptUri: null,
      reply: null,
      taken: null,
      ended: null,
    },
    ...changes,
  });
}

/** A store that reads and then writes, and believes that nobody came between. */
export function naiveApprovals(approvals: ApprovalStore): ApprovalStore {
  const kept = new Map<string, Approval>();
  return {
    ...approvals,
    add: (approval) => void kept.set(approval.id, approval),
    get: async (id) => kept.get(id) ?? null,
    replace: async (approval) => {
      kept.set(approval.id, approval);
      return true;
    },
  };
}

/** What came of a promise: `'done'`, or the code of what it threw. */
export const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'done',
    (thrown: unknown) => (isAlliumError(thrown) ? thrown.code : String(thrown)),
  );
