/** Nothing runs that was not allowed: by a rule, by a decider, or by a person who was shown exactly this call. */

import {
  annotate,
  type ApprovalPrompt,
  type ApprovalRecord,
  approveCall,
  changedPaths,
  checkOptions,
  clockOf,
  type ConsentRecord,
  createIdOf,
  defineLayer,
  type Expectation,
  expected,
  fail,
  refuse,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withCall,
  withResult,
} from '../../src/index.ts';
import { decideWithin } from './decision-window.ts';
import { fingerprintOf } from './fingerprint.ts';
import { type GateParts, passGate, type Pending, type Settled } from './gate.ts';
import { plainLine } from './plain-text.ts';
import { createStandingAnswers } from './standing-answers.ts';
import {
  annotationVerdict,
  checkedRules,
  type ConsentDecide,
  type ConsentRule,
  defaultVerdict,
  readVerdict,
  RULE_DECISION,
  type RuleDecision,
  ruleVerdict,
} from './verdict.ts';

export { autoApprove } from './auto-approve.ts';
export { ruleList } from './rule-list.ts';
export { terminalPrompt } from './terminal-prompt.ts';
export type { TerminalPromptOptions } from './terminal-prompt.ts';
export type { ConsentAnswer, ConsentDecide, ConsentDecision, ConsentRule, RuleDecision } from './verdict.ts';

export interface ConsentOptions {
  /** Decides about the calls that no rule is about. */
  readonly decide?: ConsentDecide;
  /** Any deny counts before any ask, and any ask before any allow. */
  readonly rules?: readonly ConsentRule[];
  /** For calls that no rule is about, where there is no `decide`. @default 'ask' with `rules`; else the tool's annotations count */
  readonly default?: RuleDecision;
  /** How long a decision may take, in milliseconds. @default as long as the caller waits */
  readonly expiresMs?: number;
  /** Whether `allow_always` and `reject_always` are offered and kept. @default false */
  readonly remember?: boolean;
  /** Channels to ask on, beside those of the host. @default none */
  readonly prompts?: readonly ApprovalPrompt[];
}

/** A longer timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const EXPECTED: Readonly<Record<keyof ConsentOptions, Expectation>> = {
  decide: expected.function,
  rules: { text: 'a list of rules', test: Array.isArray },
  default: RULE_DECISION,
  expiresMs: {
    text: `a whole number from 1 to ${MAX_TIMER_MS}`,
    test: (value) => expected.integer(1).test(value) && (value as number) <= MAX_TIMER_MS,
    numeric: true,
  },
  remember: expected.boolean,
  prompts: expected.listOf(expected.function),
};

/**
 * Lets a call go on only where somebody approved it, and binds the approval to this very call: whatever is changed below
 * by a layer that does not declare `rewrites` keeps it from running. It does not limit how often a person is asked, and it
 * does not check who they are.
 */
export function consent(given: ConsentDecide | ConsentOptions): ToolLayer {
  const options = typeof given === 'function' ? { decide: given } : given;
  checkOptions('consent', options, EXPECTED);
  const { expiresMs, remember = false, prompts = [] } = options;
  const standing = remember ? createStandingAnswers() : null;
  const parts: GateParts = { judge: judgeFrom(options), prompts: Object.freeze([...prompts]), standing, expiresMs };
  return defineLayer({
    name: 'consent',
    order: [{ outsideOf: 'idempotency', level: 'should', because: 'inside it, a stored answer would be given without asking anybody' }],
    async caller(call, next) {
      const id = `approval_${createIdOf(call)()}`;
      const startedAt = clockOf(call).now();
      const decided = await decideWithin(call, expiresMs, async (signal) => {
        // Before anybody is asked: what has no fingerprint cannot be approved.
        fingerprintOf(call);
        return passGate(call, { id, startedAt, signal }, parts);
      });
      if (decided.by === 'cancelled') return refuse(call, 'cancelled', 'The call was cancelled before it was decided about.');
      if (decided.by === 'expired') return expired(call, id, expiresMs ?? 0);
      if (decided.by === 'failure') return failed(call, id, decided.cause);
      if ('question' in decided.value) return waiting(call, decided.value);
      if (decided.value.decision === 'denied') return denied(call, decided.value);
      return recorded(await next(approveCall(decided.value.call)), call, decided.value);
    },
    close: async () => standing?.forget(),
  });
}

