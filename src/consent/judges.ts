/** Who decides about a call: rules, a function of the host, or what the tool says of itself. */

import type { ToolCall } from '../core/contract/call.ts';
import { withCall } from '../core/onion/own-call.ts';
import { checkOptions, expected } from '../core/contract/options.ts';
import {
  annotationVerdict,
  checkedRules,
  type ConsentDecide,
  type ConsentRule,
  defaultVerdict,
  readVerdict,
  type RuleDecision,
  ruleVerdict,
  type Verdict,
} from './verdict.ts';

/** Decides by rules as `consent({ rules })` does, and asks about calls that no rule is about. */
export function ruleList(rules: readonly ConsentRule[]): ConsentDecide {
  const checked = checkedRules('ruleList', rules);
  return (call) => {
    const verdict = ruleVerdict(checked, call);
    return verdict === null ? 'ask' : { decision: verdict.decision, decidedBy: verdict.by };
  };
}

export interface AutoApproveOptions {
  /** Must be `true`: says in the host's own code what is approved unseen. */
  readonly readOnly: true;
}

/**
 * Approves tools that say they only read, and asks about all others. It takes the tool's word for
 * it: for tools of servers that are not trusted use rules.
 */
export function autoApprove(options: AutoApproveOptions): ConsentDecide {
  checkOptions('autoApprove', options, {
    readOnly: expected.required({ text: 'true', test: (value) => value === true }),
  });
  return ({ annotations: { readOnly, destructive, needsApproval, safety } }) =>
    readOnly === true &&
    destructive === false &&
    needsApproval !== true &&
    safety?.requiresConfirmation !== true
      ? 'auto'
      : 'ask';
}

/** What rules and the decider say about a call. */
export interface Judges {
  readonly judge: (call: ToolCall, signal: AbortSignal) => Promise<Verdict>;
  /** Without a signal of its own; `null` where the decider is to have one. */
  readonly judgeNow: (call: ToolCall) => Verdict | Promise<Verdict> | null;
}

/** What a call is judged by. */
export interface JudgeOptions {
  readonly decide?: ConsentDecide;
  readonly rules?: readonly ConsentRule[];
  /** For calls that no rule is about, where there is no `decide`. */
  readonly default?: RuleDecision;
  /** With a number, `decide` gets a signal that aborts when the time is up. */
  readonly expiresMs?: number | 'never';
}

/** Any deny counts before any ask, and any ask before any allow. Throws for a wrong rule. */
export function consentJudges(options: JudgeOptions): Judges {
  const { decide, rules, default: fallback, expiresMs } = options;
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
