/** Approvals that outlive a process and can be answered from another one on the same machine. */

import { createHash } from 'node:crypto';
import { type Clock, systemClock } from '../../core/clock.ts';
import { freezeParsed, type JsonValue } from '../../core/json.ts';
import { checkOptions, expected } from '../../core/options.ts';
import { recordFiles } from '../../stores/record-files.ts';
import { type KeptProblem, membersIn, readKept } from '../kept-records.ts';
import type { Approval } from './approval.ts';
import { type ApprovalRoom, approvalRoom, DEFAULT_MAX_APPROVALS } from './approval-room.ts';
import type { ApprovalStore } from './approval-store.ts';
import { checkedApproval, isApproval } from './check-approval.ts';
import { taken } from './memory-approvals.ts';

export interface FileApprovalsOptions {
  /** The folder to keep approvals in. Made with mode 0700; one that others can look into is refused. */
  readonly dir: string;
  /** For what has expired, what `sweep` removes, and waiting until a lock is free. @default the system's */
  readonly clock?: Clock;
  /**
   * How many approvals the folder keeps, about: other processes add to it, too. Those that have ended or expired make room first; a
   * session that holds as many as it leaves free cannot add another one. @default 1000
   */
  readonly maxApprovals?: number;
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
  checkOptions('fileApprovals', options, {
    dir: expected.required(expected.string),
    clock: expected.object,
    maxApprovals: expected.integer(1),
  });
  const { dir, clock = systemClock, maxApprovals = DEFAULT_MAX_APPROVALS } = options;
  const files = recordFiles<Approval>({
    owner: 'fileApprovals',
    dir,
    suffix: SUFFIX,
    clock,
    parse: parsed,
  });
  const all = async () => (await readKept(files, dir)).records.toSorted(byAge);
  const kept = latest(
    clock,
    () => files.list(),
    all,
    () => approvalRoom('fileApprovals', maxApprovals),
  );
  let adding: Promise<void> = Promise.resolve();
  const makeRoom = async (approval: Approval): Promise<void> => {
    // Where the folder is not half full, nobody need be turned away, and nothing need be read.
    if ((await kept.count()) * 2 < maxApprovals) return;
    const { room, approvals } = await kept.read();
    for (const id of room.demand(approval, clock.now())) {
      const revision = approvals.get(id)?.revision;
      // One that changed meanwhile was answered or taken up, and stays.
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
        if (!(await files.create(fileName(approval.id), approval))) throw taken('fileApprovals');
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

/** What the folder held a moment ago, with what was added since: a flood of questions must not become a flood of reading. */
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

const byAge = (a: Approval, b: Approval): number =>
  a.requestedAt === b.requestedAt ? (a.id < b.id ? -1 : 1) : a.requestedAt < b.requestedAt ? -1 : 1;

const fileName = (id: string): string =>
  `${createHash('sha256').update(id).digest('hex').slice(0, 32)}${SUFFIX}`;

/** An approval under another name would be a second one with an answer of its own. */
function parsed(text: string, name: string): Approval {
  const { version, ...approval } = membersIn(text);
  if (version !== 1 || !isApproval(approval) || fileName(approval.id) !== name)
    throw new Error('fileApprovals: a file of the folder is no approval');
  // What was parsed and judged to be an approval is JSON.
  return freezeParsed(approval as unknown as JsonValue) as unknown as Approval;
}
