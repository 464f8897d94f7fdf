/**
 * How approvals share the room of a store: one session cannot take it all, nor what another one
 * waits for.
 */

import { AlliumError } from '../../core/contract/errors.ts';
import { fairTable } from '../../stores/fair-table.ts';
import type { Approval } from './approval.ts';

/** How many approvals a store keeps where its host does not say. */
export const DEFAULT_MAX_APPROVALS = 1000;

/**
 * Counts what a store keeps, so that a question costs the same however many there are. Keeps no
 * approval itself.
 */
export interface ApprovalRoom {
  /** An approval was added or replaced. */
  put(approval: Approval): void;
  remove(id: string): void;
  /**
   * The ids of the approvals that go so that another one can be kept. Those that have ended or
   * expired go first. A session may hold as many as it leaves free; beyond that it is refused with
   * `ERR_STORE_FULL`. Where many sessions fill the store, the one that holds most loses the
   * question that waits longest. Never an approval that was answered or taken up: a decision would
   * be lost, or how a call ended.
   */
  demand(asking: Approval, now: number): readonly string[];
}

/**
 * The room of one store, which takes at most `max` approvals; `owner` names the store in errors.
 */
export function approvalRoom(owner: string, max: number): ApprovalRoom {
  /** Neither ended nor expired, by session; and those among them without an answer. */
  const alive = fairTable<null>();
  const open = fairTable<null>();
  const over = new Set<string>();
  const expiries = createExpiries();
  const remove = (id: string): void => {
    alive.delete(id);
    open.delete(id);
    over.delete(id);
    expiries.remove(id);
  };
  const full = (sessionId: string | null, now: number): AlliumError => {
    const soonest = expiries.soonest(sessionId);
    const message = `${owner}: too many approvals wait; answer some, or raise "maxApprovals"`;
    return new AlliumError(
      'ERR_STORE_FULL',
      message,
      soonest === null ? {} : { retryAfterMs: Math.max(1, soonest - now) },
    );
  };
  return {
    put({ id, turn: { sessionId }, reply, taken, ended, expiresAt }) {
      // One that stays open keeps its age.
      if (ended === null && taken === null && reply === null && open.get(id) !== undefined) return;
      remove(id);
      if (ended !== null) return void over.add(id);
      alive.set(id, sessionId, null);
      if (reply === null && taken === null) open.set(id, sessionId, null);
      if (taken === null && expiresAt !== null) expiries.add(id, sessionId, Date.parse(expiresAt));
    },
    remove,
    demand({ turn: { sessionId } }, now) {
      // No session can hold more than is left while the store is not half full.
      if ((alive.size + over.size) * 2 < max) return [];
      for (const id of expiries.until(now)) {
        remove(id);
        over.add(id);
      }
      const own = alive.countOf(sessionId);
      const free = max - alive.size;
      if (own > 0 && own >= free) throw full(sessionId, now);
      if (free > 0) return firstOf(over, alive.size + over.size + 1 - max);
      const loser = open.loser();
      if (loser === null) throw full(null, now);
      return [...over, loser.key];
    },
  };
}

function firstOf(ids: Iterable<string>, count: number): readonly string[] {
  const first: string[] = [];
  for (const id of ids) {
    if (first.length >= count) break;
    first.push(id);
  }
  return first;
}

interface Expiries {
  add(id: string, sessionId: string, at: number): void;
  remove(id: string): void;
  /** The ids whose time is over. */
  until(now: number): readonly string[];
  /** When the first of a session, or of all, expires; `null` where none does. */
  soonest(sessionId: string | null): number | null;
}

/**
 * Looked through only where something has expired, or was removed since: a flood adds, and is
 * refused.
 */
function createExpiries(): Expiries {
  const times = new Map<string, { readonly sessionId: string; readonly at: number }>();
  /** By session, and of all under `null`. What is missing has to be looked for. */
  const soonest = new Map<string | null, number>();
  const note = (key: string | null, at: number): void => {
    const before = soonest.get(key);
    if (before !== undefined) soonest.set(key, Math.min(before, at));
  };
  const find = (key: string | null): number => {
    const known = soonest.get(key);
    if (known !== undefined) return known;
    let first = Number.POSITIVE_INFINITY;
    for (const { sessionId, at } of times.values())
      if ((key === null || key === sessionId) && at < first) first = at;
    soonest.set(key, first);
    return first;
  };
  return {
    add(id, sessionId, at) {
      times.set(id, { sessionId, at });
      note(sessionId, at);
      note(null, at);
    },
    remove(id) {
      const time = times.get(id);
      if (time === undefined) return;
      times.delete(id);
      soonest.delete(time.sessionId);
      if (soonest.get(null) === time.at) soonest.delete(null);
    },
    until(now) {
      if (now < find(null)) return [];
      return [...times].flatMap(([id, { at }]) => (now >= at ? [id] : []));
    },
    soonest(sessionId) {
      const first = find(sessionId);
      return Number.isFinite(first) ? first : null;
    },
  };
}
