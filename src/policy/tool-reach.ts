/**
 * What a tool says it reaches, held against a policy. The same rules decide what is shown and what
 * is called.
 */

import type { ToolAnnotations } from '../core/contract/annotations.ts';
import type { ToolSpec } from '../core/contract/layer.ts';
import { allows, type CapabilityPolicy } from './capability-policy.ts';
import { isWithin } from './workspace-roots.ts';

/**
 * Whether a policy would let this tool be called at all, by its name, its effects and its
 * capabilities: to be shown under a policy is to be callable under it. It knows no arguments, no
 * files and no depth; those are looked at when the tool is called.
 */
export const advertisable = (
  policy: CapabilityPolicy,
  tool: Pick<ToolSpec, 'name' | 'annotations'>,
): boolean => excessOfTool(policy, tool.name, tool.annotations) === null;

/**
 * What a tool exceeds before anything is known of a call, or `null`. One that does not say what it
 * does may do anything.
 */
export function excessOfTool(
  policy: CapabilityPolicy,
  toolName: string,
  annotations: ToolAnnotations,
): string | null {
  const { sideEffectLevel, readOnly, capabilities = {} } = annotations;
  if (!allows(policy, { toolName })) return 'the tools of this scope';
  if (
    !allows(policy, {
      sideEffectLevel: sideEffectLevel ?? (readOnly === true ? 'read_only' : 'network'),
    })
  )
    return 'the side effects allowed';
  return policy.capabilities === undefined ? null : capabilityBeyond(policy, capabilities);
}

/**
 * The first capability that a tool reaches and the policy does not allow. One that names none, or
 * no operation, may do anything.
 */
function capabilityBeyond(
  policy: CapabilityPolicy,
  capabilities: Readonly<Record<string, readonly string[]>>,
): string | null {
  const named = Object.entries(capabilities);
  if (named.length === 0) return 'the capabilities allowed';
  for (const [capability, operations] of named) {
    if (operations.length === 0) return capability;
    for (const operation of operations)
      if (!allows(policy, { capability, operation })) return `${capability}.${operation}`;
  }
  return null;
}

/**
 * Whether a tool may touch files that lie outside of a policy's folders, by what it says about
 * itself. It does not if it keeps off files (`safety.filesystem: false`, or no side effects at
 * all), or keeps to folders that lie inside (`safety.allowedRoots`). Silence, and an empty list,
 * may be any file.
 */
export function mayLeaveRoots(
  policy: CapabilityPolicy,
  { safety, sideEffectLevel }: ToolAnnotations,
): boolean {
  const { workspaceRoots } = policy;
  if (workspaceRoots === undefined || safety?.filesystem === false) return false;
  const { filesystem, allowedRoots } = safety ?? {};
  if (allowedRoots === undefined) return filesystem === true || sideEffectLevel !== 'none';
  return allowedRoots.length === 0 || !allowedRoots.every((root) => isWithin(workspaceRoots, root));
}
