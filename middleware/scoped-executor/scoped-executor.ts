/**
 * Holds everything below it to a scope: which tools, how strong their effects, and what they may
 * reach.
 */

import {
  advertisable,
  allows,
  annotate,
  type ArgConstraints,
  type CapabilityPolicy,
  checkOptions,
  checkPolicy,
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
} from '../../src/layer.ts';

export interface ScopedExecutorOptions {
  /** The stage of the agent's work, for records and refusals. @default 'scoped' */
  readonly stage?: string;
  /** Exact tool names. An empty list allows none. @default every tool */
  readonly allowedTools?: readonly string[];
  /** The strongest side effect a tool may have. @default any */
  readonly sideEffectLevel?: SideEffectLevel;
  /**
   * Operations by capability, such as `{ workspace: ['read'] }`. One that is not listed is not
   * allowed. @default any
   */
  readonly capabilities?: Readonly<Record<string, readonly string[]>>;
  /**
   * Absolute folders. A tool runs only if it is known to keep to them. An empty list allows none.
   * @default any
   */
  readonly workspaceRoots?: readonly string[];
  /**
   * What arguments have to be, by tool and argument. What is not listed is free. @default anything
   */
  readonly argConstraints?: ArgConstraints;
  /**
   * How deep tools may call tools; 0 lets none call another. @default as deep as the dispatcher
   * allows
   */
  readonly recursionLimit?: number;
  /**
   * Whether tools that the scope would refuse are not shown either. A call to one is then
   * `tool_not_found`. @default false
   */
  readonly hide?: boolean;
  /**
   * Whether a tool outside the scope is refused or thrown at the outer edge of the stack. @default
   * 'reject'
   */
  readonly onViolation?: 'reject' | 'raise';
}

const exactName: Expectation = {
  text: 'an exact tool name, without "*"',
  // A string: it was just tested.
  test: (value) => expected.string.test(value) && !(value as string).includes('*'),
};

const EXPECTED: Readonly<Record<keyof ScopedExecutorOptions, Expectation>> = {
  stage: expected.string,
  allowedTools: expected.listOf(exactName),
  sideEffectLevel: expected.oneOf(...SIDE_EFFECT_LEVELS),
  capabilities: expected.mapOf(expected.listOf(expected.string)),
  // Looked at more closely as parts of a policy.
  workspaceRoots: expected.listOf(expected.string),
  argConstraints: expected.object,
  recursionLimit: expected.integer(0),
  hide: expected.boolean,
  onViolation: expected.oneOf('reject', 'raise'),
};

/**
 * Refuses tools that are not in the scope, and narrows what everything below may reach: layers that
 * choose another tool, and tools that call others. Scopes inside scopes only tighten, and nothing
 * has to be taken back afterwards. It holds tools to what they say about themselves; it does not
 * confine what a tool does when it runs.
 */
export function scopedExecutor(options: ScopedExecutorOptions): ToolLayer {
  checkOptions('scopedExecutor', options, EXPECTED);
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

/**
 * Combined with nothing it is a copy: a list that the host changes later must not change the scope.
 */
function policyFrom({
  stage: _stage,
  hide: _hide,
  onViolation: _onViolation,
  allowedTools,
  ...rest
}: ScopedExecutorOptions): CapabilityPolicy {
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
