/** Whether what was decided earlier is about the call as it is now. */

import type { EarlierDecision } from '../../core/approval.ts';
import type { ToolCall } from '../../core/call.ts';
import type { Refusal } from '../../core/terms.ts';
import { definitionHashOf, fingerprintOf } from './fingerprint.ts';

/**
 * Why an earlier approval may not be used: it was given for another definition, other arguments or under other rules. A no is a no,
 * whatever changed since.
 */
export function staleness(call: ToolCall, policy: string, earlier: EarlierDecision): Refusal | null {
  const { gate, decision } = earlier;
  if (decision !== 'allow_once' && decision !== 'allow_always') return null;
  if (earlier.definition !== definitionHashOf(call))
    return { status: 'definition_changed', message: stale(call, 'its definition has changed'), blockedBy: gate };
  if (earlier.policy !== policy) return { status: 'consent_denied', message: stale(call, 'the rules have changed'), blockedBy: gate };
  if (earlier.fingerprint !== fingerprintOf(call))
    return { status: 'consent_denied', message: stale(call, 'the call has changed'), blockedBy: gate };
  return null;
}

const stale = ({ toolName }: ToolCall, why: string): string =>
  `${toolName} was approved, but ${why} since, so it did not run. Ask for the call again as it should be.`;
