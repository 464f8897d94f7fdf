/**
 * What rules and deciders say about a call, read strictly: what is not exactly an approval is none.
 */

import type { ToolAnnotations } from '../core/contract/annotations.ts';
import type { EarlierDecision } from '../approvals/consultation.ts';
import type { ToolCall } from '../core/contract/call.ts';
import { AlliumError } from '../core/contract/errors.ts';
import { matchesTool } from '../core/contract/layer.ts';
import { checkOptions, expected } from '../core/contract/options.ts';
import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { clockOf } from '../core/onion/own-call.ts';
import { isoTime } from '../core/time/clock.ts';
import { plainLine } from './plain-text.ts';

/** What a rule says. `ask` and `require_approval` are the same. */
export type RuleDecision = 'allow' | 'deny' | 'ask' | 'require_approval';

export interface ConsentRule {
  /** A tool name or a glob (`*`). */
  readonly tool: string;
  /**
   * Looks at the arguments. An allow needs exactly `true`; a deny or an ask holds unless it is
   * exactly `false`.
   */
  readonly when?: (args: JsonObject) => boolean;
  readonly decision: RuleDecision;
}

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

/** A reading of what was said. */
export interface Verdict {
  readonly decision: 'approved' | 'auto' | 'denied' | 'ask';
  readonly by: string;
  readonly reason?: string;
  readonly args?: object;
  /** Which rule said so, for the record; absent for a decider's word. */
  readonly rule?: string;
}

const RULE_VERDICTS: Readonly<Record<RuleDecision, Verdict['decision']>> = {
  allow: 'auto',
  deny: 'denied',
  ask: 'ask',
  require_approval: 'ask',
};
const REPLIES: ReadonlyMap<unknown, Verdict['decision']> = new Map<unknown, Verdict['decision']>([
  ['approved', 'approved'],
  ['auto', 'auto'],
  ['denied', 'denied'],
  ['ask', 'ask'],
  ['require_approval', 'ask'],
]);

export const RULE_DECISION = expected.oneOf(...Object.keys(RULE_VERDICTS));

/** A rule, with what it says of a call that it is about. */
export interface CheckedRule extends ConsentRule {
  readonly verdict: Verdict;
}

/**
 * Throws for the first rule that is wrong; copies the rest, so that a list changed later changes
 * nothing.
 */
export function checkedRules(owner: string, rules: unknown): readonly CheckedRule[] {
  if (!Array.isArray(rules)) {
    throw new AlliumError('ERR_INVALID_OPTION', `${owner}: "rules" must be a list of rules`, {
      layer: owner,
      option: 'rules',
    });
  }
  return Object.freeze(
    Array.from<unknown>(rules).map((rule, index) => {
      const wanted = {
        tool: expected.required(expected.string),
        when: expected.function,
        decision: expected.required(RULE_DECISION),
      };
      checkOptions(`${owner} rule ${index + 1}`, rule, wanted);
      const checked = rule as ConsentRule; // Its members were just checked.
      return Object.freeze({ ...checked, verdict: verdictOf(checked, index + 1) });
    }),
  );
}

/** Rules are numbered from 1, as in the messages about wrong ones. */
function verdictOf({ tool, decision }: ConsentRule, number: number): Verdict {
  return Object.freeze({
    decision: RULE_VERDICTS[decision],
    by: 'rule',
    rule: `consent rule ${number} (${decision} ${plainLine(tool, 128)})`,
  });
}

/**
 * Not the first rule that matches: any deny counts before any ask, and any ask before any allow.
 */
export function ruleVerdict(
  rules: readonly CheckedRule[],
  { toolName, toolArgs }: ToolCall,
): Verdict | null {
  for (const decision of ['denied', 'ask', 'auto'] as const) {
    for (const rule of rules) {
      if (
        rule.verdict.decision === decision &&
        matchesTool([rule.tool], toolName) &&
        applies(rule, toolArgs)
      )
        return rule.verdict;
    }
  }
  return null;
}

function applies({ when, decision }: ConsentRule, args: JsonObject): boolean {
  if (when === undefined) return true;
  const said: unknown = when(args);
  return decision === 'allow' ? said === true : said !== false;
}

export const defaultVerdict = (decision: RuleDecision): Verdict => ({
  decision: RULE_VERDICTS[decision],
  by: 'default',
  rule: `consent default (${decision})`,
});

/**
 * What a tool says about itself can only make a call riskier: a tool that says nothing is taken for
 * destructive.
 */
export function annotationVerdict({
  destructive,
  needsApproval,
  safety,
}: ToolAnnotations): Verdict {
  const isRisky =
    destructive !== false || needsApproval === true || safety?.requiresConfirmation === true;
  return {
    decision: isRisky ? 'ask' : 'auto',
    by: 'annotations',
    rule: `consent annotations (${isRisky ? 'ask' : 'allow'})`,
  };
}

/** Takes a decider's answer for what it says, and everything else for a no. */
export function readVerdict(reply: unknown): Verdict {
  if (reply === true) return { decision: 'approved', by: 'decide' };
  if (reply === false) return { decision: 'denied', by: 'decide' };
  const answer = typeof reply === 'string' ? { decision: reply } : readMembers(reply);
  const decision = REPLIES.get(answer?.decision);
  if (answer === null || decision === undefined)
    return { decision: 'denied', by: 'decide', reason: NOT_UNDERSTOOD };
  const { decidedBy, reason, args } = answer;
  return {
    decision,
    by: decidedBy ?? 'decide',
    ...(reason === undefined ? {} : { reason }),
    ...(args === undefined ? {} : { args }),
  };
}

export const NOT_UNDERSTOOD = 'the answer was not understood';

export interface AnswerMembers {
  readonly decision: unknown;
  readonly decidedBy?: string;
  readonly reason?: string;
  readonly args?: object;
}

/**
 * The members of an answer, each read once, or `null` for what is none. An unknown member may
 * be a misspelt `args`: the call would run with what it was meant to change.
 */
export function readMembers(value: unknown): AnswerMembers | null {
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
