/** The same random rules asked here and in Cedar: both must come to the same decision. */

import {
  preparsePolicySet,
  type Response,
  statefulIsAuthorized,
} from '@cedar-policy/cedar-wasm/nodejs';
import {
  type PermissionAnswer,
  type PermissionDecision,
  type PermissionRequest,
  type RulesPolicyOptions,
  rulesPolicy,
} from '../../../src/policy/index.ts';
import { makeCall } from '../../test-kit.ts';
import { createRandom } from './random.ts';
import { randomCall, randomRules, type RuleCall, type RulePair } from './rule-cases.ts';

/** What is compared with Cedar. */
export type RulesSubject = (
  options: RulesPolicyOptions,
) => (request: PermissionRequest) => Pick<PermissionAnswer, 'decision' | 'code'>;

export interface RuleFuzzOptions {
  /** Decisions to compare. Those where a rule cannot be decided do not count. */
  readonly decisions: number;
  readonly seed: number;
  /** What is put to the test. @default rulesPolicy */
  readonly subject?: RulesSubject;
  /** Told after every set of rules how many decisions are compared. */
  readonly onProgress?: (done: number) => void;
}

export interface RuleFuzzFigures {
  decisions: number;
  sets: number;
  /** Left out, because a rule cannot be decided: ours denies, Cedar skips the rule. */
  leftOut: number;
  readonly byDecision: Record<PermissionDecision, number>;
  /** The first few that differ, with the rules and the call. */
  readonly differences: string[];
  /** Calls where ours could not decide and Cedar had no trouble: there must be none. */
  oursAlone: number;
}

const CALLS_PER_SET = 25;
const MAX_DIFFERENCES = 5;

const bundled: RulesSubject = (options) => {
  const policy = rulesPolicy(options);
  // It answers at once, in the object form.
  return (request) => policy.evaluate(request) as PermissionAnswer;
};

/** Compares until enough decisions were made. The same seed gives the same run. */
export function fuzzRules({
  decisions,
  seed,
  subject = bundled,
  onProgress,
}: RuleFuzzOptions): RuleFuzzFigures {
  const random = createRandom(seed);
  const byDecision = { allow: 0, deny: 0, require_approval: 0, no_opinion: 0 };
  const figures: RuleFuzzFigures = {
    decisions: 0,
    sets: 0,
    leftOut: 0,
    byDecision,
    differences: [],
    oursAlone: 0,
  };
  while (figures.decisions < decisions && figures.differences.length < MAX_DIFFERENCES) {
    const pairs = randomRules(random);
    const ours = subject({ rules: pairs.map(({ rule }) => rule) });
    const theirs = askCedar(pairs);
    figures.sets += 1;
    for (let made = 0; made < CALLS_PER_SET && figures.decisions < decisions; made += 1) {
      const call = randomCall(random);
      compare(figures, pairs, call, ours(requestOf(call)), theirs(call));
    }
    onProgress?.(figures.decisions);
  }
  return figures;
}

interface CedarVerdict {
  readonly decision: PermissionDecision;
  readonly hasErrors: boolean;
}

function compare(
  figures: RuleFuzzFigures,
  pairs: readonly RulePair[],
  call: RuleCall,
  ours: Pick<PermissionAnswer, 'decision' | 'code'>,
  theirs: CedarVerdict,
): void {
  if (ours.code === 'rule_error' && !theirs.hasErrors) {
    figures.oursAlone += 1;
    figures.differences.push(`ours cannot decide: ${JSON.stringify({ call, rules: pairs })}`);
    return;
  }
  if (ours.code === 'rule_error' || theirs.hasErrors) {
    figures.leftOut += 1;
    return;
  }
  figures.decisions += 1;
  figures.byDecision[ours.decision] += 1;
  if (ours.decision !== theirs.decision) {
    figures.differences.push(
      `${ours.decision} here, ${theirs.decision} there: ${JSON.stringify({ call, rules: pairs })}`,
    );
  }
}

const requestOf = ({ tool, kind, request, args }: RuleCall): PermissionRequest => {
  const call = makeCall({ toolName: tool, toolArgs: args });
  // The fields fit the kind, but the compiler sees only that they are text and numbers.
  return {
    ...request,
    kind,
    toolName: tool,
    callId: call.callId,
    call,
  } as unknown as PermissionRequest;
};

const EFFECT = { allow: 'permit', ask: 'permit', deny: 'forbid' } as const;

/**
 * Two evaluations: what may be done unasked, and what may be done at all. A forbid that holds shows
 * in both.
 */
function askCedar(pairs: readonly RulePair[]): (call: RuleCall) => CedarVerdict {
  for (const set of ['allow', 'ask'] as const) {
    const members = pairs.filter(({ rule }) => rule.decision === set || rule.decision === 'deny');
    const staticPolicies = Object.fromEntries(
      members.map(({ rule, cedar }) => [
        rule.id,
        `${EFFECT[rule.decision]}(principal, action, resource) when { ${cedar} };`,
      ]),
    );
    const parsed = preparsePolicySet(set, { staticPolicies });
    if (parsed.type === 'failure')
      throw new Error(
        `Cedar cannot read ${JSON.stringify(staticPolicies)}: ${JSON.stringify(parsed.errors)}`,
      );
  }
  return (call) => verdictOf(authorize('allow', call), authorize('ask', call));
}

function authorize(set: 'allow' | 'ask', { tool, kind, request, args }: RuleCall): Response {
  const answer = statefulIsAuthorized({
    principal: { type: 'Agent', id: 'a' },
    action: { type: 'Action', id: 'call' },
    resource: { type: 'Tool', id: 't' },
    // Its own types want lists that can be written to.
    context: { tool, kind, request, args } as Parameters<typeof statefulIsAuthorized>[0]['context'],
    preparsedPolicySetId: set,
    entities: [],
  });
  if (answer.type === 'failure')
    throw new Error(`Cedar cannot answer: ${JSON.stringify(answer.errors)}`);
  return answer.response;
}

function verdictOf(allow: Response, ask: Response): CedarVerdict {
  const hasErrors = allow.diagnostics.errors.length > 0 || ask.diagnostics.errors.length > 0;
  // A refusal with a reason is a forbid that holds; one without is that nobody permits.
  const isForbidden = ask.decision === 'deny' && ask.diagnostics.reason.length > 0;
  if (isForbidden) return { decision: 'deny', hasErrors };
  if (ask.decision === 'allow') return { decision: 'require_approval', hasErrors };
  return { decision: allow.decision === 'allow' ? 'allow' : 'no_opinion', hasErrors };
}
