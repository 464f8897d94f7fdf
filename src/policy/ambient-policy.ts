/**
 * The policy a call is under: laid down by layers further out, kept by every copy, and held to
 * right before the tool.
 */

import type { Guard, Refusal } from '../core/onion/pass.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import { stateOf } from '../core/onion/own-call.ts';
import type { ToolCall } from '../core/contract/call.ts';
import { guardCall, guardsOf, withConditions } from '../core/onion/conditions.ts';
import { failingArgument } from './arg-constraints.ts';
import {
  allows,
  type CapabilityPolicy,
  checkPolicy,
  intersectPolicies,
  ownPolicy,
} from './capability-policy.ts';
import { excessOfTool, mayLeaveRoots } from './tool-reach.ts';

/** Where a guard made here keeps the policy it was made from. */
const POLICY: unique symbol = Symbol('allium.policy');
type PolicyGuard = Guard & { readonly [POLICY]: CapabilityPolicy };

const isPolicyGuard = (guard: Guard): guard is PolicyGuard => POLICY in guard;

/**
 * What the call may reach at most, or `null` where nothing restricts it. Worked out from the
 * guards, which no copy of a call can lose.
 */
export function policyOf(call: ToolCall): CapabilityPolicy | null {
  const policies = guardsOf(call)
    .filter(isPolicyGuard)
    .map((guard) => guard[POLICY]);
  return policies.length === 0 ? null : policies.reduce(intersectPolicies);
}

/**
 * The same call under a tighter policy, for everything below and for the calls its tool makes.
 * `owner` is named where a call is turned away. It cannot widen what is laid down already, and
 * nothing has to be taken back afterwards.
 */
export function narrowPolicy(call: ToolCall, policy: CapabilityPolicy, owner: string): ToolCall {
  checkPolicy(`${owner} policy`, policy);
  // A list that is changed later must not change what was laid down.
  const own = ownPolicy(policy);
  const ambient = policyOf(call);
  const narrowed = ambient === null ? own : intersectPolicies(ambient, own);
  const { toolName, annotations } = call;
  // A layer below that chooses another tool leaves the annotations of this one on the call: they
  // say nothing about that tool.
  const saysNothing = (entered: ToolCall) =>
    entered.annotations === annotations && entered.toolName !== toolName;
  const guard: Guard = (entered) =>
    excessOf(entered, own, owner, saysNothing(entered) ? {} : entered.annotations);
  // Policies are plain data with optional members, which is what JSON objects are.
  return withConditions(guardCall(call, Object.assign(guard, { [POLICY]: own })), {
    policy: narrowed as unknown as JsonObject,
  });
}

/**
 * Calls whose tool says with each call which files it is about to touch, and the name of that tool.
 */
const proposing = new WeakMap<object, string>();

/**
 * Promises that every file this call's tool proposes to touch is held against
 * `allows(policyOf(call), { path })` before the tool runs, so that what the tool says about itself
 * need not keep it to the folders of a policy. For whoever makes that check, and nobody else.
 */
export const promiseRequests = (call: ToolCall): void =>
  void proposing.set(stateOf(call), call.toolName);

/** Why a call exceeds a policy, or `null`. `annotations` are what its tool says about itself. */
export function excessOf(
  call: ToolCall,
  policy: CapabilityPolicy,
  owner: string,
  annotations = call.annotations,
): Refusal | null {
  const { toolName, toolArgs } = call;
  const refusal = (why: string): Refusal => ({
    status: 'permission_denied',
    message: `${toolName} is not allowed here: ${why}`,
    blockedBy: owner,
  });
  const excess = allows(policy, { depth: stateOf(call).nesting })
    ? excessOfTool(policy, toolName, annotations)
    : 'how deep tools may call tools';
  if (excess !== null) return refusal(`it exceeds ${excess}. Use another tool or leave it.`);
  if (mayLeaveRoots(policy, annotations) && proposing.get(stateOf(call)) !== toolName)
    return refusal(
      'it may touch files outside the folders of this scope. Use a tool that keeps to them or leave it.',
    );
  const failing =
    policy.argConstraints === undefined
      ? null
      : failingArgument(policy.argConstraints, toolName, toolArgs);
  return failing === null ? null : refusal(`${failing}. Change it and call again, or leave it.`);
}
