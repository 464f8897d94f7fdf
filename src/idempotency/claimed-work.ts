/**
 * One call with its claim: claimed before the tool runs, and settled by what is known to have
 * happened.
 */

import { randomUUID } from 'node:crypto';
import {
  clockOf,
  type ContentBlock,
  type JsonObject,
  ok,
  pause,
  type ToolCall,
  type ToolResult,
  withResult,
} from '../layer.ts';
import type { Awaitable, Claimed, ClaimRecord, ClaimStore } from '../stores/index.ts';
import type { ClaimKey } from './claim-key.ts';

/** What came of a key, for every call but the one that did the work. */
export type Verdict =
  | { readonly kind: 'answered'; readonly answer: JsonObject }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unavailable'; readonly cause: unknown }
  /** The work was not done, so any call may try. */
  | { readonly kind: 'open' };

/** What the work of a call is for the others, and whether it was kept for them. */
export interface Worked {
  readonly verdict: Verdict;
  readonly kept: boolean;
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

/** Not from the call's own ids: a fence that a second process can repeat is none. */
const PROCESS = randomUUID();
let tokens = 0;

/**
 * A claim that was won, with the token it is settled by, or what another call has made of the key.
 */
export type Begun = { readonly token: string } | { readonly verdict: Verdict };

/**
 * Claims the key. At once where the store answers at once: every wait costs more than the answer of
 * a store in memory. Never throws.
 */
export function beginWork(
  call: ToolCall,
  claim: ClaimKey,
  terms: ClaimTerms,
): Begun | Promise<Begun> {
  const { store, mode, leaseMs } = terms;
  tokens += 1;
  const token = `${PROCESS}.${tokens}`;
  const request = {
    fingerprint: claim.fingerprint,
    leaseMs,
    token,
    repeatable: mode === 'cache',
    owner: call.turn.sessionId,
  };
  const ask = () => store.claim(claim.key, request);
  try {
    const answer = ask();
    const begun = 'won' in answer ? begunBy(answer, token, claim, mode) : null;
    return begun ?? askAgain(call, ask, answer, (claimed) => begunBy(claimed, token, claim, mode));
  } catch (cause) {
    return { verdict: { kind: 'unavailable', cause } };
  }
}

/** `null` while another call is at it. */
function begunBy(
  claimed: Claimed,
  token: string,
  claim: ClaimKey,
  mode: ClaimTerms['mode'],
): Begun | null {
  if (claimed.won) return { token };
  const verdict = verdictOn(claimed.record, claim, mode);
  return verdict === null ? null : { verdict };
}

async function askAgain(
  call: ToolCall,
  ask: () => Awaitable<Claimed>,
  first: Awaitable<Claimed>,
  read: (claimed: Claimed) => Begun | null,
): Promise<Begun> {
  try {
    for (let answer = first; ; answer = ask()) {
      const begun = read(await answer);
      if (begun !== null) return begun;
      if (!(await pause(call, POLL_MS))) return { verdict: OPEN };
    }
  } catch (cause) {
    return { verdict: { kind: 'unavailable', cause } };
  }
}

function verdictOn(
  { state, fingerprint, answer }: ClaimRecord,
  claim: ClaimKey,
  mode: ClaimTerms['mode'],
): Verdict | null {
  if (mode === 'effect' && fingerprint !== null && fingerprint !== claim.fingerprint)
    return { kind: 'conflict' };
  if (state === 'in_progress') return null;
  return state === 'done' && answer !== null ? { kind: 'answered', answer } : { kind: 'unknown' };
}

/**
 * Settles the claim by what is known to have happened. A run that may have done something is never
 * open again: only what certainly did not run is given back. Never throws.
 */
export function settleWork(
  result: ToolResult,
  key: string,
  token: string,
  { store, mode, ttlMs }: ClaimTerms,
): Worked | Promise<Worked> {
  const answer = isKeepable(result) ? answerOf(result) : null;
  const isOpen = answer === null && (mode === 'cache' || result.executed === 'no');
  const state = result.ok && result.status === 'ok' ? 'done' : 'unknown';
  const verdict: Verdict =
    answer !== null ? { kind: 'answered', answer } : isOpen ? OPEN : { kind: 'unknown' };
  const worked = (isSettled: boolean): Worked => ({ verdict, kept: isSettled && answer !== null });
  // The tool has answered. A claim that could not be settled runs out, and then says that nobody
  // knows.
  const unsettled = (): Worked => worked(false);
  try {
    const settled = isOpen
      ? store.release(key, token)
      : store.complete(key, token, { state, answer, ttlMs });
    return typeof settled === 'boolean'
      ? worked(settled)
      : Promise.resolve(settled).then(worked, unsettled);
  } catch {
    return unsettled();
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

/**
 * Only what the tool itself answered, whole: no preview, no refusal, nothing that was cut or waits
 * for somebody.
 */
const isKeepable = (result: ToolResult): boolean =>
  result.ok &&
  result.status === 'ok' &&
  result.executed === 'yes' &&
  result.outputFiles.length === 0 &&
  result.interruption === undefined &&
  result.metadata?.keep !== false;

/** The parts of an answer that do not belong to one call. Frozen, so that it can be shared. */
const answerOf = ({ result, content, renderedResult }: ToolResult): JsonObject =>
  // Content blocks are JSON; their interfaces just do not say so.
  Object.freeze({ result, content: content as unknown as JsonObject[], text: renderedResult });

/**
 * The answer as a result of this call; `null` where a store gave back something else than it was
 * given.
 */
export function resultFrom(call: ToolCall, answer: JsonObject): ToolResult | null {
  const { result, content, text } = answer;
  if (result === undefined || !Array.isArray(content) || typeof text !== 'string') return null;
  const plain = ok(call, result);
  const [only] = plain.content;
  // Blocks that only repeated the text are made of it again.
  if (plain.renderedResult === text && JSON.stringify([only]) === JSON.stringify(content))
    return plain;
  // Checked no further than this: what a store gives back is the host's own.
  const full = ok(call, result, { content: content as unknown as ContentBlock[] });
  // A text that was put in the place of the blocks hides them here too.
  return full.renderedResult === text ? full : withResult(full, { renderedResult: text });
}
