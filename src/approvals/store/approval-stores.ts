/**
 * Where approvals are kept: in a folder, to be answered from other processes too, or in this
 * process only.
 */

import { type Clock, systemClock } from '../../core/time/clock.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import {
  nameHash,
  type RecordFiles,
  recordFiles,
  type RecordProblem,
} from '../../system/record-files.ts';
import type { Approval, ApprovalStore } from './approval.ts';
import { type ApprovalRoom, approvalRoom, DEFAULT_MAX_APPROVALS } from './approval-room.ts';
import { checkedApproval, idTaken, isApproval } from './approval-schema.ts';

/** Where `fileApprovals` keeps approvals, and how many. */
export interface FileApprovalsOptions {
  /**
   * The folder to keep approvals in. Made with mode 0700; one that others can look into is refused.
   */
  readonly dir: string;
  /**
   * For what has expired, what `sweep` removes, and waiting until a lock is free. @default the
   * system's
   */
  readonly clock?: Clock;
  /**
   * How many approvals the folder keeps, about: other processes add to it, too. Those that have
   * ended or expired make room first; a session that holds as many as it leaves free cannot add
   * another one. @default 1000
   */
  readonly maxApprovals?: number;
}

/** A file that is no approval, or that cannot be read. Its call cannot be resumed. */
export type ApprovalProblem = RecordProblem;

/** An `ApprovalStore` in a folder. */
export interface FileApprovals extends ApprovalStore {
  /** What `list` leaves out. */
  problems(): Promise<readonly ApprovalProblem[]>;
  /** Removes approvals that ended more than `olderThanMs` ago; answers how many. */
  sweep(olderThanMs: number): Promise<number>;
}

const SUFFIX = '.approval';

/**
 * One file an approval, 0600, named by a hash of its id. It holds the call's arguments until the
 * call is resumed. To write to the folder is to approve: keep it away from the tools of an agent.
 */
export function fileApprovals(options: FileApprovalsOptions): FileApprovals {
  checkOptions('fileApprovals', options, {
    dir: expected.required(expected.string),
    clock: expected.object,
    maxApprovals: expected.integer(1),
  });
  const { dir, clock = systemClock, maxApprovals = DEFAULT_MAX_APPROVALS } = options;
  const files = recordFiles({ owner: 'fileApprovals', dir, suffix: SUFFIX, clock, judge: judged });
  const all = async () => (await files.readAll()).records.toSorted(byAge);
  const kept = latest(
    clock,
    () => files.list(),
    all,
    () => approvalRoom('fileApprovals', maxApprovals),
  );
  let adding: Promise<void> = Promise.resolve();
  const makeRoom = async (approval: Approval): Promise<void> => {
    // A folder that is not half full has room for any session, and need not be read.
    if ((await kept.count()) * 2 < maxApprovals) return;
    const { room, approvals } = await kept.read();
    for (const id of room.demand(approval, clock.now())) {
      const revision = approvals.get(id)?.revision;
      // An approval that changed meanwhile was answered or resumed, and stays.
      await files.change(fileName(id), (current) =>
        current.revision === revision ? 'remove' : null,
      );
      kept.drop(id);
    }
  };

  return Object.freeze<FileApprovals>({
    add(given) {
      const approval = checkedApproval('fileApprovals', given);
      // One after another: many at once would all see the same room.
      const added = adding.then(async () => {
        await makeRoom(approval);
        if (!(await files.create(fileName(approval.id), approval))) throw idTaken('fileApprovals');
        kept.add(approval);
      });
      adding = added.catch(() => {});
      return added;
    },
    get: (id) => files.read(fileName(id)),
    async list({ ended = false } = {}) {
      return (await all()).filter((approval) => ended || approval.ended === null);
    },
    replace(given) {
      const approval = checkedApproval('fileApprovals', given);
      return files.change(fileName(approval.id), (before) =>
        before.revision === approval.revision - 1 ? approval : null,
      );
    },
    problems: async () => (await files.readAll()).problems,
    async sweep(olderThanMs) {
      const removed = await removeEnded(files, await all(), clock.now() - olderThanMs);
      await files.removeDrafts();
      return removed;
    },
  });
}

async function removeEnded(
  files: RecordFiles<Approval>,
  approvals: readonly Approval[],
  before: number,
): Promise<number> {
  let removed = 0;
  for (const { id, ended } of approvals) {
    if (ended === null || Date.parse(ended.at) >= before) continue;
    if (await files.change(fileName(id), () => 'remove')) removed += 1;
  }
  return removed;
}

interface Seen {
  readonly approvals: ReadonlyMap<string, Approval>;
  readonly room: ApprovalRoom;
}

interface Latest {
  /** How many files there are. */
  count(): Promise<number>;
  read(): Promise<Seen>;
  add(approval: Approval): void;
  drop(id: string): void;
}

const FRESH_MS = 1000;

/**
 * What the folder held a moment ago, with what was added since: a flood of questions must not
 * become a flood of reading.
 */
function latest(
  clock: Clock,
  list: () => Promise<readonly string[]>,
  readAll: () => Promise<readonly Approval[]>,
  createRoom: () => ApprovalRoom,
): Latest {
  let approvals = new Map<string, Approval>();
  let room = createRoom();
  let count = 0;
  let countedUntil = Number.NEGATIVE_INFINITY;
  let readUntil = Number.NEGATIVE_INFINITY;
  return {
    async count() {
      if (clock.monotonic() >= countedUntil) {
        count = (await list()).length;
        countedUntil = clock.monotonic() + FRESH_MS;
      }
      return count;
    },
    async read() {
      if (clock.monotonic() >= readUntil) {
        const found = await readAll();
        approvals = new Map(found.map((approval) => [approval.id, approval]));
        room = createRoom();
        for (const approval of found) room.put(approval);
        readUntil = clock.monotonic() + FRESH_MS;
      }
      return { approvals, room };
    },
    add(approval) {
      approvals.set(approval.id, approval);
      room.put(approval);
      count += 1;
    },
    drop(id) {
      approvals.delete(id);
      room.remove(id);
      count -= 1;
    },
  };
}

function byAge(a: Approval, b: Approval): number {
  const first = a.requestedAt === b.requestedAt ? a.id < b.id : a.requestedAt < b.requestedAt;
  return first ? -1 : 1;
}

const fileName = (id: string): string => `${nameHash(id)}${SUFFIX}`;

/** An approval under another name would be a second one with an answer of its own. */
function judged(members: Readonly<Record<string, unknown>>, name: string): Approval {
  if (isApproval(members) && fileName(members.id) === name) return members;
  throw new Error('fileApprovals: a file of the folder is no approval');
}

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
