/**
 * Rules written as data: allow, deny or ask, by tool, by kind of request, and by a condition on
 * what the call is about.
 */

import { hashCanonical } from '../../core/json/hash-canonical.ts';
import { matchesTool } from '../../core/contract/layer.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import type {
  PermissionAnswer,
  PermissionDecision,
  PermissionPolicy,
  PermissionRequest,
} from '../permission.ts';
import { type ExpressionScope, scopeOf } from './expression-values.ts';
import {
  type CompiledRule,
  type PermissionRule,
  readRules,
  type RuleDecision,
} from './read-rules.ts';

/** The rules of a `rulesPolicy`. */
export interface RulesPolicyOptions {
  /**
   * In any order: deny comes before ask, ask before allow. Of several that say the same, the first
   * is named.
   */
  readonly rules: readonly PermissionRule[];
  /**
   * What is said where no rule applies.
   * @default no opinion
   */
  readonly fallback?: RuleDecision;
}

/** A policy made of rules. */
export interface RulesPolicy extends PermissionPolicy {
  /** The rules' names, in their order. An answer's `code` is the name of the rule that decided. */
  readonly ruleIds: readonly string[];
}

const EXPECTED = Object.freeze({
  rules: expected.required(expected.listOf(expected.object)),
  fallback: expected.oneOf('allow', 'deny', 'ask'),
});

const DECISIONS: Readonly<Record<RuleDecision, PermissionDecision>> = Object.freeze({
  allow: 'allow',
  deny: 'deny',
  ask: 'require_approval',
});

/** How many rules that almost applied are named. */
const MAX_HINTS = 3;

/**
 * A policy from rules that are plain JSON. Conditions are checked here: a name nobody knows, a
 * function that is not there or a pattern that cannot be compiled throws `ERR_INVALID_OPTION` with
 * the rule's name. A condition that cannot be decided when a call comes (a missing argument, a
 * wrong type) denies with `rule_error`, whatever the rule says and whatever the others say. It
 * trusts what a tool proposes: a rule on `filesystem.write` sees no write that is not proposed.
 * Annotations are a tool's own word and prove nothing. A rule without `kind` is asked for every
 * request of a call, also for those that lack the field its condition reads.
 */
export function rulesPolicy(options: RulesPolicyOptions): RulesPolicy {
  checkOptions('rulesPolicy', options, EXPECTED);
  const { rules, fallback } = options;
  const { compiled, source } = readRules('rulesPolicy', rules);
  return Object.freeze({
    name: 'rulesPolicy',
    digest: hashCanonical(['rulesPolicy', source, fallback ?? null]),
    ruleIds: Object.freeze(compiled.map(({ id }) => id)),
    evaluate: (request: PermissionRequest) => decide(compiled, fallback, request),
    alwaysDenies: (toolName: string) => alwaysDenies(compiled, fallback, toolName),
  });
}

/**
 * Every call proposes `tool.call`: what is denied there, without a look at the arguments, is
 * denied.
 */
function alwaysDenies(
  rules: readonly CompiledRule[],
  fallback: RuleDecision | undefined,
  toolName: string,
): boolean {
  const named = rules.filter((rule) => isNamed(rule, { toolName, kind: 'tool.call' }));
  if (named.some(({ decision, when }) => decision === 'deny' && when === null)) return true;
  return fallback === 'deny' && named.every(({ decision }) => decision === 'deny');
}

/** What came of one rule: it applies, it does not, or nobody can say. */
type Outcome = 'applies' | 'does_not' | 'error';

function decide(
  rules: readonly CompiledRule[],
  fallback: RuleDecision | undefined,
  request: PermissionRequest,
): PermissionAnswer {
  const named = rules.filter((rule) => isNamed(rule, request));
  const outcomes = outcomesOf(named, request);
  const first = (decision: RuleDecision) =>
    named.find((rule, at) => rule.decision === decision && outcomes[at] === 'applies');
  const denied = first('deny');
  if (denied !== undefined) return answerOf(denied);
  const broken = named.find((_, at) => outcomes[at] === 'error');
  if (broken !== undefined) return undecided(broken);
  const found = first('ask') ?? first('allow');
  return found === undefined ? withoutRule(named, fallback) : answerOf(found);
}

const isNamed = (
  { tools, kinds }: CompiledRule,
  { toolName, kind }: Pick<PermissionRequest, 'toolName' | 'kind'>,
): boolean =>
  (tools === null || matchesTool(tools, toolName)) && (kinds === null || matchesTool(kinds, kind));

/** All of them, because one that cannot be decided outweighs those that can. */
function outcomesOf(
  rules: readonly CompiledRule[],
  request: PermissionRequest,
): readonly Outcome[] {
  const scope = rules.some(({ when }) => when !== null) ? readOnce(request) : null;
  return rules.map(({ when }) => {
    if (when === null) return 'applies';
    if (scope === null) return 'error';
    try {
      return when.holds(scope) ? 'applies' : 'does_not';
    } catch {
      return 'error';
    }
  });
}

/**
 * `null` for a request that cannot be read: none of the rules that want to look at it can be
 * decided.
 */
function readOnce(request: PermissionRequest): ExpressionScope | null {
  try {
    return scopeOf(request);
  } catch {
    return null;
  }
}

const answerOf = (rule: CompiledRule): PermissionAnswer => ({
  decision: DECISIONS[rule.decision],
  reason: rule.reason ?? `rule "${rule.id}" ${SAYS[rule.decision]}${looksAt(rule)}`,
  code: rule.id,
});

const SAYS: Readonly<Record<RuleDecision, string>> = Object.freeze({
  allow: 'allows this',
  deny: 'denies this',
  ask: 'wants a person to decide this',
});

/** An error of the language may quote a value: the rule's own words do not. */
const undecided = (rule: CompiledRule): PermissionAnswer => ({
  decision: 'deny',
  reason: `rule "${rule.id}" cannot be decided for this call, so it is denied${looksAt(rule)}; send what it looks at, with the types it is meant to have`,
  code: 'rule_error',
});

const looksAt = ({ when }: CompiledRule): string =>
  when === null || when.reads.length === 0 ? '' : `: it looks at ${when.reads.join(', ')}`;

/**
 * Names the rules that would have said yes for other arguments: the model can do something about
 * that.
 */
function withoutRule(
  named: readonly CompiledRule[],
  fallback: RuleDecision | undefined,
): PermissionAnswer {
  const hints = named
    .filter(({ decision }) => decision !== 'deny')
    .slice(0, MAX_HINTS)
    .map(
      (rule) =>
        `rule "${rule.id}" would ${rule.decision === 'allow' ? 'allow it' : 'ask a person'}${reasonOf(rule)}`,
    );
  const reason = ['no rule applies to this', ...hints].join('; ');
  return fallback === undefined
    ? { decision: 'no_opinion', reason }
    : { decision: DECISIONS[fallback], reason, code: 'no_rule' };
}

const reasonOf = (rule: CompiledRule): string =>
  rule.reason === undefined ? looksAt(rule) : `: ${rule.reason}`;
