/** Nothing runs that was not allowed: by a rule, by a decider, or by a person who was shown exactly this call. */

import {
  type ApprovalPrompt,
  approveCall,
  checkOptions,
  clockOf,
  createIdOf,
  decideWithin,
  defineLayer,
  type Expectation,
  expected,
  fingerprintOf,
  refuse,
  supplyResult,
  type ToolLayer,
  withCall,
} from '../../src/index.ts';
import { denied, expired, failed, recorded, waiting } from './answers.ts';
import { type GateParts, passGate, type Settled } from './gate.ts';
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
    test: (value) => expected.integer(1).test(value) && (value as number) <= MAX_TIMER_MS, // A number: it was just tested.
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
    async caller(call, next) {
      const id = `approval_${createIdOf(call)()}`;
      const startedAt = clockOf(call).now();
      const decide = async (signal: AbortSignal) => {
        // Before anybody is asked: what has no fingerprint cannot be approved.
        fingerprintOf(call);
        return passGate(call, { id, startedAt, signal }, parts);
      };
      const decided = await decideWithin(call, expiresMs, decide, (value) => 'decision' in value && isPassed(value));
      if (decided.by === 'cancelled') return refuse(call, 'cancelled', 'The call was cancelled before it was decided about.');
      if (decided.by === 'expired') return expired(call, id, expiresMs ?? 0);
      if (decided.by === 'failure') return failed(call, id, decided.cause);
      if ('ended' in decided.value) return decided.value.ended;
      if ('interruption' in decided.value) return waiting(call, decided.value.interruption);
      const { supplied } = decided.value;
      if (!isPassed(decided.value)) return denied(call, decided.value);
      const approved = approveCall(decided.value.call);
      return recorded(await next(supplied === undefined ? approved : supplyResult(approved, supplied)), call, decided.value);
    },
    close: async () => standing?.forget(),
  });
}

const isPassed = ({ decision }: Settled): boolean => decision === 'approved' || decision === 'auto';

function judgeFrom({ decide, rules, default: fallback }: ConsentOptions): GateParts['judge'] {
  const checked = rules === undefined ? [] : checkedRules('consent', rules);
  const otherwise = fallback ?? (rules === undefined ? null : 'ask');
  return async (call, signal) => {
    const ruled = ruleVerdict(checked, call);
    if (ruled !== null) return ruled;
    if (decide !== undefined) return readVerdict(await decide(signal === call.signal ? call : withCall(call, { signal })));
    return otherwise === null ? annotationVerdict(call.annotations) : defaultVerdict(otherwise);
  };
}
