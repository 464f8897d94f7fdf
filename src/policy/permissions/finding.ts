/** What all checkers of a call together find: the strictest word on any of its requests. */

import type { ToolCall } from '../../core/call.ts';
import { policyOf } from '../ambient-policy.ts';
import { allows } from '../capability-policy.ts';
import { evaluateCheckers } from './evaluate.ts';
import type { PermissionRequest } from './permission.ts';
import type { PermissionReport, PermissionSet } from './preflight.ts';

export interface Finding {
  readonly decision: 'allow' | 'deny' | 'require_approval';
  /** The checker, or who laid down the rules that fell back; `null` where nobody had an opinion. */
  readonly by: string | null;
  readonly owner: string;
  readonly reason?: string;
  readonly code?: string;
  /** The request it is about. */
  readonly kind: string;
}

type Shadow = NonNullable<PermissionReport['shadow']>;

const NOTHING: Finding = Object.freeze({
  decision: 'allow',
  by: null,
  owner: '',
  kind: 'tool.call',
});

/** The capability policy first, then every set on every request. A deny ends it: nobody is asked about what is refused anyway. */
export async function findingOf(
  call: ToolCall,
  requests: readonly PermissionRequest[],
  sets: readonly PermissionSet[],
): Promise<Finding & { readonly shadow: Shadow }> {
  const shadow: Shadow[number][] = [];
  let strictest = NOTHING;
  for (const request of requests) {
    const outside = outsideOf(call, request);
    if (outside !== null) return { ...outside, shadow };
    for (const set of sets) {
      const found = await askSet(call, request, set);
      if (found.decision === 'allow') {
        // A question that a fallback raised has nobody's name, and is a question all the same.
        if (strictest.decision === 'allow' && strictest.by === null) strictest = found;
      } else if (set.shadow) shadow.push(shadowed(found));
      else if (found.decision === 'deny') return { ...found, shadow };
      else if (strictest.decision === 'allow') strictest = found;
    }
  }
  return { ...strictest, shadow };
}

const shadowed = ({ owner, decision, by, code }: Finding): Shadow[number] => ({
  ...{ owner, by: by ?? owner },
  decision: decision === 'deny' ? 'deny' : 'require_approval',
  ...(code === undefined ? {} : { code }),
});

/** Files outside of the folders a call is held to. Its text says nothing of where a link leads: that is for `pathPolicy` and a jail. */
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
