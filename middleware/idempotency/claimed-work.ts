/** One call with its claim: claimed before the tool runs, and settled by what is known to have happened. */

import { randomUUID } from 'node:crypto';
import {
  type ClaimRecord,
  type ClaimStore,
  type Clock,
  clockOf,
  type JsonObject,
  type Next,
  type ToolCall,
  type ToolResult,
} from '../../src/index.ts';
import type { ClaimKey } from './claim-key.ts';
import { answerOf, isKeepable } from './kept-answer.ts';

/** What came of a key, for every call but the one that did the work. */
export type Verdict =
  | { readonly kind: 'answered'; readonly answer: JsonObject }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unavailable'; readonly cause: unknown }
  /** The work was not done, so anybody may try. */
  | { readonly kind: 'open' };

export interface Worked {
  readonly verdict: Verdict;
  /** What the call itself came to, where it went on to the tool. */
  readonly ran: { readonly result: ToolResult; readonly kept: boolean } | null;
}

export interface ClaimTerms {
  readonly store: ClaimStore;
  readonly mode: 'cache' | 'effect';
  readonly leaseMs: number;
  readonly ttlMs: number;
}

/** How often a claim that another process holds is looked at. */
const POLL_MS = 100;

const OPEN: Verdict = Object.freeze({ kind: 'open' });

/** Claims the key and does the work, or finds out what somebody else has made of it. Never throws. */
export async function workOn(call: ToolCall, next: Next, claim: ClaimKey, terms: ClaimTerms): Promise<Worked> {
  const { store, mode, leaseMs } = terms;
  // Not from the call's own ids: a fence that a second process can repeat is none.
  const token = randomUUID();
  const request = { fingerprint: claim.fingerprint, leaseMs, token, repeatable: mode === 'cache' };
  try {
    for (;;) {
      const answer = store.claim(claim.key, request);
      // A store in memory answers at once, and every wait costs more than its answer.
      const claimed = 'won' in answer ? answer : await answer;
      if (claimed.won) break;
      const verdict = verdictOn(claimed.record, claim, mode);
      if (verdict !== null) return { verdict, ran: null };
      if (!(await pause(clockOf(call), call.signal))) return { verdict: OPEN, ran: null };
    }
  } catch (cause) {
    return { verdict: { kind: 'unavailable', cause }, ran: null };
  }
  const letGo = mode === 'effect' ? keepLease(call, claim.key, token, terms) : null;
  const result = await next(call);
  if (letGo !== null) await letGo();
  return settle(result, claim.key, token, terms);
}

/** `null` while somebody is at it. */
function verdictOn({ state, fingerprint, answer }: ClaimRecord, claim: ClaimKey, mode: ClaimTerms['mode']): Verdict | null {
  if (mode === 'effect' && fingerprint !== null && fingerprint !== claim.fingerprint) return { kind: 'conflict' };
  if (state === 'in_progress') return null;
  return state === 'done' && answer !== null ? { kind: 'answered', answer } : { kind: 'unknown' };
}

/** A run that may have done something is never open again: only what certainly did not run is given back. */
async function settle(result: ToolResult, key: string, token: string, { store, mode, ttlMs }: ClaimTerms): Promise<Worked> {
  const answer = isKeepable(result) ? answerOf(result) : null;
  const isOpen = answer === null && (mode === 'cache' || result.executed === 'no');
  const state = result.ok && result.status === 'ok' ? 'done' : 'unknown';
  let kept = false;
  try {
    if (isOpen) await store.release(key, token);
    else {
      const completed = store.complete(key, token, { state, answer, ttlMs });
      kept = (typeof completed === 'boolean' ? completed : await completed) && answer !== null;
    }
  } catch {
    // The tool has answered. A claim that could not be settled runs out, and then says that nobody knows.
  }
  const verdict: Verdict = answer !== null ? { kind: 'answered', answer } : isOpen ? OPEN : { kind: 'unknown' };
  return { verdict, ran: { result, kept } };
}

/** `false` when the caller left meanwhile. */
function pause(clock: Clock, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const leave = () => {
      cancel();
      resolve(false);
    };
    const cancel = clock.after(POLL_MS, () => {
      signal.removeEventListener('abort', leave);
      resolve(true);
    });
    signal.addEventListener('abort', leave, { once: true });
  });
}

/**
 * Renews the lease while the call is wanted. After that the tool may run on unheard, and others are not kept waiting for
 * longer than the lease. The returned function ends it, and waits for a renewal under way.
 */
function keepLease(call: ToolCall, key: string, token: string, { store, leaseMs }: ClaimTerms): () => Promise<void> {
  const clock = clockOf(call);
  let renewing: Promise<unknown> = Promise.resolve();
  let cancel = () => {};
  let ended = false;
  const renew = async () => {
    let held = true;
    try {
      held = await store.renew(key, token, leaseMs);
    } catch {
      // A store that fails now may be back before the lease runs out.
    }
    if (held && !ended) arm();
  };
  const arm = () => {
    cancel = clock.after(Math.ceil(leaseMs / 3), () => {
      if (!call.signal.aborted) renewing = renew();
    });
  };
  arm();
  return async () => {
    ended = true;
    cancel();
    await renewing;
  };
}
