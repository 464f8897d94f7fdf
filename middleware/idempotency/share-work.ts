/** One call does the work of a key; the others wait for what comes of it. */

import { annotate, type Next, type ToolCall, type ToolResult } from '../../src/index.ts';
import type { ClaimKey } from './claim-key.ts';
import { type ClaimTerms, type Verdict, type Worked, workOn } from './claimed-work.ts';
import { conflicting, leftWaiting, runAlone, unknownEnd, withoutStore } from './endings.ts';
import { createFlights, type Flight } from './flights.ts';
import { resultFrom } from './kept-answer.ts';

export type ShareWork = (call: ToolCall, next: Next, claim: ClaimKey) => Promise<ToolResult>;

/** `termsFor` is asked when a call leads. */
export function createSharing(mode: ClaimTerms['mode'], termsFor: (call: ToolCall) => ClaimTerms): ShareWork {
  const flights = createFlights<Verdict>();
  const lead = async (call: ToolCall, next: Next, claim: ClaimKey, flight: Flight<Verdict>): Promise<ToolResult> => {
    const worked = await workOn(call, next, claim, termsFor(call));
    if (mode === 'effect' && worked.verdict.kind === 'open') flight.handOver();
    else flight.land(worked.verdict);
    return ledTo(call, next, worked, mode);
  };

  return async (call, next, claim) => {
    for (;;) {
      // From here to `open` nothing waits: of all calls that come at once, one leads.
      const flight = flights.get(claim.key);
      if (flight?.deserted === true && mode === 'cache') return runAlone(call, next, 'miss');
      if (flight === undefined || flight.deserted) {
        return lead(call, next, claim, flights.open(claim.key, claim.fingerprint, call.signal));
      }
      if (flight.fingerprint !== claim.fingerprint) return conflicting(call);
      const woken = await flight.wait(call.signal);
      if (woken === 'left') return leftWaiting(call);
      if (woken === 'lead') {
        flight.lead(call.signal);
        return lead(call, next, claim, flight);
      }
      if (woken !== 'deserted') return present(call, next, woken.outcome, 'waited', mode);
    }
  };
}

/** What the call that tried comes to itself. */
function ledTo(call: ToolCall, next: Next, { verdict, ran }: Worked, mode: ClaimTerms['mode']): ToolResult | Promise<ToolResult> {
  if (ran !== null) return annotate(ran.result, {}, { status: 'miss', kept: ran.kept });
  return verdict.kind === 'open' ? leftWaiting(call) : present(call, next, verdict, 'hit', mode);
}

/** What somebody else's work means for this call. */
async function present(call: ToolCall, next: Next, verdict: Verdict, status: string, mode: ClaimTerms['mode']): Promise<ToolResult> {
  const result = verdict.kind === 'answered' ? resultFrom(call, verdict.answer) : null;
  if (result !== null) return annotate(result, {}, { status });
  if (mode === 'cache') return runAlone(call, next, 'miss');
  if (verdict.kind === 'unavailable') return withoutStore(call, verdict.cause);
  return verdict.kind === 'conflict' ? conflicting(call) : unknownEnd(call);
}
