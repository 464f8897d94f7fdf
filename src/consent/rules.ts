/** What rules say about a call, and what stands where no rule is about it. */

import type { ToolAnnotations } from '../core/contract/annotations.ts';
import type { ToolCall } from '../core/contract/call.ts';
import { AlliumError } from '../core/contract/errors.ts';
import { matchesTool } from '../core/contract/layer.ts';
import { checkOptions, expected } from '../core/contract/options.ts';
import type { JsonObject } from '../core/json/json-value.ts';
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
