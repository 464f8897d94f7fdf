/** What all checkers of a call together find: the strictest word on any of its requests. */

import type { ToolCall } from '../core/contract/call.ts';
import { policyOf } from '../policy/ambient-policy.ts';
import { allows } from '../policy/capability-policy.ts';
import { evaluateCheckers } from './evaluate.ts';
import type { PermissionChecker, PermissionRequest } from './permission.ts';

/** The checkers that one layer, or the host, laid down for a call, with what they fall back to. */
export interface PermissionSet {
  /** The layer that laid them down, for records. */
  readonly owner: string;
  readonly checkers: readonly PermissionChecker[];
  /** For requests, other than `tool.call`, that no checker has an opinion on. */
  readonly fallback: 'allow' | 'deny' | 'require_approval';
  /** They are asked and what they say is on record, but nothing is refused. */
  readonly shadow: boolean;
  /** How long a person may take to approve. */
  readonly expiresMs?: number | 'never' | undefined;
}

/** What a set in shadow would have refused or asked about, had it counted. */
export interface ShadowFinding {
  readonly owner: string;
  readonly decision: 'deny' | 'require_approval';
  readonly by: string;
  readonly code?: string;
}

/** The strictest word on any request of a call, and whose it is. */
export interface Finding {
  readonly decision: 'allow' | 'deny' | 'require_approval';
  /** The checker that decided; `null` where none had an opinion, or the set's fallback counted. */
  readonly by: string | null;
  readonly owner: string;
  readonly reason?: string;
  readonly code?: string;
  /** The request it is about. */
  readonly kind: string;
}

const NOTHING: Finding = Object.freeze({
  decision: 'allow',
  by: null,
  owner: '',
  kind: 'tool.call',
});

/**
 * The capability policy first, then every set on every request. The first deny ends it: no further
 * set is asked about what is refused anyway.
 */
export async function findingOf(
  call: ToolCall,
  requests: readonly PermissionRequest[],
  sets: readonly PermissionSet[],
): Promise<Finding & { readonly shadow: readonly ShadowFinding[] }> {
  const shadow: ShadowFinding[] = [];
  let strictest = NOTHING;
  for (const request of requests) {
    const outside = outsideOf(call, request);
    if (outside !== null) return { ...outside, shadow };
    for (const set of sets) {
      const found = await askSet(call, request, set);
      if (found.decision === 'allow') {
        // A question that a fallback raised has no checker's name (`by` is `null`): it stays the
        // strictest all the same.
        if (strictest.decision === 'allow' && strictest.by === null) strictest = found;
      } else if (set.shadow) shadow.push(shadowed(found));
      else if (found.decision === 'deny') return { ...found, shadow };
      else if (strictest.decision === 'allow') strictest = found;
    }
  }
  return { ...strictest, shadow };
}

const shadowed = ({ owner, decision, by, code }: Finding): ShadowFinding => ({
  owner,
  by: by ?? owner,
  decision: decision === 'deny' ? 'deny' : 'require_approval',
  ...(code === undefined ? {} : { code }),
});

/**
 * Files outside of the folders a call is held to. Its text says nothing of where a link leads: that
 * is for `pathPolicy` and a jail.
 */
function outsideOf(call: ToolCall, request: PermissionRequest): Finding | null {
  const policy = policyOf(call);
  if (policy === null || !('path' in request) || !request.kind.startsWith('filesystem.'))
    return null;
  const paths = [request.path, 'to' in request ? request.to : undefined].filter(
    (path) => typeof path === 'string',
  );
  if (paths.every((path) => allows(policy, { path }))) return null;
  const reason = `it would touch a file outside of ${(policy.workspaceRoots ?? []).join(', ') || 'every folder'}`;
  return {
    decision: 'deny',
    by: 'capability policy',
    owner: 'policy',
    reason,
    code: 'path_outside',
    kind: request.kind,
  };
}

async function askSet(
  call: ToolCall,
  request: PermissionRequest,
  set: PermissionSet,
): Promise<Finding> {
  const { owner, checkers, fallback } = set;
  const { kind } = request;
  const { decision, reason, code, by } = await evaluateCheckers(checkers, request, {
    signal: call.signal,
  });
  const said = { owner, kind, ...(reason === undefined ? {} : { reason }) };
  if (decision !== 'no_opinion')
    return { ...said, decision, by, ...(code === undefined ? {} : { code }) };
  if (kind === 'tool.call') return { ...said, decision: 'allow', by: null };
  const hint =
    fallback === 'allow'
      ? {}
      : { code: 'no_opinion', reason: reason ?? `nothing here allows ${kind}` };
  return { ...said, decision: fallback, by: null, ...hint };
}
