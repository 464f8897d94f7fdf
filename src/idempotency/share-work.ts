/**
 * One call does the work of a key, and the others wait for what comes of it. The key is claimed
 * before the tool runs, and the claim settled by what is known to have happened.
 */

import { randomUUID } from 'node:crypto';
import {
  annotate,
  type ContentBlock,
  type JsonObject,
  type Next,
  ok,
  type ToolCall,
  type ToolResult,
  withResult,
} from '../layer.ts';
import type { Awaitable } from '../stores/index.ts';
import type { ClaimKey } from './claim-key.ts';
import {
  askAgain,
  type Begun,
  type ClaimTerms,
  keepLease,
  OPEN,
  type Verdict,
} from './claimed-work.ts';
import { conflicting, leftWaiting, runAlone, unknownEnd, withoutStore } from './refusals.ts';
import { type Awaited, isDeserted, takeOver, waitFor, wakeAll, wakeNext } from './waiters.ts';

export type ShareWork = (call: ToolCall, next: Next, claim: ClaimKey) => Promise<ToolResult>;

/** The work of one key, from the first call that comes to the end of the one that does it. */
interface Flight extends Awaited {
  readonly flights: Map<string, Flight>;
  readonly mode: ClaimTerms['mode'];
  readonly claim: ClaimKey;
}

/** A call that does the work, or tries to. */
interface Attempt {
  readonly call: ToolCall;
  readonly next: Next;
  readonly flight: Flight;
  readonly terms: ClaimTerms;
  readonly token: string;
}

/** `termsFor` is asked when a call leads. */
export function createSharing(
  mode: ClaimTerms['mode'],
  termsFor: (call: ToolCall) => ClaimTerms,
): ShareWork {
  const flights: Flight['flights'] = new Map();

  const share: ShareWork = (call, next, claim) => {
    // From here to `flights.set` nothing waits: of all calls that come at once, one leads.
    const before = flights.get(claim.key);
    if (before !== undefined && !isDeserted(before))
      return before.claim.fingerprint === claim.fingerprint
        ? wait(call, next, before)
        : Promise.resolve(conflicting(call));
    if (before !== undefined && mode === 'cache') return runAlone(call, next, 'miss');
    const flight: Flight = { flights, mode, claim, leader: call, waiters: null };
    flights.set(claim.key, flight);
    return lead(call, next, flight);
  };

  const wait = async (call: ToolCall, next: Next, flight: Flight): Promise<ToolResult> => {
    const woken = await waitFor(flight, call.signal);
    if (woken === 'left') return leftWaiting(call);
    if (woken === 'deserted') return share(call, next, flight.claim);
    if (woken !== 'lead') return present(call, next, woken.outcome, 'waited', mode);
    takeOver(flight, call);
    return lead(call, next, flight);
  };

  const lead = (call: ToolCall, next: Next, flight: Flight): Promise<ToolResult> => {
    tokens += 1;
    const token = `${PROCESS}${tokens}`;
    const attempt: Attempt = { call, next, flight, terms: termsFor(call), token };
    const begun = beginWork(attempt);
    if (begun === 'won') return doWork(attempt);
    return begun instanceof Promise ? goOnLater(attempt, begun) : goOn(attempt, begun);
  };
  return share;
}

/** Not from the call's own ids: a fence that a second process can repeat is none. */
const PROCESS = `${randomUUID()}.`;
let tokens = 0;

const UNKNOWN: Verdict = Object.freeze({ kind: 'unknown' });

/**
 * Claims the key. At once where the store answers at once: every wait costs more than the answer of
 * a store in memory. Never throws.
 */
function beginWork({ call, flight, terms, token }: Attempt): Begun | Promise<Begun> {
  const { claim } = flight;
  const request = {
    fingerprint: claim.fingerprint,
    leaseMs: terms.leaseMs,
    token,
    repeatable: terms.mode === 'cache',
    owner: call.turn.sessionId,
  };
  try {
    const answer = terms.store.claim(claim.key, request);
    return 'won' in answer && answer.won ? 'won' : askAgain(call, claim, terms, request, answer);
  } catch (cause) {
    return { kind: 'unavailable', cause };
  }
}

async function goOnLater(attempt: Attempt, later: Promise<Begun>): Promise<ToolResult> {
  const begun = await later;
  return begun === 'won' ? doWork(attempt) : goOn(attempt, begun);
}

