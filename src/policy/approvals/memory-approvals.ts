/** Approvals of one process, gone with it. */

import { type Clock, systemClock } from '../../core/clock.ts';
import { AlliumError } from '../../core/errors.ts';
import { checkOptions, expected } from '../../core/options.ts';
import type { Approval } from './approval.ts';
import { approvalRoom, DEFAULT_MAX_APPROVALS } from './approval-room.ts';
import type { ApprovalStore } from './approval-store.ts';
import { checkedApproval } from './check-approval.ts';

export interface MemoryApprovalsOptions {
  /**
   * How many approvals are kept. Those that have ended or expired make room first; a session that holds as many as it leaves free
   * cannot add another one. @default 1000
   */
  readonly maxApprovals?: number;
  /** What expiry is judged by. @default the system's */
  readonly clock?: Clock;
}

/**
 * Keeps approvals in this process only: nobody else can answer them, and what waits is gone when the process ends. Where many sessions
 * fill it, the one with the most open questions loses the oldest: that call cannot be taken up any more.
 */
export function memoryApprovals(options: MemoryApprovalsOptions = {}): ApprovalStore {
  checkOptions('memoryApprovals', options, {
    maxApprovals: expected.integer(1),
    clock: expected.object,
  });
  const { maxApprovals = DEFAULT_MAX_APPROVALS, clock = systemClock } = options;
  const approvals = new Map<string, Approval>();
  const room = approvalRoom('memoryApprovals', maxApprovals);
  const keep = (approval: Approval): void => {
    approvals.set(approval.id, approval);
    room.put(approval);
  };
  return Object.freeze<ApprovalStore>({
    add(given) {
      const approval = checkedApproval('memoryApprovals', given);
      if (approvals.has(approval.id)) throw taken('memoryApprovals');
      for (const id of room.demand(approval, clock.now())) {
        approvals.delete(id);
        room.remove(id);
      }
      keep(approval);
    },
    get: (id) => approvals.get(id) ?? null,
    list: ({ ended = false } = {}) =>
      [...approvals.values()].filter((approval) => ended || approval.ended === null),
    replace(given) {
      const approval = checkedApproval('memoryApprovals', given);
      if (approvals.get(approval.id)?.revision !== approval.revision - 1) return false;
      keep(approval);
      return true;
    },
  });
}

export const taken = (owner: string): AlliumError =>
  new AlliumError('ERR_INVALID_OPTION', `${owner}: there is an approval of that id`, {
    layer: owner,
    option: 'id',
  });
