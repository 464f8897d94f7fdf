/** Nothing runs that was not allowed: by a rule, by a decider, or by a person who was shown exactly this call. */

import {
  annotate,
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
  inSteps,
  interrupt,
  type Interruption,
  isAborted,
  refuse,
  type Stepped,
  supplyResult,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withCall,
} from '../../src/index.ts';
import { denied, expired, failed, recorded } from './answers.ts';
import { type GateParts, type Open, passGate, settle, type Settled } from './gate.ts';
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
  type Verdict,
} from './verdict.ts';

export { autoApprove } from './auto-approve.ts';
export { ruleList } from './rule-list.ts';
export { terminalPrompt } from './terminal-prompt.ts';
export type { TerminalPromptOptions } from './terminal-prompt.ts';
export type {
  ConsentAnswer,
  ConsentDecide,
  ConsentDecision,
  ConsentRule,
  RuleDecision,
} from './verdict.ts';

export interface ConsentOptions {
  /** Decides about the calls that no rule is about. */
  readonly decide?: ConsentDecide;
  /** Any deny counts before any ask, and any ask before any allow. */
  readonly rules?: readonly ConsentRule[];
  /** For calls that no rule is about, where there is no `decide`. @default 'ask' with `rules`; else the tool's annotations count */
  readonly default?: RuleDecision;
  /** How long a decision may take, in milliseconds, or `never`. @default as long as the caller waits, and then one day */
  readonly expiresMs?: number | 'never';
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
    text: `a whole number from 1 to ${MAX_TIMER_MS}, or 'never'`,
    test: (value) =>
      value === 'never' || (expected.integer(1).test(value) && Number(value) <= MAX_TIMER_MS),
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
  const { remember = false, prompts = [] } = options;
  const standing = remember ? createStandingAnswers() : null;
  const expiresMs = options.expiresMs === 'never' ? undefined : options.expiresMs;
  const waitsForEver = options.expiresMs === 'never';
  const parts = {
    ...judgesFrom(options),
    prompts: Object.freeze([...prompts]),
    standing,
    expiresMs,
    waitsForEver,
  };
  return defineLayer({
    name: 'consent',
    caller: inSteps((call) => {
      if (isAborted(call)) return gone(call);
      const id = `approval_${createIdOf(call)()}`;
      try {
        // Before anybody is asked: what has no fingerprint cannot be approved.
        fingerprintOf(call);
        const verdict = parts.judgeNow(call);
        // Most calls end here, and to wait for what is known costs as much as all the rest.
        if (verdict !== null && isFinal(verdict))
          return isAborted(call) ? gone(call) : follow(call, settle(id, call, verdict));
        return decideLater(call, id, verdict);
      } catch (cause) {
        return isAborted(call) ? gone(call) : failed(call, id, cause);
      }
    }),
    close: async () => standing?.forget(),
  });

  async function decideLater(
    call: ToolCall,
    id: string,
    verdict: Verdict | Promise<Verdict> | null,
  ): Promise<Stepped> {
    const startedAt = clockOf(call).now();
    // A caller that leaves meanwhile does not wait for it any more.
    if (verdict instanceof Promise) verdict.catch(() => {});
    const decide = (signal: AbortSignal) =>
      passGate(call, { id, startedAt, signal }, parts, verdict ?? parts.judge(call, signal));
    const decided = await decideWithin(
      call,
      expiresMs,
      decide,
      (value) => 'decision' in value && isPassed(value),
    );
    if (decided.by === 'cancelled') return gone(call);
    const rule = verdict instanceof Promise ? undefined : verdict?.rule;
    if (decided.by === 'expired') return expired(call, id, expiresMs ?? 0, rule);
    if (decided.by === 'failure') return failed(call, id, decided.cause, rule);
    if ('ended' in decided.value) return decided.value.ended;
    if ('interruption' in decided.value) return waiting(call, decided.value);
    return follow(call, decided.value);
  }
}

/** The question stays open. The record says which rule wanted it to be asked. */
const waiting = (
  call: ToolCall,
  { interruption, rule }: Extract<Open, { interruption: Interruption }>,
): ToolResult => annotate(interrupt(call, interruption), {}, { rule });

const gone = (call: ToolCall) =>
  refuse(call, 'cancelled', 'The call was cancelled before it was decided about.');

/** What a decision means for the call it was made about. */
function follow(call: ToolCall, settled: Settled): Stepped {
  if (!isPassed(settled)) return denied(call, settled);
  const approved = approveCall(settled.call);
  const { supplied } = settled;
  return {
    call: supplied === undefined ? approved : supplyResult(approved, supplied),
    leave: (result) => recorded(result, call, settled),
  };
}

const isPassed = ({ decision }: Settled): boolean => decision === 'approved' || decision === 'auto';

/** Nobody has to be asked, and nothing was edited. */
const isFinal = (verdict: Verdict | Promise<Verdict>): verdict is Verdict =>
  !(verdict instanceof Promise) && verdict.decision !== 'ask' && verdict.args === undefined;

interface Judges extends Pick<GateParts, 'judge'> {
  /** Without a signal of its own; `null` where the decider is to have one. */
  readonly judgeNow: (call: ToolCall) => Verdict | Promise<Verdict> | null;
}

function judgesFrom({ decide, rules, default: fallback, expiresMs }: ConsentOptions): Judges {
  const checked = rules === undefined ? [] : checkedRules('consent', rules);
  const otherwise = fallback ?? (rules === undefined ? null : 'ask');
  const judge = (call: ToolCall, signal: AbortSignal | null): Verdict | Promise<Verdict> | null => {
    const ruled = ruleVerdict(checked, call);
    if (ruled !== null) return ruled;
    if (decide === undefined)
      return otherwise === null ? annotationVerdict(call.annotations) : defaultVerdict(otherwise);
    if (signal === null) return typeof expiresMs === 'number' ? null : verdictFrom(decide(call));
    return verdictFrom(decide(signal === call.signal ? call : withCall(call, { signal })));
  };
  return {
    judgeNow: (call) => judge(call, null),
    judge: async (call, signal) => (await judge(call, signal)) ?? readVerdict(undefined),
  };
}

/** A plain word is read at once; anything else may have to be waited for. */
const verdictFrom = (reply: ReturnType<ConsentDecide>): Verdict | Promise<Verdict> =>
  typeof reply === 'string' || typeof reply === 'boolean'
    ? readVerdict(reply)
    : Promise.resolve(reply).then(readVerdict);
