/** Approvals of one process, gone with it. */

import { type Clock, systemClock } from '../../core/time/clock.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import type { Approval, ApprovalStore } from './approval.ts';
import { approvalRoom, DEFAULT_MAX_APPROVALS } from './approval-room.ts';
import { checkedApproval, idTaken } from './approval-schema.ts';

/** How many approvals `memoryApprovals` keeps. */
export interface MemoryApprovalsOptions {
  /**
   * How many approvals are kept. Those that have ended or expired make room first; a session that
   * holds as many as it leaves free cannot add another one. @default 1000
   */
  readonly maxApprovals?: number;
  /** What expiry is judged by. @default the system's */
  readonly clock?: Clock;
}

/**
 * Keeps approvals in this process only: no other process can answer them, and pending ones are gone
 * when the process ends. Where many sessions fill it, the one with the most open questions loses
 * the oldest: that call cannot be resumed any more.
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
      if (approvals.has(approval.id)) throw idTaken('memoryApprovals');
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
