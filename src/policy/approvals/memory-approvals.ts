/** Approvals of one process, gone with it. */

import { AlliumError } from '../../core/errors.ts';
import { checkOptions, expected } from '../../core/options.ts';
import type { Approval } from './approval.ts';
import type { ApprovalStore } from './approval-store.ts';
import { checkedApproval } from './check-approval.ts';

export interface MemoryApprovalsOptions {
  /** How many approvals are kept. Those that have ended make room first, then the one that waits longest. @default 1000 */
  readonly maxApprovals?: number;
}

/**
 * Keeps approvals in this process only: nobody else can answer them, and what waits is gone when the process ends. A call that had to
 * make room cannot be taken up any more, so that a host that never resumes does not run out of it.
 */
export function memoryApprovals(options: MemoryApprovalsOptions = {}): ApprovalStore {
  checkOptions('memoryApprovals', options, { maxApprovals: expected.integer(1) });
  const { maxApprovals = 1000 } = options;
  const approvals = new Map<string, Approval>();
  const makeRoom = () => {
    for (const [id, { ended }] of approvals) if (approvals.size >= maxApprovals && ended !== null) approvals.delete(id);
    // Never one that was taken up: how it ends has to be noted, or nobody could tell whether it ran.
    for (const [id, { taken: by }] of approvals) if (approvals.size >= maxApprovals && by === null) approvals.delete(id);
    if (approvals.size >= maxApprovals) throw new Error('memoryApprovals: too many calls are under way; raise "maxApprovals"');
  };
  return Object.freeze<ApprovalStore>({
    add(given) {
      const approval = checkedApproval('memoryApprovals', given);
      if (approvals.has(approval.id)) throw taken('memoryApprovals');
      makeRoom();
      approvals.set(approval.id, approval);
    },
    get: (id) => approvals.get(id) ?? null,
    list: ({ ended = false } = {}) => [...approvals.values()].filter((approval) => ended || approval.ended === null),
    replace(given) {
      const approval = checkedApproval('memoryApprovals', given);
      if (approvals.get(approval.id)?.revision !== approval.revision - 1) return false;
      approvals.set(approval.id, approval);
      return true;
    },
  });
}

export const taken = (owner: string): AlliumError =>
  new AlliumError('ERR_INVALID_OPTION', `${owner}: there is an approval of that id`, { layer: owner, option: 'id' });
