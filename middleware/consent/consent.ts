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
  approveCall,
  checkOptions,
  clockOf,
  createIdOf,
  decideWithin,
  defineLayer,
  fingerprintOf,
  interrupt,
  type Interruption,
  isAborted,
  type Next,
  refuse,
  supplyResult,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/layer.ts';
import { type ConsentOptions, OPTIONS } from './options.ts';
import { denied, expired, failed, recorded } from './refusals.ts';

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
        ? decided.then((one) => follow(call, next, one))
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
    if (verdict !== null && isFinal(verdict))
      return isAborted(call) ? { ended: gone(call) } : settleVerdict(id, call, verdict);
  } catch (cause) {
    return { ended: isAborted(call) ? gone(call) : failed(call, id, cause) };
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
  if (decided.by === 'expired') return { ended: expired(call, id, expiresMs ?? 0, rule) };
  if (decided.by === 'failure') return { ended: failed(call, id, decided.cause, rule) };
  const { value } = decided;
  return 'interruption' in value ? { ended: waiting(call, value) } : value;
}

/** The question stays open. The record says which rule wanted it to be asked. */
const waiting = (
  call: ToolCall,
  { interruption, rule }: Extract<Open, { interruption: Interruption }>,
): ToolResult => annotate(interrupt(call, interruption), {}, { rule });

const gone = (call: ToolCall) =>
  refuse(call, 'cancelled', 'The call was cancelled before it was decided about.');

/** The call ends here. */
interface Ended {
  readonly ended: ToolResult;
}

/** What a decision means for the call it was made about. */
async function follow(call: ToolCall, next: Next, settled: Settled | Ended): Promise<ToolResult> {
  if ('ended' in settled) return settled.ended;
  if (!isPassed(settled)) return denied(call, settled);
  const approved = approveCall(settled.call);
  const { supplied } = settled;
  const result = await next(supplied === undefined ? approved : supplyResult(approved, supplied));
  return recorded(result, call, settled);
}

const isPassed = ({ decision }: Settled): boolean => decision === 'approved' || decision === 'auto';

/** No person has to be asked, and no argument was edited. */
const isFinal = (verdict: Verdict | Promise<Verdict>): verdict is Verdict =>
  !(verdict instanceof Promise) && verdict.decision !== 'ask' && verdict.args === undefined;
