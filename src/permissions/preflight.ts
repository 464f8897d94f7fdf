/**
 * The permission check of a call: made once, right before the executor, on what it would be entered
 * with.
 */

import { waitWithin } from '../core/time/abort.ts';
import type { Gate } from '../core/onion/pass.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import { stateOf } from '../core/onion/own-call.ts';
import type { ToolCall } from '../core/contract/call.ts';
import { hashCanonical } from '../core/json/hash-canonical.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { cancelled } from '../core/onion/frame.ts';
import { gatesOf } from '../core/onion/conditions.ts';
import { policyOf } from '../policy/ambient-policy.ts';
import { findingOf, type PermissionSet, type ShadowFinding } from './finding.ts';
import type { PermissionChecker } from './permission.ts';
import { nameOfChecker } from './evaluate.ts';
import { lateRequest, requestsOf } from './proposals.ts';
import { type Approved, askPermission, isApproved } from './ask-permission.ts';
import { denied, undecidable } from './refusals.ts';

/** What the check came to, for records. */
export interface PermissionReport {
  readonly decision: 'allow' | 'deny' | 'require_approval';
  readonly by: string | null;
  readonly code?: string;
  /** The kinds of what was asked for. */
  readonly requests: readonly string[];
  /** Who approved, where a person was asked. */
  readonly approval?: Approved;
  /** What would have been refused or asked, had it counted. */
  readonly shadow?: readonly ShadowFinding[];
}

/** For a tool that cannot say what it is about to do. */
const UNTOLD: PermissionReport = Object.freeze({
  decision: 'deny',
  by: null,
  code: 'unreadable_proposals',
  requests: Object.freeze(['tool.call']),
});

/**
 * Where a gate made here keeps the set it holds calls to; `null` for the capability policy alone.
 */
const SET: unique symbol = Symbol('allium.permission-set');
type PermissionGate = Gate & { readonly [SET]: PermissionSet | null };

const isPermissionGate = (run: Gate): run is PermissionGate => SET in run;

const permissionGatesOf = (call: ToolCall): readonly PermissionGate[] =>
  gatesOf(call)
    .map(({ run }) => run)
    .filter(isPermissionGate);

const setsOf = (call: ToolCall): readonly PermissionSet[] =>
  permissionGatesOf(call).flatMap((gate) => gate[SET] ?? []);

const reports = new WeakMap<object, PermissionReport>();

/** The report of the pass a result belongs to, or `undefined` where no check was made. */
export const permissionReportOf = (call: ToolCall): PermissionReport | undefined =>
  reports.get(stateOf(call));

/**
 * A gate for `gateCall` that holds calls to a set of checkers. Of several on one call the first
 * does the work of all: each set decides with its own fallback, and the strictest of them counts.
 */
export function permissionGate(set: PermissionSet | null): Gate {
  const gate: Gate = async (call) =>
    permissionGatesOf(call)[0] === gate ? checkPermissions(call, setsOf(call)) : null;
  return Object.assign(gate, { [SET]: set });
}

/**
 * Holds the files that a tool proposes to touch to the capability policy, also where no checkers
 * were laid down.
 */
export const capabilityGate: Gate = permissionGate(null);

async function checkPermissions(
  call: ToolCall,
  sets: readonly PermissionSet[],
): Promise<ToolResult | ToolCall | null> {
  let requests: Awaited<ReturnType<typeof requestsOf>>;
  try {
    requests = await waitWithin(call.signal, () => requestsOf(call));
  } catch (thrown) {
    if (call.signal.aborted) return cancelled(call);
    reports.set(stateOf(call), UNTOLD);
    return undecidable(call, thrown);
  }
  const kinds = requests.map(({ kind }) => kind);
  const finding = await findingOf(call, requests, sets);
  if (call.signal.aborted) return cancelled(call);
  const report: PermissionReport = {
    decision: finding.decision,
    by: finding.by,
    requests: kinds,
    ...(finding.code === undefined ? {} : { code: finding.code }),
    ...(finding.shadow.length === 0 ? {} : { shadow: finding.shadow }),
    // A call that a person put in the place of another goes by the approval of that one.
    ...(isApproved(call) ? approvalSoFar(call) : {}),
  };
  reports.set(stateOf(call), report);
  if (finding.decision === 'allow') return null;
  if (finding.decision === 'deny') return denied(call, finding);
  // The person who approved the call wrote these arguments.
  if (isApproved(call)) return null;
  const asked = await askPermission(call, requests, finding, {
    policy: digestOf(call, sets),
    expiresMs: shortest(sets),
  });
  if (asked.approval !== undefined)
    reports.set(stateOf(call), { ...report, approval: asked.approval });
  return asked.entered;
}

/**
 * What a tool asks for while it runs, held to the same checkers as what it proposed before. Answers
 * why not, or `null` where it may go on. A person who has to be asked is asked at once: a call that
 * has begun does not wait, so no answer is a no.
 */
export async function refusalOfLate(call: ToolCall, proposed: unknown): Promise<string | null> {
  const sets = setsOf(call);
  let requests: Awaited<ReturnType<typeof requestsOf>>;
  try {
    requests = [lateRequest(call, proposed)];
  } catch {
    return 'what it is about to do could not be told';
  }
  const finding = await findingOf(call, requests, sets);
  if (call.signal.aborted) return 'the call was cancelled';
  if (finding.decision === 'allow') return null;
  if (finding.decision === 'deny')
    return finding.reason ?? `a rule forbids ${requests[0]?.kind ?? 'it'}`;
  const { entered } = await askPermission(call, requests, finding, {
    policy: digestOf(call, sets),
    expiresMs: shortest(sets),
  });
  if (entered === null) return null;
  // An edit of the arguments comes too late: the tool runs.
  return 'status' in entered
    ? (entered.error ?? 'it was not approved')
    : 'it was approved for other arguments';
}

function approvalSoFar(call: ToolCall): Pick<PermissionReport, 'approval'> {
  const approval = permissionReportOf(call)?.approval;
  return approval === undefined ? {} : { approval };
}

/** Stands for the rules in force: an approval that was given under others does not count. */
function digestOf(call: ToolCall, sets: readonly PermissionSet[]): string {
  const rules = sets.map(
    ({ checkers, fallback, shadow }): JsonObject => ({
      fallback,
      shadow,
      checkers: checkers.map(digestOfChecker),
    }),
  );
  // Policies are plain data with optional members, which is what JSON objects are.
  return hashCanonical({ rules, policy: policyOf(call) as unknown as JsonObject });
}

const digestOfChecker = (checker: PermissionChecker, index: number): string =>
  (typeof checker === 'function' ? undefined : checker.digest) ?? nameOfChecker(checker, index);

/**
 * The shortest time that any set gives. A question stays open for ever only where every set says
 * so.
 */
function shortest(sets: readonly PermissionSet[]): PermissionSet['expiresMs'] {
  const limits = sets.flatMap(({ expiresMs }) =>
    typeof expiresMs === 'number' ? [expiresMs] : [],
  );
  if (limits.length > 0) return Math.min(...limits);
  return sets.every(({ expiresMs }) => expiresMs === 'never') ? 'never' : undefined;
}
