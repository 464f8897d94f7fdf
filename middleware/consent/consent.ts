/**
 * Nothing runs that was not allowed: by a rule, by a decider, or by a person who was shown exactly
 * this call.
 */

import {
  autoApprove,
  type ConsentAnswer,
  type ConsentDecide,
  type ConsentDecision,
  consentJudges,
  type ConsentRule,
  createStandingAnswers,
  type GateParts,
  type Judges,
  type Open,
  passGate,
  plainLine,
  type RuleDecision,
  ruleList,
  type Settled,
  settleVerdict,
  terminalPrompt,
  type TerminalPromptOptions,
  type Verdict,
} from '../../src/consent/index.ts';
import {
  annotate,
  type ApprovalRecord,
  approveCall,
  type AuditPatch,
  changedPaths,
  checkOptions,
  clockOf,
  createIdOf,
  decideWithin,
  defineLayer,
  fingerprintOf,
  interrupt,
  type Interruption,
  isAborted,
  type JsonObject,
  type Next,
  scrubFor,
  supplyResult,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withResult,
} from '../../src/layer.ts';
import { type ConsentOptions, OPTIONS } from './options.ts';
import { denied, expired, failed, gone } from './refusals.ts';

export type {
  ConsentAnswer,
  ConsentDecide,
  ConsentDecision,
  ConsentOptions,
  ConsentRule,
  RuleDecision,
  TerminalPromptOptions,
};
export { autoApprove, ruleList, terminalPrompt };

/**
 * Lets a call go on only where it was approved, and binds the approval to this very call:
 * whatever is changed below by a layer that does not declare `rewrites` keeps it from running. It
 * does not limit how often a person is asked, and it does not check who they are.
 */
export function consent(given: ConsentDecide | ConsentOptions): ToolLayer {
  const options = typeof given === 'function' ? { decide: given } : given;
  checkOptions('consent', options, OPTIONS);
  const { remember = false, prompts = [] } = options;
  const standing = remember ? createStandingAnswers() : null;
  const expiresMs = options.expiresMs === 'never' ? undefined : options.expiresMs;
  const waitsForEver = options.expiresMs === 'never';
  const asking = { prompts: Object.freeze([...prompts]), standing, expiresMs, waitsForEver };
  const parts: Parts = { ...consentJudges(options), ...asking };
  return defineLayer({
    name: 'consent',
    caller(call, next) {
      if (isAborted(call)) return gone(call);
      const decided = decide(call, `approval_${createIdOf(call)()}`, parts);
      return decided instanceof Promise
        ? followLater(call, next, decided)
        : follow(call, next, decided);
    },
    close: async () => standing?.forget(),
  });
}

type Parts = GateParts & Judges;

/** At once where rules or a function decide at once. */
function decide(
  call: ToolCall,
  id: string,
  parts: Parts,
): Settled | Ended | Promise<Settled | Ended> {
  let verdict: Verdict | Promise<Verdict> | null;
  try {
    // Before a person is asked: a call without a fingerprint cannot be approved.
    fingerprintOf(call);
    verdict = parts.judgeNow(call);
    // No person has to be asked, and no argument was edited.
    if (
      verdict !== null &&
      !(verdict instanceof Promise) &&
      verdict.decision !== 'ask' &&
      verdict.args === undefined
    )
      return isAborted(call) ? { ended: gone(call) } : settleVerdict(id, call, verdict);
  } catch (cause) {
    return isAborted(call) ? { ended: gone(call) } : endedBy(call, id, failed(call, cause));
  }
  return decideLater(call, id, parts, verdict);
}

async function decideLater(
  call: ToolCall,
  id: string,
  parts: Parts,
  verdict: Verdict | Promise<Verdict> | null,
): Promise<Settled | Ended> {
  const { expiresMs } = parts;
  const startedAt = clockOf(call).now();
  // A caller that leaves meanwhile does not wait for it any more.
  if (verdict instanceof Promise) verdict.catch(() => {});
  const pass = (signal: AbortSignal) =>
    passGate(call, { id, startedAt, signal }, parts, verdict ?? parts.judge(call, signal));
  const decided = await decideWithin(
    call,
    expiresMs,
    pass,
    (value) => 'decision' in value && isPassed(value),
  );
  if (decided.by === 'cancelled') return { ended: gone(call) };
  const rule = verdict instanceof Promise ? undefined : verdict?.rule;
  if (decided.by === 'expired') return endedBy(call, id, expired(call, expiresMs ?? 0), rule);
  if (decided.by === 'failure') return endedBy(call, id, failed(call, decided.cause), rule);
  const { value } = decided;
  return 'interruption' in value ? { ended: waiting(call, value) } : value;
}

/** The question stays open. The record says which rule wanted it to be asked. */
const waiting = (
  call: ToolCall,
  { interruption, rule }: Extract<Open, { interruption: Interruption }>,
): ToolResult => annotate(interrupt(call, interruption), {}, { rule });

/** The call ends here. */
interface Ended {
  readonly ended: ToolResult;
}

const followLater = async (
  call: ToolCall,
  next: Next,
  settled: Promise<Settled | Ended>,
): Promise<ToolResult> => follow(call, next, await settled);

/** What a decision means for the call it was made about. */
function follow(
  call: ToolCall,
  next: Next,
  settled: Settled | Ended,
): ToolResult | Promise<ToolResult> {
  if ('ended' in settled) return settled.ended;
  if (!isPassed(settled)) return recorded(denied(call, settled), call, settled);
  const approved = approveCall(settled.call);
  const { supplied } = settled;
  return next(supplied === undefined ? approved : supplyResult(approved, supplied)).then((result) =>
    recorded(result, call, settled),
  );
}

const isPassed = ({ decision }: Settled): boolean => decision === 'approved' || decision === 'auto';

/** The layer's own word. `rule` names the rule of consent that asked for a person's decision. */
function endedBy(call: ToolCall, id: string, refusal: ToolResult, rule?: string): Ended {
  const isExpired = refusal.status === 'consent_expired';
  const settled: Settled = {
    id,
    decision: isExpired ? 'expired' : 'denied',
    decidedBy: 'consent',
    decidedAt: new Date(clockOf(call).now()).toISOString(),
    call,
    ...(isExpired ? {} : { reason: 'deciding failed' }),
    ...(rule === undefined ? {} : { rule }),
  };
  return { ended: recorded(refusal, call, settled) };
}

/** Who decided and when, over which call; what was edited by path only. */
function recorded(result: ToolResult, asked: ToolCall, settled: Settled): ToolResult {
  const { decision, decidedBy, decidedAt, reason, rule, call, remembered, supplied } = settled;
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
  return annotate(
    withResult(result, { approval: approvalOf(asked, settled) }),
    patch as AuditPatch,
    line,
  );
}

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
function approvalOf(
  asked: ToolCall,
  { id, decision, decidedBy, decidedAt, reason, call }: Settled,
): ApprovalRecord | null {
  const by = scrubFor(asked, decidedBy);
  const why = reason === undefined ? undefined : scrubFor(asked, reason);
  try {
    const fingerprint = fingerprintOf(call);
    const approval = { id, fingerprint, decision, decidedBy: by, decidedAt };
    return why === undefined ? approval : { ...approval, reason: why };
  } catch {
    // Only a call that was refused for it gets here: everything else was fingerprinted before it
    // was decided about.
    return null;
  }
}
