/** Approvals that outlive a process and can be answered from another one on the same machine. */

import { createHash } from 'node:crypto';
import { type Clock, systemClock } from '../../core/clock.ts';
import { freezeParsed, type JsonValue } from '../../core/json.ts';
import { checkOptions, expected } from '../../core/options.ts';
import { recordFiles } from '../../stores/record-files.ts';
import { type KeptProblem, membersIn, readKept } from '../kept-records.ts';
import type { Approval } from './approval.ts';
import type { ApprovalStore } from './approval-store.ts';
import { checkedApproval, isApproval } from './check-approval.ts';
import { taken } from './memory-approvals.ts';

export interface FileApprovalsOptions {
  /** The folder to keep approvals in. Made with mode 0700; one that others can look into is refused. */
  readonly dir: string;
  /** Only for waiting until a lock is free, and for what `sweep` removes. @default the system's */
  readonly clock?: Clock;
}

/** A file that is no approval, or that cannot be read. What it stood for cannot be taken up. */
export type ApprovalProblem = KeptProblem;

export interface FileApprovals extends ApprovalStore {
  /** What `list` leaves out. */
  problems(): Promise<readonly ApprovalProblem[]>;
  /** Removes approvals that ended more than `olderThanMs` ago; answers how many. */
  sweep(olderThanMs: number): Promise<number>;
}

const DRAFT_AGE_MS = 3_600_000;
const SUFFIX = '.approval';

/**
 * One file an approval, 0600, named by a hash of its id. It holds the call's arguments until the call is taken up. Whoever can write to
 * the folder can approve: keep it away from the tools of an agent.
 */
export function fileApprovals(options: FileApprovalsOptions): FileApprovals {
  checkOptions('fileApprovals', options, { dir: expected.required(expected.string), clock: expected.object });
  const { dir, clock = systemClock } = options;
  const files = recordFiles<Approval>({ owner: 'fileApprovals', dir, suffix: SUFFIX, clock, parse: parsed });
  const all = async () => (await readKept(files, dir)).records.toSorted(byAge);

  return Object.freeze<FileApprovals>({
    async add(given) {
      const approval = checkedApproval('fileApprovals', given);
      if (!(await files.create(fileName(approval.id), approval))) throw taken('fileApprovals');
    },
    get: (id) => files.read(fileName(id)),
    async list({ ended = false } = {}) {
      return (await all()).filter((approval) => ended || approval.ended === null);
    },
    replace(given) {
      const approval = checkedApproval('fileApprovals', given);
      return files.change(fileName(approval.id), (before) => (before.revision === approval.revision - 1 ? approval : null));
    },
    problems: async () => (await readKept(files, dir)).problems,
    async sweep(olderThanMs) {
      const before = clock.now() - olderThanMs;
      let removed = 0;
      for (const { id, ended } of await all()) {
        if (ended === null || Date.parse(ended.at) >= before) continue;
        if (await files.change(fileName(id), () => 'remove')) removed += 1;
      }
      await files.removeDrafts(clock.now() - DRAFT_AGE_MS);
      return removed;
    },
  });
}

const byAge = (a: Approval, b: Approval): number =>
  a.requestedAt === b.requestedAt ? (a.id < b.id ? -1 : 1) : a.requestedAt < b.requestedAt ? -1 : 1;

const fileName = (id: string): string => `${createHash('sha256').update(id).digest('hex').slice(0, 32)}${SUFFIX}`;

/** An approval under another name would be a second one with an answer of its own. */
function parsed(text: string, name: string): Approval {
  const { version, ...approval } = membersIn(text);
  if (version !== 1 || !isApproval(approval) || fileName(approval.id) !== name)
    throw new Error('fileApprovals: a file of the folder is no approval');
  // What was parsed and judged to be an approval is JSON.
  return freezeParsed(approval as unknown as JsonValue) as unknown as Approval;
}
