/** The policy a call is under: laid down by layers further out, kept by every copy, and held to right before the tool. */

import { stateOf, type ToolCall } from '../core/call.ts';
import type { JsonObject } from '../core/json.ts';
import { guardCall, type Refusal, termsOf, withTerms } from '../core/terms.ts';
import { allows, type CapabilityPolicy, checkPolicy, intersectPolicies, ownPolicy } from './capability-policy.ts';

/** What the call may reach at most, or `null` where nothing restricts it. */
export const policyOf = (call: ToolCall): CapabilityPolicy | null => termsOf(call).policy;

/**
 * The same call under a tighter policy, for everything below and for the calls its tool makes. `owner` is named where a
 * call is turned away. It cannot widen what is laid down already, and nothing has to be taken back afterwards.
 */
export function narrowPolicy(call: ToolCall, policy: CapabilityPolicy, owner: string): ToolCall {
  checkPolicy(`${owner} policy`, policy);
  // A list that is changed later must not change what was laid down.
  const own = ownPolicy(policy);
  const ambient = policyOf(call);
  const narrowed = ambient === null ? own : intersectPolicies(ambient, own);
  const { toolName, annotations } = call;
  // A layer below that chooses another tool leaves the annotations of this one on the call: they say nothing about that tool.
  const saysNothing = (entered: ToolCall) => entered.annotations === annotations && entered.toolName !== toolName;
  // Policies are plain data with optional members, which is what JSON objects are.
  return withTerms(
    guardCall(call, (entered) => excessOf(entered, own, owner, saysNothing(entered) ? {} : entered.annotations)),
    { policy: narrowed as unknown as JsonObject },
  );
}

/** Why a call exceeds a policy, or `null`. `annotations` are what its tool says about itself. */
export function excessOf(call: ToolCall, policy: CapabilityPolicy, owner: string, annotations = call.annotations): Refusal | null {
  const { sideEffectLevel, readOnly, capabilities = {} } = annotations;
  const { toolName } = call;
  const refusal = (what: string): Refusal => ({
    status: 'permission_denied',
    message: `${toolName} is not allowed here: it exceeds ${what}. Use another tool or leave it.`,
    blockedBy: owner,
  });
  if (!allows(policy, { toolName })) return refusal('the tools of this scope');
  if (!allows(policy, { depth: stateOf(call).nesting })) return refusal('how deep tools may call tools');
  // A tool that does not say what it does may do anything.
  if (!allows(policy, { sideEffectLevel: sideEffectLevel ?? (readOnly === true ? 'read_only' : 'network') }))
    return refusal('the side effects allowed');
  const reached = policy.capabilities === undefined ? null : reachedBeyond(policy, capabilities);
  return reached === null ? null : refusal(reached);
}

/** The first capability that a tool reaches and the policy does not allow. One that names none, or no operation, may do anything. */
function reachedBeyond(policy: CapabilityPolicy, capabilities: Readonly<Record<string, readonly string[]>>): string | null {
  const named = Object.entries(capabilities);
  if (named.length === 0) return 'the capabilities allowed';
  for (const [capability, operations] of named) {
    if (operations.length === 0) return capability;
    for (const operation of operations) if (!allows(policy, { capability, operation })) return `${capability}.${operation}`;
  }
  return null;
}