/** Another call has come first, or the store failed. */
function goOn({ call, next, flight }: Attempt, verdict: Verdict): Promise<ToolResult> {
  tell(flight, verdict);
  return verdict.kind === 'open'
    ? Promise.resolve(leftWaiting(call))
    : present(call, next, verdict, 'hit', flight.mode);
}

function doWork(attempt: Attempt): Promise<ToolResult> {
  const { call, next, flight, terms, token } = attempt;
  if (terms.mode === 'cache') return next(call).then((result) => settle(attempt, result));
  const letGo = keepLease(call, flight.claim.key, token, terms);
  return next(call).then(async (result) => {
    await letGo();
    return settle(attempt, result);
  });
}

/**
 * Settles the claim by what is known to have happened. A run that may have done something is never
 * open again: only what certainly did not run is given back.
 */
function settle(
  { flight, terms, token }: Attempt,
  result: ToolResult,
): ToolResult | Promise<ToolResult> {
  const { store, mode, ttlMs } = terms;
  const { key } = flight.claim;
  // What does not belong to one call. Frozen, so that it can be shared.
  const answer = isKeepable(result)
    ? Object.freeze({
        result: result.result,
        // Content blocks are JSON; their interfaces just do not say so.
        content: result.content as unknown as JsonObject[],
        text: result.renderedResult,
      })
    : null;
  const isOpen = answer === null && (mode === 'cache' || result.executed === 'no');
  const bare = isOpen ? OPEN : UNKNOWN;
  const verdict: Verdict = answer === null ? bare : { kind: 'answered', answer };
  const state = result.ok && result.status === 'ok' ? 'done' : 'unknown';
  let settled: Awaitable<boolean> = false;
  try {
    settled = isOpen
      ? store.release(key, token)
      : store.complete(key, token, { state, answer, ttlMs });
  } catch {
    // The tool has answered. A claim that could not be settled runs out, and its key answers
    // `outcome_unknown` from then on.
  }
  return typeof settled === 'boolean'
    ? told(flight, verdict, result, settled)
    : toldLater(flight, verdict, result, settled);
}

const toldLater = async (
  flight: Flight,
  verdict: Verdict,
  result: ToolResult,
  settled: Promise<boolean>,
): Promise<ToolResult> =>
  told(flight, verdict, result, await Promise.resolve(settled).catch(() => false));

function told(
  flight: Flight,
  verdict: Verdict,
  result: ToolResult,
  isSettled: boolean,
): ToolResult {
  tell(flight, verdict);
  return annotate(result, {}, { status: 'miss', kept: isSettled && verdict.kind === 'answered' });
}

/** Tells the calls that wait. The next one to come opens a flight of its own. */
function tell(flight: Flight, verdict: Verdict): void {
  const { flights, mode, claim, waiters } = flight;
  // Nothing came of an effect: a call that waits does the work.
  const isHandedOver = mode === 'effect' && verdict.kind === 'open' && wakeNext(flight);
  if (isHandedOver) return;
  if (waiters !== null) wakeAll(flight, verdict);
  // A flight that was deserted may have a successor, which stays.
  if (flights.get(claim.key) === flight) flights.delete(claim.key);
  flight.leader = null;
}

/** What the work of another call means for this one. */
async function present(
  call: ToolCall,
  next: Next,
  verdict: Verdict,
  status: string,
  mode: ClaimTerms['mode'],
): Promise<ToolResult> {
  const result = verdict.kind === 'answered' ? resultFrom(call, verdict.answer) : null;
  if (result !== null) return annotate(result, {}, { status });
  if (mode === 'cache') return runAlone(call, next, 'miss');
  if (verdict.kind === 'unavailable') return withoutStore(call, verdict.cause);
  return verdict.kind === 'conflict' ? conflicting(call) : unknownEnd(call);
}

/**
 * Only what the tool itself answered, whole: no preview, no refusal, nothing that was cut or waits
 * for a person.
 */
const isKeepable = (result: ToolResult): boolean =>
  result.ok &&
  result.status === 'ok' &&
  result.executed === 'yes' &&
  result.outputFiles.length === 0 &&
  result.interruption === undefined &&
  result.metadata?.keep !== false;

/**
 * The answer as a result of this call; `null` where a store gave back something else than it was
 * given.
 */
function resultFrom(call: ToolCall, answer: JsonObject): ToolResult | null {
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
