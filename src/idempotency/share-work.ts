/** One call does the work of a key; the others wait for what comes of it. */

import { annotate, isAborted, type Next, type ToolCall, type ToolResult } from '../layer.ts';
import type { ClaimKey } from './claim-key.ts';
import {
  beginWork,
  type Begun,
  type ClaimTerms,
  keepLease,
  resultFrom,
  settleWork,
  type Verdict,
} from './claimed-work.ts';
import { conflicting, leftWaiting, runAlone, unknownEnd, withoutStore } from './refusals.ts';

export type ShareWork = (call: ToolCall, next: Next, claim: ClaimKey) => Promise<ToolResult>;

/** `termsFor` is asked when a call leads. */
export function createSharing(
  mode: ClaimTerms['mode'],
  termsFor: (call: ToolCall) => ClaimTerms,
): ShareWork {
  const flights: Flights<Verdict> = new Map();

  const share: ShareWork = (call, next, claim) => {
    // From here to `openFlight` nothing waits: of all calls that come at once, one leads.
    const flight = flights.get(claim.key);
    if (flight === undefined)
      return lead(call, next, claim, openFlight(flights, claim.key, claim.fingerprint, call));
    if (isDeserted(flight)) {
      return mode === 'cache'
        ? runAlone(call, next, 'miss')
        : lead(call, next, claim, openFlight(flights, claim.key, claim.fingerprint, call));
    }
    return flight.fingerprint === claim.fingerprint
      ? wait(call, next, claim, flight)
      : Promise.resolve(conflicting(call));
  };

  const wait = async (
    call: ToolCall,
    next: Next,
    claim: ClaimKey,
    flight: Flight<Verdict>,
  ): Promise<ToolResult> => {
    const woken = await waitFor(flight, call.signal);
    if (woken === 'left') return leftWaiting(call);
    if (woken === 'deserted') return share(call, next, claim);
    if (woken !== 'lead') return present(call, next, woken.outcome, 'waited', mode);
    takeOver(flight, call);
    return lead(call, next, claim, flight);
  };

  const lead = (
    call: ToolCall,
    next: Next,
    claim: ClaimKey,
    flight: Flight<Verdict>,
  ): Promise<ToolResult> => {
    const terms = termsFor(call);
    const tell = (verdict: Verdict) => {
      if (mode === 'effect' && verdict.kind === 'open') handOver(flights, claim.key, flight);
      else land(flights, claim.key, flight, verdict);
    };
    const goOn = (begun: Begun): Promise<ToolResult> => {
      if ('token' in begun) return doWork(call, next, claim.key, begun.token, terms, tell);
      tell(begun.verdict);
      return begun.verdict.kind === 'open'
        ? Promise.resolve(leftWaiting(call))
        : present(call, next, begun.verdict, 'hit', mode);
    };
    const begun = beginWork(call, claim, terms);
    return begun instanceof Promise ? begun.then(goOn) : goOn(begun);
  };
  return share;
}

/** Settles the claim with what came of the call, and tells the calls that wait for it. */
async function doWork(
  call: ToolCall,
  next: Next,
  key: string,
  token: string,
  terms: ClaimTerms,
  tell: (verdict: Verdict) => void,
): Promise<ToolResult> {
  const letGo = terms.mode === 'effect' ? keepLease(call, key, token, terms) : null;
  const result = await next(call);
  if (letGo !== null) await letGo();
  const worked = settleWork(result, key, token, terms);
  // A store in memory has settled it by now.
  const { verdict, kept } = worked instanceof Promise ? await worked : worked;
  tell(verdict);
  return annotate(result, {}, { status: 'miss', kept });
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
 * Why a waiter goes on: there is an outcome, it is its turn to try, the one at work was called off,
 * or it was itself.
 */
type Woken<T> = { readonly outcome: T } | 'lead' | 'deserted' | 'left';

/** Plain data: nearly every flight ends before another call waits for it. */
interface Flight<T> {
  readonly fingerprint: string;
  /**
   * The call at work; `null` when it has ended. A `Map` that grows leaves its old table behind with
   * what was in it, and would keep calls that have ended until the next collection of everything.
   */
  leader: ToolCall | null;
  /** Made with the first one who waits. */
  waiters: Waiters<T> | null;
}

interface Waiters<T> {
  readonly wakes: Set<(woken: Woken<T>) => void>;
  /**
   * Told when the call at work is called off. One listener for all, and only while calls wait.
   */
  readonly desert: () => void;
}

/** Nothing may be awaited between looking for a flight and opening one: two would lead. */
type Flights<T> = Map<string, Flight<T>>;

function openFlight<T>(
  flights: Flights<T>,
  key: string,
  fingerprint: string,
  leader: ToolCall,
): Flight<T> {
  const flight: Flight<T> = { fingerprint, leader, waiters: null };
  flights.set(key, flight);
  return flight;
}

/** The one at work was called off: it may take any time to come to an end. */
const isDeserted = <T>({ leader }: Flight<T>): boolean => leader !== null && isAborted(leader);

function waitFor<T>(flight: Flight<T>, signal: AbortSignal): Promise<Woken<T>> {
  const { wakes, desert } = (flight.waiters ??= createWaiters());
  if (wakes.size === 0) flight.leader?.signal.addEventListener('abort', desert);
  return new Promise((resolve) => {
    const leave = () => wake('left');
    const wake = (woken: Woken<T>) => {
      wakes.delete(wake);
      signal.removeEventListener('abort', leave);
      if (wakes.size === 0) flight.leader?.signal.removeEventListener('abort', desert);
      resolve(woken);
    };
    wakes.add(wake);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave);
  });
}

function createWaiters<T>(): Waiters<T> {
  const wakes: Waiters<T>['wakes'] = new Set();
  const desert = () => {
    for (const wake of wakes) wake('deserted');
  };
  return { wakes, desert };
}

/** Takes over the work after being woken with `lead`. */
function takeOver<T>(flight: Flight<T>, leader: ToolCall): void {
  unwatch(flight);
  flight.leader = leader;
  if (isAwaited(flight)) leader.signal.addEventListener('abort', flight.waiters.desert);
}

/** Everybody gets the outcome. */
function land<T>(flights: Flights<T>, key: string, flight: Flight<T>, outcome: T): void {
  unwatch(flight);
  for (const wake of flight.waiters?.wakes ?? []) wake({ outcome });
  close(flights, key, flight);
}

/** Nothing came of it: the next in line tries, and the others go on waiting. */
function handOver<T>(flights: Flights<T>, key: string, flight: Flight<T>): void {
  const [next] = flight.waiters?.wakes ?? [];
  if (next === undefined) close(flights, key, flight);
  else next('lead');
}

const isAwaited = <T>(flight: Flight<T>): flight is Flight<T> & { readonly waiters: Waiters<T> } =>
  flight.waiters !== null && flight.waiters.wakes.size > 0;

function unwatch<T>(flight: Flight<T>): void {
  if (isAwaited(flight)) flight.leader?.signal.removeEventListener('abort', flight.waiters.desert);
}

/** A flight that was deserted may have a successor, which stays. */
function close<T>(flights: Flights<T>, key: string, flight: Flight<T>): void {
  if (flights.get(key) === flight) flights.delete(key);
  flight.leader = null;
}
