/** Calls that wait for a decision, found again when a client makes them again. */

import type { JsonObject } from '../../core/json/json-value.ts';
import type { Clock } from '../../core/time/clock.ts';
import { hashCanonical } from '../../core/json/hash-canonical.ts';
import type { Approval, ApprovalStore } from '../../approvals/store/approval.ts';
import { approvalState } from '../../approvals/store/approval-rules.ts';
import { queueIdOf } from './queue-prompt.ts';

/**
 * The approval of the same call, made before: decided (`take`), pending (`wait`), or none (`null`).
 */
export type Kept = { readonly take: string; readonly callId: string } | KeptWaiting | null;

/** The approval is still pending. */
export interface KeptWaiting {
  readonly wait: string;
  readonly kind: Approval['kind'];
}

export interface KeptApprovals {
  /** Remembers that a call waits. */
  note(id: string, name: string, args: JsonObject): void;
  /** At once where no call is known to wait. */
  find(name: string, args: JsonObject): Kept | Promise<Kept>;
}

/** The most pending calls that are remembered; beyond it the oldest is forgotten. */
const MAX_NOTED = 1000;

/**
 * Looks into the store only for calls that are known to wait: those of this connection, and those
 * of its session that were there when it began. A store that fails finds nothing, and the call is
 * asked about again.
 */
export function keptApprovals(
  store: ApprovalStore,
  sessionId: string,
  clock: Clock,
): KeptApprovals {
  const waiting = new Map<string, string>();
  const keyOf = (name: string, args: JsonObject): string => hashCanonical({ name, args });
  const note = (id: string, name: string, args: JsonObject): void => {
    const [oldest] = waiting.size >= MAX_NOTED ? waiting.keys() : [];
    if (oldest !== undefined) waiting.delete(oldest);
    waiting.set(keyOf(name, args), id);
  };
  let isRead = false;
  const before = (async () => {
    // `queuePrompt` leaves copies of questions in the store; they stand for no call.
    for (const { id, toolName, arguments: args, turn } of await store.list())
      if (args !== null && turn.sessionId === sessionId && !id.startsWith(queueIdOf('')))
        note(id, toolName, args);
  })()
    .catch(() => {})
    .finally(() => (isRead = true));
  const lookUp = async (name: string, args: JsonObject): Promise<Kept> => {
    await before;
    if (waiting.size === 0) return null;
    const key = keyOf(name, args);
    const id = waiting.get(key);
    const approval =
      id === undefined ? null : await Promise.resolve(store.get(id)).catch(() => null);
    const state = approval === null ? null : approvalState(approval, clock.now());
    if (approval === null || id === undefined || (state !== 'pending' && state !== 'answered')) {
      waiting.delete(key);
      return null;
    }
    if (state === 'pending') return { wait: id, kind: approval.kind };
    // Two equal calls may look at once: the first resumes the approval.
    if (waiting.get(key) !== id) return null;
    waiting.delete(key);
    return { take: id, callId: approval.callId };
  };

  return { note, find: (name, args) => (isRead && waiting.size === 0 ? null : lookUp(name, args)) };
}
