/** How approvals share the room of a store: one session cannot take it all, nor what another one waits for. */

import { AlliumError } from '../../core/errors.ts';
import type { Approval } from './approval.ts';

export const DEFAULT_MAX_APPROVALS = 1000;

/**
 * Which approvals go so that another one can be kept. Those that have ended or expired go first, oldest first. A session may hold as many as it
 * leaves free; beyond that it is refused with `ERR_STORE_FULL`. Where many sessions fill the store, the one that holds most loses the
 * question that waits longest. Never one that somebody answered or took up: a decision would be lost, or how a call ended.
 */
export function demandRoom(owner: string, kept: readonly Approval[], asking: Approval, max: number, now: number): readonly Approval[] {
  // Nobody can hold more than is left, whoever holds what.
  if (kept.length * 2 < max) return [];
  const over: Approval[] = [];
  const alive: Approval[] = [];
  const own: Approval[] = [];
  for (const approval of kept) {
    if (isOver(approval, now)) {
      over.push(approval);
      continue;
    }
    alive.push(approval);
    if (approval.turn.sessionId === asking.turn.sessionId) own.push(approval);
  }
  const free = max - alive.length;
  if (own.length > 0 && own.length >= free) throw full(owner, own, now);
  if (free > 0) return over.slice(0, Math.max(0, kept.length + 1 - max));
  const loser = longestWaiting(alive);
  if (loser === null) throw full(owner, alive, now);
  return [...over, loser];
}

const isOver = ({ ended, taken, expiresAt }: Approval, now: number): boolean =>
  ended !== null || (taken === null && expiresAt !== null && now >= Date.parse(expiresAt));

/** The oldest question of the session that has most of them open. */
function longestWaiting(alive: readonly Approval[]): Approval | null {
  const bySession = new Map<string, Approval[]>();
  for (const approval of alive) {
    if (approval.reply !== null || approval.taken !== null) continue;
    const { sessionId } = approval.turn;
    const open = bySession.get(sessionId);
    if (open === undefined) bySession.set(sessionId, [approval]);
    else open.push(approval);
  }
  let most: readonly Approval[] = [];
  for (const open of bySession.values()) if (open.length > most.length) most = open;
  return most[0] ?? null;
}

function full(owner: string, waiting: readonly Approval[], now: number): AlliumError {
  const times = waiting.flatMap(({ expiresAt }) => (expiresAt === null ? [] : [Date.parse(expiresAt) - now]));
  const message = `${owner}: too many approvals wait; answer some, or raise "maxApprovals"`;
  return new AlliumError('ERR_STORE_FULL', message, times.length === 0 ? {} : { retryAfterMs: Math.max(1, Math.min(...times)) });
}
