/** One call does the work of a key; the others wait for what comes of it. */

import { annotate, type Stepped, type ToolCall, type ToolResult } from '../../src/index.ts';
import type { ClaimKey } from './claim-key.ts';
import {
  beginWork,
  type Begun,
  type ClaimTerms,
  keepLease,
  settleWork,
  type Verdict,
  type Worked,
} from './claimed-work.ts';
import { conflicting, leftWaiting, runAlone, unknownEnd, withoutStore } from './endings.ts';
import {
  type Flight,
  type Flights,
  handOver,
  isDeserted,
  land,
  openFlight,
  takeOver,
  waitFor,
} from './flights.ts';
import { resultFrom } from './kept-answer.ts';

export type ShareWork = (call: ToolCall, claim: ClaimKey) => Stepped | Promise<Stepped>;

/** `termsFor` is asked when a call leads. */
export function createSharing(
  mode: ClaimTerms['mode'],
  termsFor: (call: ToolCall) => ClaimTerms,
): ShareWork {
  const flights: Flights<Verdict> = new Map();

  const share: ShareWork = (call, claim) => {
    // From here to `open` nothing waits: of all calls that come at once, one leads.
    const flight = flights.get(claim.key);
    if (flight === undefined)
      return lead(call, claim, openFlight(flights, claim.key, claim.fingerprint, call));
    if (isDeserted(flight)) {
      return mode === 'cache'
        ? runAlone(call, 'miss')
        : lead(call, claim, openFlight(flights, claim.key, claim.fingerprint, call));
    }
    return flight.fingerprint === claim.fingerprint ? wait(call, claim, flight) : conflicting(call);
  };

  const wait = async (
    call: ToolCall,
    claim: ClaimKey,
    flight: Flight<Verdict>,
  ): Promise<Stepped> => {
    const woken = await waitFor(flight, call.signal);
    if (woken === 'left') return leftWaiting(call);
    if (woken === 'deserted') return share(call, claim);
    if (woken !== 'lead') return present(call, woken.outcome, 'waited', mode);
    takeOver(flight, call);
    return lead(call, claim, flight);
  };

  const lead = (
    call: ToolCall,
    claim: ClaimKey,
    flight: Flight<Verdict>,
  ): Stepped | Promise<Stepped> => {
    const terms = termsFor(call);
    const go = (begun: Begun): Stepped => {
      const tell = (verdict: Verdict) => {
        if (mode === 'effect' && verdict.kind === 'open') handOver(flights, claim.key, flight);
        else land(flights, claim.key, flight, verdict);
      };
      if ('token' in begun)
        return { call, leave: goneThrough(call, claim.key, begun.token, terms, tell) };
      tell(begun.verdict);
      return begun.verdict.kind === 'open'
        ? leftWaiting(call)
        : present(call, begun.verdict, 'hit', mode);
    };
    const begun = beginWork(call, claim, terms);
    return begun instanceof Promise ? begun.then(go) : go(begun);
  };
  return share;
}

/** Settles the claim with what came of the call, and tells those who wait. */
function goneThrough(
  call: ToolCall,
  key: string,
  token: string,
  terms: ClaimTerms,
  tell: (verdict: Verdict) => void,
) {
  const letGo = terms.mode === 'effect' ? keepLease(call, key, token, terms) : null;
  const end = (result: ToolResult, { verdict, kept }: Worked): ToolResult => {
    tell(verdict);
    return annotate(result, {}, { status: 'miss', kept });
  };
  return (result: ToolResult): ToolResult | Promise<ToolResult> => {
    const settle = () => settleWork(result, key, token, terms);
    const worked = letGo === null ? settle() : letGo().then(settle);
    return worked instanceof Promise
      ? worked.then((later) => end(result, later))
      : end(result, worked);
  };
}

/** What somebody else's work means for this call. */
function present(
  call: ToolCall,
  verdict: Verdict,
  status: string,
  mode: ClaimTerms['mode'],
): Stepped {
  const result = verdict.kind === 'answered' ? resultFrom(call, verdict.answer) : null;
  if (result !== null) return annotate(result, {}, { status });
  if (mode === 'cache') return runAlone(call, 'miss');
  if (verdict.kind === 'unavailable') return withoutStore(call, verdict.cause);
  return verdict.kind === 'conflict' ? conflicting(call) : unknownEnd(call);
}
