/**
 * Who decides about a call: rules, a function of the host, or what the tool says of itself. Read
 * strictly: what is not exactly an approval is none.
 */

import type { ToolCall } from '../core/contract/call.ts';
import type { EarlierDecision } from '../approvals/consultation.ts';
import { checkOptions, expected } from '../core/contract/options.ts';
import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { clockOf, withCall } from '../core/onion/own-call.ts';
import { isoTime } from '../core/time/clock.ts';
import { plainLine } from './plain-text.ts';
import {
  annotationVerdict,
  checkedRules,
  type ConsentRule,
  defaultVerdict,
  type RuleDecision,
  ruleVerdict,
  type Verdict,
} from './rules.ts';

/** What a decider may answer besides `true` and `false`. */
export type ConsentDecision = 'approved' | 'auto' | 'denied' | 'ask' | 'require_approval';

export interface ConsentAnswer {
  readonly decision: ConsentDecision;
  /** @default 'decide' */
  readonly decidedBy?: string;
  /** For the record and, where it denies, for the model. Must hold no argument's value. */
  readonly reason?: string;
  /** Other arguments to run with. They are decided about again. */
  readonly args?: JsonObject;
}

type ConsentReply = boolean | ConsentDecision | ConsentAnswer;

/** Decides about a call. What it throws, and whatever is none of these answers, denies. */
export type ConsentDecide = (call: ToolCall) => ConsentReply | Promise<ConsentReply>;

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
  const checked = rules === undefined ? null : checkedRules('consent', rules);
  const otherwise = fallback ?? (rules === undefined ? null : 'ask');
  const judge = (
    call: ToolCall,
    signal: AbortSignal | null = null,
  ): Verdict | Promise<Verdict> | null => {
    const ruled = checked === null ? null : ruleVerdict(checked, call);
    if (ruled !== null) return ruled;
    if (decide === undefined)
      return otherwise === null ? annotationVerdict(call.annotations) : defaultVerdict(otherwise);
    if (signal === null && typeof expiresMs === 'number') return null;
    const isOwn = signal === null || signal === call.signal;
    const reply = decide(isOwn ? call : withCall(call, { signal }));
    // A plain word is read at once; anything else may have to be waited for.
    return typeof reply === 'string' || typeof reply === 'boolean'
      ? readVerdict(reply)
      : Promise.resolve(reply).then(readVerdict);
  };
  return {
    judgeNow: judge,
    judge: async (call, signal) => (await judge(call, signal)) ?? readVerdict(undefined),
  };
}

/** What a decider says in a word. */
const WORDS: ReadonlyMap<unknown, Verdict> = new Map<unknown, Verdict>(
  (
    [
      ['approved', 'approved'],
      ['auto', 'auto'],
      ['denied', 'denied'],
      ['ask', 'ask'],
      ['require_approval', 'ask'],
      [true, 'approved'],
      [false, 'denied'],
    ] as const
  ).map(([word, decision]) => [word, Object.freeze({ decision, by: 'decide' })]),
);

/** Takes a decider's answer for what it says, and everything else for a no. */
function readVerdict(reply: unknown): Verdict {
  const word = WORDS.get(reply);
  if (word !== undefined) return word;
  const answer = readMembers(reply);
  const said = typeof answer?.decision === 'string' ? WORDS.get(answer.decision) : undefined;
  if (answer === null || said === undefined)
    return { decision: 'denied', by: 'decide', reason: NOT_UNDERSTOOD };
  const { decidedBy, reason, args } = answer;
  return {
    decision: said.decision,
    by: decidedBy ?? said.by,
    ...(reason === undefined ? {} : { reason }),
    ...(args === undefined ? {} : { args }),
  };
}

const NOT_UNDERSTOOD = 'the answer was not understood';

interface AnswerMembers {
  readonly decision: unknown;
  readonly decidedBy?: string;
  readonly reason?: string;
  readonly args?: object;
}

/**
 * The members of an answer, each read once, or `null` for what is none. An unknown member may
 * be a misspelt `args`: the call would run with what it was meant to change.
 */
function readMembers(value: unknown): AnswerMembers | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  // A map: what was added to the prototype of all objects is no answer.
  const members = new Map<string, unknown>(Object.entries(value));
  const [decision, decidedBy, reason, args] = MEMBERS.map((name) => members.get(name));
  if ([...members.keys()].some((name) => !MEMBERS.includes(name))) return null;
  if (
    !isText(decidedBy) ||
    !isText(reason) ||
    !(args === undefined || (typeof args === 'object' && args !== null))
  )
    return null;
  return {
    decision,
    ...(decidedBy === undefined || decidedBy === '' ? {} : { decidedBy }),
    ...(reason === undefined || reason === '' ? {} : { reason }),
    ...(args === undefined ? {} : { args }),
  };
}

const MEMBERS = ['decision', 'decidedBy', 'reason', 'args'];

const isText = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string';

/** A decision, stamped when it was made. */
export interface Settled {
  /** Of the question, also where it did not have to be asked. */
  readonly id: string;
  readonly decision: 'approved' | 'auto' | 'denied' | 'expired';
  readonly decidedBy: string;
  readonly decidedAt: string;
  readonly reason?: string;
  /** The rule of consent that decided, or that asked for a person's decision. */
  readonly rule?: string;
  /**
   * The call it is about, with other arguments than the one that came in where a person edited
   * them.
   */
  readonly call: ToolCall;
  readonly remembered?: true;
  /** What the call comes to, in the tool's place. */
  readonly supplied?: { readonly value: JsonValue };
  /** The question was put in an earlier pass over the same call. */
  readonly earlier?: EarlierDecision;
}

/** Writes down a decision. */
export function settleVerdict(
  id: string,
  call: ToolCall,
  {
    decision,
    by,
    reason,
    rule,
  }: Pick<Verdict, 'by' | 'reason' | 'rule'> & { decision: Verdict['decision'] | 'expired' },
): Settled {
  // `ask` does not get here; if it did, no person would have answered, so it counts as a no.
  const said = decision === 'ask' ? 'denied' : decision;
  const settled = {
    id,
    decision: said,
    decidedBy: plainLine(by, 200),
    decidedAt: isoTime(clockOf(call).now()),
    call,
  } as const;
  if (reason === undefined && rule === undefined) return settled;
  return {
    ...settled,
    ...(reason === undefined ? {} : { reason: plainLine(reason) }),
    ...(rule === undefined ? {} : { rule }),
  };
}
