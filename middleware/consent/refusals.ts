/** How a call ends at this layer, and what is written down about the decision. */

import { plainLine, type Settled } from '../../src/consent/index.ts';
import {
  annotate,
  type ApprovalRecord,
  type AuditPatch,
  changedPaths,
  clockOf,
  type ConsentRecord,
  fail,
  fingerprintOf,
  type JsonObject,
  refuse,
  scrubFor,
  type ToolCall,
  type ToolResult,
  withResult,
} from '../../src/layer.ts';

/** There was no decision in time, which is not a denial. */
export function expired(
  call: ToolCall,
  id: string,
  expiresMs: number,
  rule: string | undefined,
): ToolResult {
  const text = `Nobody decided about ${nameOf(call)} within ${expiresMs} ms, so it did not run.`;
  return recorded(refuse(call, 'consent_expired', text), call, byLayer(call, id, 'expired', rule));
}

/** The cause stays with the host: a decider's error may speak of the arguments. */
export function failed(call: ToolCall, id: string, cause: unknown, rule?: string): ToolResult {
  const text = `${nameOf(call)} was not approved: deciding about it failed. Do not repeat the call unchanged.`;
  return recorded(fail(call, 'consent_denied', cause, text), call, {
    ...byLayer(call, id, 'denied', rule),
    reason: 'deciding failed',
  });
}

/** A rule, a decider or a person said no, or an answer came too late. */
export function denied(call: ToolCall, settled: Settled): ToolResult {
  if (settled.decision === 'expired')
    return recorded(
      refuse(
        call,
        'consent_expired',
        `Nobody decided about ${nameOf(call)} in time, so it did not run.`,
      ),
      call,
      settled,
    );
  const why = settled.reason === undefined ? '' : `: ${settled.reason}`;
  const text = `${nameOf(call)} was not approved${why}. Do not repeat the call unchanged.`;
  return recorded(refuse(call, 'consent_denied', text), call, settled);
}

/** `rule` names the rule of consent that asked for a person's decision. */
const byLayer = (
  call: ToolCall,
  id: string,
  decision: 'denied' | 'expired',
  rule: string | undefined,
): Settled => ({
  id,
  decision,
  decidedBy: 'consent',
  decidedAt: new Date(clockOf(call).now()).toISOString(),
  call,
  ...(rule === undefined ? {} : { rule }),
});

const nameOf = ({ toolName }: ToolCall): string => plainLine(toolName, 128);

/** Who decided and when, over which call; what was edited by path only. */
export function recorded(result: ToolResult, asked: ToolCall, settled: Settled): ToolResult {
  const { id, decision, decidedBy, decidedAt, reason, rule, call, remembered, supplied } = settled;
  const paths =
    call.toolArgs === asked.toolArgs
      ? []
      : changedPaths(asked.toolArgs, call.toolArgs).map((path) => plainLine(path, 200));
  const edits = paths.length === 0 ? undefined : paths;
  // What is undefined is left out of the record. Member by member: spreading absent ones in costs
  // more than the rest.
  const consent = {
    decision,
    decidedBy,
    decidedAt,
    reason,
    edited: edits === undefined ? undefined : true,
    paths: edits,
    supplied: supplied === undefined ? undefined : true,
  };
  const patch = settled.earlier === undefined ? { consent } : { consent, ...resumedFrom(settled) };
  const line = { status: decision, decidedBy, rule, remembered };
  const approval = approvalOf(id, cleaned({ decision, decidedBy, decidedAt, reason }, asked), call);
  return annotate(withResult(result, { approval }), patch as AuditPatch, line);
}

/** What an approval says of a decision; an absent reason is undefined. */
type Said = Pick<ConsentRecord, 'decision' | 'decidedBy' | 'decidedAt'> & {
  readonly reason: string | undefined;
};

/** Which pass over the call ended with the question, and what it was about. */
function resumedFrom({ id, earlier }: Settled): { readonly approval?: JsonObject } {
  if (earlier === undefined) return {};
  const { fingerprint, requestedAt, receiptUri } = earlier;
  return {
    approval: {
      id,
      gate: 'consent',
      fingerprint,
      requestedAt,
      ...(receiptUri === undefined ? {} : { receiptUri }),
    },
  };
}

/**
 * Redaction may stand inside, where it never sees what a person wrote here; the audit record is
 * cleaned by itself.
 */
const cleaned = ({ decision, decidedBy, decidedAt, reason }: Said, call: ToolCall): Said => ({
  decision,
  decidedBy: scrubFor(call, decidedBy),
  decidedAt,
  reason: reason === undefined ? undefined : scrubFor(call, reason),
});

function approvalOf(
  id: string,
  { decision, decidedBy, decidedAt, reason }: Said,
  call: ToolCall,
): ApprovalRecord | null {
  try {
    const approval = { id, fingerprint: fingerprintOf(call), decision, decidedBy, decidedAt };
    return reason === undefined ? approval : { ...approval, reason };
  } catch {
    // Only a call that was refused for it gets here: everything else was fingerprinted before it
    // was decided about.
    return null;
  }
}
