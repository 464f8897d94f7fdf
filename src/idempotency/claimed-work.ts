/** The claim on a key: what its store says of it, and the lease of the call that holds it. */

import { clockOf, type JsonObject, pause, type ToolCall } from '../layer.ts';
import type { Awaitable, Claimed, ClaimRequest, ClaimStore } from '../stores/index.ts';
import type { ClaimKey } from './claim-key.ts';

/** What came of a key, for every call but the one that did the work. */
export type Verdict =
  | { readonly kind: 'answered'; readonly answer: JsonObject }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unavailable'; readonly cause: unknown }
  /** The work was not done, so any call may try. */
  | { readonly kind: 'open' };

export interface ClaimTerms {
  readonly store: ClaimStore;
  readonly mode: 'cache' | 'effect';
  readonly leaseMs: number;
  readonly ttlMs: number;
}

/** The claim was won, or what another call has made of the key. */
export type Begun = 'won' | Verdict;

/** How often a claim that another process holds is looked at. */
const POLL_MS = 100;

export const OPEN: Verdict = Object.freeze({ kind: 'open' });

/**
 * Claims a key that the store did not give at once: again, as long as another call is at it. Throws
 * what the store throws at once; never rejects.
 */
export function askAgain(
  call: ToolCall,
  claim: ClaimKey,
  terms: ClaimTerms,
  request: ClaimRequest,
  first: Awaitable<Claimed>,
): Begun | Promise<Begun> {
  const read = (claimed: Claimed) => begunBy(claimed, claim, terms.mode);
  const ask = () => terms.store.claim(claim.key, request);
  return ('won' in first ? read(first) : null) ?? poll(call, first, ask, read);
}

/** `null` while another call is at it. */
function begunBy(claimed: Claimed, claim: ClaimKey, mode: ClaimTerms['mode']): Begun | null {
  if (claimed.won) return 'won';
  const { state, fingerprint, answer } = claimed.record;
  if (mode === 'effect' && fingerprint !== null && fingerprint !== claim.fingerprint)
    return { kind: 'conflict' };
  if (state === 'in_progress') return null;
  return state === 'done' && answer !== null ? { kind: 'answered', answer } : { kind: 'unknown' };
}

async function poll(
  call: ToolCall,
  first: Awaitable<Claimed>,
  ask: () => Awaitable<Claimed>,
  read: (claimed: Claimed) => Begun | null,
): Promise<Begun> {
  try {
    for (let answer = first; ; answer = ask()) {
      const begun = read(await answer);
      if (begun !== null) return begun;
      if (!(await pause(call, POLL_MS))) return OPEN;
    }
  } catch (cause) {
    return { kind: 'unavailable', cause };
  }
}

/**
 * Renews the lease while the call is wanted. After that the tool may run on unheard, and others are
 * not kept waiting for longer than the lease. The returned function ends it, and waits for a
 * renewal under way.
 */
export function keepLease(
  call: ToolCall,
  key: string,
  token: string,
  { store, leaseMs }: ClaimTerms,
): () => Promise<void> {
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
