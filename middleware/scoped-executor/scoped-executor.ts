/** Holds everything below it to a scope: which tools, how strong their effects, and what they may reach. */

import {
  allows,
  annotate,
  type CapabilityPolicy,
  checkOptions,
  defineLayer,
  type Expectation,
  expected,
  intersectPolicies,
  narrowPolicy,
  raise,
  refuse,
  SIDE_EFFECT_LEVELS,
  type SideEffectLevel,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/index.ts';

export interface ScopedExecutorOptions {
  /** The stage of the agent's work, for records and refusals. @default 'scoped' */
  readonly stage?: string;
  /** Exact tool names. An empty list allows none. @default every tool */
  readonly allowedTools?: readonly string[];
  /** The strongest side effect a tool may have. @default any */
  readonly sideEffectLevel?: SideEffectLevel;
  /** Operations by capability, such as `{ workspace: ['read'] }`. One that is not listed is not allowed. @default any */
  readonly capabilities?: Readonly<Record<string, readonly string[]>>;
  /** Whether a tool outside the scope is refused or thrown at the outer edge of the stack. @default 'reject' */
  readonly onViolation?: 'reject' | 'raise';
}

const exactName: Expectation = {
  text: 'an exact tool name, without "*"',
  test: (value) => expected.string.test(value) && !(value as string).includes('*'), // A string: it was just tested.
};

const EXPECTED: Readonly<Record<keyof ScopedExecutorOptions, Expectation>> = {
  stage: expected.string,
  allowedTools: expected.listOf(exactName),
  sideEffectLevel: expected.oneOf(...SIDE_EFFECT_LEVELS),
  capabilities: expected.mapOf(expected.listOf(expected.string)),
  onViolation: expected.oneOf('reject', 'raise'),
};

/**
 * Refuses tools that are not in the scope, and narrows what everything below may reach: layers that choose another tool,
 * and tools that call others. Scopes inside scopes only tighten, and nothing has to be taken back afterwards. It holds tools
 * to what they say about themselves; it does not confine what a tool does when it runs.
 */
export function scopedExecutor(options: ScopedExecutorOptions): ToolLayer {
  checkOptions('scopedExecutor', options, EXPECTED);
  const { onViolation = 'reject' } = options;
  const policy = policyFrom(options);
  const scope = scopeFrom(options);
  const { stage } = scope;
  return defineLayer({
    name: 'scopedExecutor',
    async caller(call, next) {
      if (!allows(policy, { toolName: call.toolName })) {
        const refusal = annotate(outside(call, stage), { scope }, { status: 'rejected', stage });
        return onViolation === 'raise' ? raise(refusal) : refusal;
      }
      const result = await next(narrowPolicy(call, policy, 'scopedExecutor'));
      return annotate(result, { scope }, { stage });
    },
  });
}

/** Combined with nothing it is a copy: a list that the host changes later must not change the scope. */
const policyFrom = ({ allowedTools: tools, sideEffectLevel, capabilities }: ScopedExecutorOptions): CapabilityPolicy =>
  intersectPolicies(
    {
      ...(tools === undefined ? {} : { tools }),
      ...(sideEffectLevel === undefined ? {} : { sideEffectLevel }),
      ...(capabilities === undefined ? {} : { capabilities }),
    },
    {},
  );

const scopeFrom = ({ stage = 'scoped', allowedTools, sideEffectLevel }: ScopedExecutorOptions) =>
  Object.freeze({
    stage,
    ...(allowedTools === undefined ? {} : { allowedTools: Object.freeze([...allowedTools]) }),
    ...(sideEffectLevel === undefined ? {} : { sideEffectLevel }),
  });

const outside = (call: ToolCall, stage: string): ToolResult =>
  refuse(call, 'scope_violation', `${call.toolName} is not among the tools of the stage "${stage}". Use another tool or leave it.`);
