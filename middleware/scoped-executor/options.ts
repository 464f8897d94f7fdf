/** The options of `scopedExecutor`. */

import {
  type ArgConstraints,
  expected,
  option,
  type OptionTable,
  SIDE_EFFECT_LEVELS,
  type SideEffectLevel,
} from '../../src/layer.ts';

export interface ScopedExecutorOptions {
  /** The stage of the agent's work, for records and refusals. @default 'scoped' */
  readonly stage?: string;
  /** Exact tool names. An empty list allows none. @default every tool */
  readonly allowedTools?: readonly string[];
  /** The strongest side effect a tool may have. @default any */
  readonly sideEffectLevel?: SideEffectLevel;
  /** Operations by capability. One that is not listed is not allowed. @default any */
  readonly capabilities?: Readonly<Record<string, readonly string[]>>;
  /** Absolute folders that a tool must keep to. An empty list allows none. @default any */
  readonly workspaceRoots?: readonly string[];
  /** What arguments have to be, by tool and argument. @default anything */
  readonly argConstraints?: ArgConstraints;
  /** How deep tools may call tools. @default as deep as the dispatcher allows */
  readonly recursionLimit?: number;
  /** Whether tools that the scope would refuse are not shown either. @default false */
  readonly hide?: boolean;
  /** Whether a tool outside the scope is refused or thrown. @default 'reject' */
  readonly onViolation?: 'reject' | 'raise';
}

const { boolean, either, integer, listOf, mapOf, object, oneOf, string } = expected;

const EXACT_NAME = {
  ...string,
  text: 'an exact tool name, without "*"',
  test: (value: unknown) => typeof value === 'string' && value !== '' && !value.includes('*'),
};

/** Folders and constraints are looked at more closely as parts of a policy. */
const ONE = { ...object, schema: { type: 'object' } };
const CONSTRAINTS = {
  ...object,
  schema: mapOf(mapOf(either('a constraint or a list of them', ONE, listOf(ONE)))).schema,
};

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<ScopedExecutorOptions> = {
  stage: option(string, "the stage of the agent's work, for records and refusals", '`scoped`'),
  allowedTools: option(listOf(EXACT_NAME), 'exact tool names, without `*`; an empty list allows none', 'every tool'),
  sideEffectLevel: option(oneOf(...SIDE_EFFECT_LEVELS), 'the strongest side effect: `none`, `read_only`, `workspace_write`, `process_exec` or `network`', 'any'),
  capabilities: option(mapOf(listOf(string)), "operations by capability, such as `{ workspace: ['read'] }`; what is not listed is not allowed, and `{}` allows nothing", 'any'),
  workspaceRoots: option(listOf(string), 'absolute folders; a tool runs only if it is known to keep to them, and an empty list allows none', 'any'),
  argConstraints: option(CONSTRAINTS, "what arguments have to be, by tool and argument, such as `{ read_file: { path: { within: ['/srv'] } } }`; what is not listed is free", 'anything'),
  recursionLimit: option(integer(0), 'how deep tools may call tools; 0 lets none call another', 'as deep as the dispatcher allows'),
  hide: option(boolean, 'whether tools that the scope would refuse are not shown either; a call to one is then `tool_not_found`', '`false`'),
  onViolation: option(oneOf('reject', 'raise'), '`reject` answers `scope_violation`; `raise` also throws it at the outer edge of the stack', '`reject`'),
};
