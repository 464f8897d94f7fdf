/** What `consent` will say of a tool, as far as that can be told before there are arguments. */

import {
  annotationVerdict,
  type CheckedRule,
  checkedRules,
  defaultVerdict,
  type RuleDecision,
  type Verdict,
} from '../../middleware/consent/verdict.ts';
import { isObject } from '../core/json.ts';
import { matchesTool, type ToolSpec } from '../index.ts';

/** A verdict that holds unless something that looks at the arguments says otherwise. */
export interface Foreseen {
  /** `null` where only a decider knows. */
  readonly verdict: Verdict | null;
  /** Rules, or the decider, that may decide otherwise, as records name them. */
  readonly unless: readonly string[];
}

/**
 * Reads the options of `consent` as they stand in a file, where a condition may be anything: a rule with `when` may apply or not. Rules that cannot be read
 * here, because code makes them, are named in `unless`.
 */
export function foreseeConsent(
  options: unknown,
  { name, annotations }: Pick<ToolSpec, 'name' | 'annotations'>,
): Foreseen {
  const given = isObject(options) ? options : {};
  const isCode =
    (options !== undefined && !isObject(options)) ||
    Object.keys(given).some((key) => key.startsWith('$'));
  const isUnread = given.rules !== undefined && !Array.isArray(given.rules);
  if (isCode || isUnread) return { verdict: null, unless: ['consent (what code decides)'] };
  const rules = readRules(given.rules).filter(({ tool }) => matchesTool([tool], name));
  const sure = strictest(rules.filter(({ when }) => when === undefined));
  const perhaps = rules.filter(
    (rule) =>
      rule.when !== undefined &&
      (sure === null || RANK[rule.verdict.decision] > RANK[sure.verdict.decision]),
  );
  const unless = perhaps.map(({ verdict }) => verdict.rule ?? '');
  if (sure !== null) return { verdict: sure.verdict, unless };
  if (given.decide !== undefined)
    return { verdict: null, unless: [...unless, 'consent (what "decide" says)'] };
  const fallback = given.default ?? (given.rules === undefined ? undefined : 'ask');
  // The options were checked when the layer was made.
  return {
    verdict:
      fallback === undefined
        ? annotationVerdict(annotations)
        : defaultVerdict(fallback as RuleDecision),
    unless,
  };
}

/** A deny counts before an ask, and an ask before an allow. */
const RANK: Readonly<Record<Verdict['decision'], number>> = {
  denied: 2,
  ask: 1,
  auto: 0,
  approved: 0,
};

function strictest(rules: readonly CheckedRule[]): CheckedRule | null {
  return [...rules].sort((a, b) => RANK[b.verdict.decision] - RANK[a.verdict.decision])[0] ?? null;
}

/** A condition is a function once the layer is made; here it only counts that there is one. */
function readRules(rules: unknown): readonly CheckedRule[] {
  if (!Array.isArray(rules)) return [];
  const given: readonly unknown[] = rules;
  return checkedRules(
    'consent',
    given.map((rule) =>
      isObject(rule) && rule.when !== undefined ? { ...rule, when: () => true } : rule,
    ),
  );
}
