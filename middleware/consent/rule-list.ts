/** Rules as a decider, to be combined with other deciders. */

import { checkedRules, type ConsentDecide, type ConsentRule, ruleVerdict } from './verdict.ts';

/** Decides by rules as `consent({ rules })` does, and asks about calls that no rule is about. */
export function ruleList(rules: readonly ConsentRule[]): ConsentDecide {
  const checked = checkedRules('ruleList', rules);
  return (call) => {
    const verdict = ruleVerdict(checked, call);
    return verdict === null ? 'ask' : { decision: verdict.decision, decidedBy: verdict.by };
  };
}