function judgeFrom({ decide, rules, default: fallback }: ConsentOptions): GateParts['judge'] {
  const checked = rules === undefined ? [] : checkedRules('consent', rules);
  const otherwise = fallback ?? (rules === undefined ? null : 'ask');
  return async (call, signal) => {
    const ruled = ruleVerdict(checked, call);
    if (ruled !== null) return ruled;
    if (decide !== undefined) return readVerdict(await decide(withCall(call, { signal })));
    return otherwise === null ? annotationVerdict(call.annotations) : defaultVerdict(otherwise);
  };
}

function waiting(call: ToolCall, { question }: Pending): ToolResult {
  const { id, fingerprint, shown, options, expiresAt } = question;
  const text = `${nameOf(call)} needs an approval, and nobody could be asked yet. Wait for the decision; do not repeat the call.`;
  const interruption = {
    kind: 'approval_required',
    id,
    fingerprint,
    shown,
    options,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  } as const;
  return refuse(call, 'approval_required', text, { interruption });
}

function expired(call: ToolCall, id: string, expiresMs: number): ToolResult {
  const text = `Nobody decided about ${nameOf(call)} within ${expiresMs} ms, so it did not run.`;
  return recorded(refuse(call, 'consent_expired', text), call, byLayer(call, id, 'expired'));
}

/** The cause stays with the host: a decider's error may speak of the arguments. */
function failed(call: ToolCall, id: string, cause: unknown): ToolResult {
  const text = `${nameOf(call)} was not approved: deciding about it failed. Do not repeat the call unchanged.`;
  return recorded(fail(call, 'consent_denied', cause, text), call, { ...byLayer(call, id, 'denied'), reason: 'deciding failed' });
}

function denied(call: ToolCall, settled: Settled): ToolResult {
  const why = settled.reason === undefined ? '' : `: ${settled.reason}`;
  const text = `${nameOf(call)} was not approved${why}. Do not repeat the call unchanged.`;
  return recorded(refuse(call, 'consent_denied', text), call, settled);
}

const byLayer = (call: ToolCall, id: string, decision: 'denied' | 'expired'): Settled => ({
  id,
  decision,
  decidedBy: 'consent',
  decidedAt: new Date(clockOf(call).now()).toISOString(),
  call,
});

const nameOf = ({ toolName }: ToolCall): string => plainLine(toolName, 128);

/** Who decided and when, over which call; what was edited by path only. */
function recorded(result: ToolResult, asked: ToolCall, settled: Settled): ToolResult {
  const { id, decision, decidedBy, decidedAt, reason, call, remembered } = settled;
  const record: ConsentRecord = { decision, decidedBy, decidedAt, ...(reason === undefined ? {} : { reason }) };
  const paths = call.toolArgs === asked.toolArgs ? [] : changedPaths(asked.toolArgs, call.toolArgs).map((path) => plainLine(path, 200));
  const edits = paths.length === 0 ? {} : { edited: true, paths };
  const line = { status: decision, decidedBy, ...(remembered === true ? { remembered } : {}) };
  return annotate(withResult(result, { approval: approvalOf(id, record, call) }), { consent: { ...record, ...edits } }, line);
}

function approvalOf(id: string, record: ConsentRecord, call: ToolCall): ApprovalRecord | null {
  try {
    return { id, fingerprint: fingerprintOf(call), ...record };
  } catch {
    // Only a call that was refused for it gets here: everything else was fingerprinted before it was decided about.
    return null;
  }
}
