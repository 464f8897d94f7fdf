/** Holds all that is inside to a scope: which tools, how strong their effects, and their reach. */

import {
  advertisable,
  allows,
  annotate,
  type CapabilityPolicy,
  checkOptions,
  checkPolicy,
  defineLayer,
  intersectPolicies,
  narrowPolicy,
  raise,
  refuse,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/layer.ts';
import { OPTIONS, type ScopedExecutorOptions } from './options.ts';

export type { ScopedExecutorOptions };

/**
 * Refuses tools that are not in the scope, and narrows what everything below may reach: layers that
 * choose another tool, and tools that call others. Scopes inside scopes only tighten. Tools are
 * held to what they say about themselves; what a tool does when it runs is not confined.
 */
export function scopedExecutor(options: ScopedExecutorOptions): ToolLayer {
  checkOptions('scopedExecutor', options, OPTIONS);
  const { onViolation = 'reject', hide = false } = options;
  const policy = policyFrom(options);
  const scope = scopeFrom(options);
  const { stage } = scope;
  return defineLayer({
    name: 'scopedExecutor',
    // One rule decides what is shown and what is called, so that the two agree.
    ...(hide ? { schemaTransform: (tool) => (advertisable(policy, tool) ? tool : null) } : {}),
    async caller(call, next) {
      if (!allows(policy, { toolName: call.toolName })) {
        const refusal = annotate(outside(call, stage), { scope }, { status: 'rejected', stage });
        return onViolation === 'raise' ? raise(refusal) : refusal;
      }
      const result = await next(narrowPolicy(call, policy, 'scopedExecutor'));
      return annotate(result, { scope }, { stage });
    },
    tooLate: ({ toolName }) =>
      allows(policy, { toolName }) ? { stage } : { stage, wouldHaveBeen: 'scope_violation' },
  });
}

/** A copy, as combining makes one: a list that the host changes later must not change the scope. */
function policyFrom(options: ScopedExecutorOptions): CapabilityPolicy {
  const { stage: _stage, hide: _hide, onViolation: _on, allowedTools, ...rest } = options;
  const policy = allowedTools === undefined ? rest : { ...rest, tools: allowedTools };
  checkPolicy('scopedExecutor', policy);
  return intersectPolicies(policy, {});
}

const scopeFrom = ({ stage = 'scoped', allowedTools, sideEffectLevel }: ScopedExecutorOptions) =>
  Object.freeze({
    stage,
    ...(allowedTools === undefined ? {} : { allowedTools: Object.freeze([...allowedTools]) }),
    ...(sideEffectLevel === undefined ? {} : { sideEffectLevel }),
  });

const outside = (call: ToolCall, stage: string): ToolResult =>
  refuse(
    call,
    'scope_violation',
    `${call.toolName} is not among the tools of the stage "${stage}". Use another tool or leave it.`,
  );
