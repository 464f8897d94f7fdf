/** The port that keeps approvals. A shared database can stand behind it as well as a folder. */

import type { Awaitable } from '../../stores/claim-store.ts';
import type { Approval, ApprovalRoute } from './approval.ts';

export interface ApprovalFilter {
  /** Also those that have ended. @default false */
  readonly ended?: boolean;
}

/**
 * Knows nothing of the rules: it keeps approvals, and of two changes of the same revision it takes one. In SQL that is `UPDATE … SET
 * body = …, revision = revision + 1 WHERE id = … AND revision = …`. A store that fails throws; whoever asked lets nothing run.
 */
export interface ApprovalStore {
  /** Throws when there is an approval of that id, or when what is given is none. */
  add(approval: Approval): Awaitable<void>;
  get(id: string): Awaitable<Approval | null>;
  /** Oldest first. */
  list(filter?: ApprovalFilter): Awaitable<readonly Approval[]>;
  /** Puts this in the place of the revision before it. `false` where that is no longer there: somebody was faster. */
  replace(approval: Approval): Awaitable<boolean>;
}

/** The same store with another way to add an approval, which ends with the store's own `add`. */
export const withAdd = (store: ApprovalStore, add: ApprovalStore['add']): ApprovalStore =>
  Object.freeze<ApprovalStore>({
    add,
    get: (id) => store.get(id),
    list: (filter) => store.list(filter),
    replace: (approval) => store.replace(approval),
  });

/** The same store, whose approvals say how their calls are taken up. */
export const withRoute = (store: ApprovalStore, route: ApprovalRoute): ApprovalStore =>
  withAdd(store, (approval) => store.add(Object.freeze({ ...approval, route })));
