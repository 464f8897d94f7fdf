/** Whether what was decided earlier is about the call as it is now. */

import { toolOf } from '../core/onion/own-call.ts';
import type { Refusal } from '../core/onion/pass.ts';
import { type EarlierDecision } from './consultation.ts';
import type { ToolCall } from '../core/contract/call.ts';
import { definitionHashOf, fingerprintOf } from './fingerprint.ts';

/**
 * Why an earlier approval may not be used: it was given for another definition, other arguments or
 * under other rules. A no is a no, whatever changed since.
 */
export function staleness(
  call: ToolCall,
  policy: string,
  earlier: EarlierDecision,
): Refusal | null {
  const { gate, decision } = earlier;
  if (decision !== 'allow_once' && decision !== 'allow_always') return null;
  if (earlier.definition !== definitionHashOf(call)) return changedSince(call, gate);
  if (earlier.policy !== policy)
    return {
      status: 'consent_denied',
      message: stale(call, 'the rules have changed'),
      blockedBy: gate,
    };
  if (earlier.fingerprint !== fingerprintOf(call))
    return {
      status: 'consent_denied',
      message: stale(call, 'the call has changed'),
      blockedBy: gate,
    };
  return null;
}

/**
 * The same for a call that is about to run, where no gate need have looked at the approval: rules,
 * or annotations that changed with the definition, may not ask any more. `requested` is the name
 * that the model called; a layer may have chosen another tool inside of the gate.
 */
export function definitionObjection(
  call: ToolCall,
  requested: string,
  decisions: readonly EarlierDecision[],
): Refusal | null {
  const entered = definitionHashOf(call);
  const asked = toolOf(call, requested)?.hash();
  const other = decisions.find(({ definition }) => definition !== entered && definition !== asked);
  return other === undefined ? null : changedSince(call, other.gate);
}

const changedSince = (call: ToolCall, gate: string): Refusal => ({
  status: 'definition_changed',
  message: stale(call, 'its definition has changed'),
  blockedBy: gate,
});

const stale = ({ toolName }: ToolCall, why: string): string =>
  `${toolName} was approved, but ${why} since, so it did not run. Ask for the call again as it should be.`;
