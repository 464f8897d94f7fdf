/** Holds a policy to its cases, and finds the rules that no case is about. */

import {
  allows,
  type CapabilityPolicy,
  evaluateCheckers,
  type PermissionDecision,
  type PermissionPolicy,
  type PermissionRequest,
  type PermissionVerdict,
} from '../../policy/index.ts';
import { excessOf, promiseRequests } from '../../policy/ambient-policy.ts';
import type { ExpectedVerdict, PolicyCase, PolicyTests } from './read-policy-tests.ts';

/** How one case ended. */
export interface CaseResult {
  readonly name: string;
  readonly ok: boolean;
  readonly expected: { readonly verdict: ExpectedVerdict; readonly code?: string };
  readonly got: {
    readonly verdict: ExpectedVerdict;
    readonly code?: string;
    readonly reason?: string;
    readonly by?: string;
  };
}

/** Something no case decided by. */
export interface Untested {
  /** The policy's name, or `capability`. */
  readonly policy: string;
  /** The rule, where the policy has rules. */
  readonly rule?: string;
}

export interface PolicyTestReport {
  readonly results: readonly CaseResult[];
  /** Rules that decided no case, and policies that never had an opinion. */
  readonly untested: readonly Untested[];
  /** How many rules, and policies without rules, there are. */
  readonly parts: number;
}

const VERDICTS: Readonly<Record<PermissionDecision, ExpectedVerdict>> = Object.freeze({
  allow: 'allow',
  deny: 'deny',
  require_approval: 'ask',
  no_opinion: 'no_opinion',
});

/**
 * Asks about one case after another, as the core does: the capability policy first, and the others
 * where it allows.
 */
export async function runPolicyTests(
  tests: PolicyTests,
  signal: AbortSignal,
): Promise<PolicyTestReport> {
  const decided = new Set<string>();
  const results: CaseResult[] = [];
  for (const each of tests.cases) {
    if (signal.aborted) break;
    results.push(await runCase(each, tests, decided, signal));
  }
  const parts = partsOf(tests);
  return {
    results,
    untested: parts.filter((part) => !decided.has(part.key)).map(({ untested }) => untested),
    parts: parts.length,
  };
}

async function runCase(
  each: PolicyCase,
  tests: PolicyTests,
  decided: Set<string>,
  signal: AbortSignal,
): Promise<CaseResult> {
  const { name, request, expect, code } = each;
  const excess = tests.capability === null ? null : excessIn(tests.capability, request);
  const verdict: PermissionVerdict =
    excess === null
      ? await evaluateCheckers(tests.policies, request, { signal })
      : {
          decision: 'deny',
          code: 'permission_denied',
          reason: excess,
          by: CAPABILITY,
          answers: [],
        };
  if (excess !== null) decided.add(CAPABILITY);
  for (const [index, answer] of verdict.answers.entries()) {
    if (answer.decision !== 'no_opinion') decided.add(keyOf(index)).add(keyOf(index, answer.code));
  }
  const got = VERDICTS[verdict.decision];
  return {
    name,
    ok: got === expect && (code === undefined || code === verdict.code),
    expected: { verdict: expect, ...(code === undefined ? {} : { code }) },
    got: {
      verdict: got,
      ...(verdict.code === undefined ? {} : { code: verdict.code }),
      ...(verdict.reason === undefined ? {} : { reason: verdict.reason }),
      ...(verdict.by === null ? {} : { by: verdict.by }),
    },
  };
}

const CAPABILITY = 'capability';

/**
 * Why a request exceeds what a call may reach at most. A file that is proposed is held to the
 * folders, as the core does.
 */
function excessIn(capability: CapabilityPolicy, request: PermissionRequest): string | null {
  const paths = 'path' in request ? [request.path, 'to' in request ? request.to : undefined] : [];
  const isFile = request.kind.startsWith('filesystem.');
  if (isFile) promiseRequests(request.call);
  const excess = excessOf(request.call, capability, CAPABILITY);
  if (excess !== null || !isFile) return excess?.message ?? null;
  const isOutside = paths.some((path) => typeof path === 'string' && !allows(capability, { path }));
  return isOutside ? 'the path is outside the folders of this scope; name one inside' : null;
}

const keyOf = (index: number, rule?: string): string => JSON.stringify([index, rule ?? null]);

function partsOf({
  capability,
  policies,
}: PolicyTests): readonly { readonly key: string; readonly untested: Untested }[] {
  const own = capability === null ? [] : [{ key: CAPABILITY, untested: { policy: CAPABILITY } }];
  return [
    ...own,
    ...policies.flatMap((policy, index) => {
      const rules = ruleIdsOf(policy);
      if (rules === null) return [{ key: keyOf(index), untested: { policy: policy.name } }];
      return rules.map((rule) => ({
        key: keyOf(index, rule),
        untested: { policy: policy.name, rule },
      }));
    }),
  ];
}

/** Policies made of rules say so by carrying their names. */
function ruleIdsOf(policy: PermissionPolicy): readonly string[] | null {
  const { ruleIds } = policy as { readonly ruleIds?: readonly string[] };
  return ruleIds ?? null;
}
