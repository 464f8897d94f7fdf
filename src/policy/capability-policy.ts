/** Capability policies: what a call may reach at most. Combining two only ever tightens. */

import type { JsonObject } from '../core/json/json-value.ts';
import { SIDE_EFFECT_LEVELS, type SideEffectLevel } from '../core/contract/annotations.ts';
import { checkOptions, type Expectation, expected } from '../core/contract/options.ts';
import {
  type ArgConstraints,
  argConstraintsForm,
  bothConstraints,
  failingArgument,
} from './arg-constraints.ts';
import { absolutePath, commonRoots, isWithin } from './workspace-roots.ts';

/** Plain data. Absent means unrestricted, empty means nothing. */
export interface CapabilityPolicy {
  /** Exact tool names. */
  readonly tools?: readonly string[];
  /**
   * Operations by capability, such as `{ workspace: ['read'] }`. A capability that is not listed is
   * not allowed.
   */
  readonly capabilities?: Readonly<Record<string, readonly string[]>>;
  /**
   * Absolute folders that files have to lie in. Two policies without a folder in common leave none.
   */
  readonly workspaceRoots?: readonly string[];
  /** The strongest side effect. */
  readonly sideEffectLevel?: SideEffectLevel;
  /** How deep tools may call tools. */
  readonly recursionLimit?: number;
  /**
   * What arguments have to be, by tool and argument. It takes away only where it lists something: a
   * tool that is not listed is free.
   */
  readonly argConstraints?: ArgConstraints;
}

/** What a call is about to do. Fields that are absent are not checked. */
export interface PolicyQuestion {
  readonly toolName?: string;
  readonly sideEffectLevel?: SideEffectLevel;
  readonly capability?: string;
  readonly operation?: string;
  /**
   * An absolute path. It is compared as text: links are not followed, and a relative path lies in
   * no folder.
   */
  readonly path?: string;
  readonly depth?: number;
  /**
   * The arguments of `toolName`; without that name nobody knows whose they are, and they are not
   * checked.
   */
  readonly args?: JsonObject;
}

const names = expected.listOf(expected.string);

/** Throws `ERR_INVALID_OPTION` for what is not a policy. A misspelt key would restrict nothing. */
export function checkPolicy(owner: string, policy: unknown): asserts policy is CapabilityPolicy {
  const expectations: Record<keyof CapabilityPolicy, Expectation> = {
    tools: names,
    capabilities: expected.mapOf(names),
    workspaceRoots: expected.listOf(absolutePath),
    sideEffectLevel: expected.oneOf(...SIDE_EFFECT_LEVELS),
    recursionLimit: expected.integer(0),
    argConstraints: argConstraintsForm,
  };
  checkOptions(owner, policy, expectations);
}

/** Policies made here: checked once, frozen in depth, and sharing no list with anybody. */
const made = new WeakSet<CapabilityPolicy>();

/**
 * The policy that allows what both allow. Commutative, associative, idempotent, byte for byte; `{}`
 * changes nothing. Checks neither policy: what cannot be read allows nothing.
 */
export function intersectPolicies(a: CapabilityPolicy, b: CapabilityPolicy): CapabilityPolicy {
  const met: CapabilityPolicy = Object.freeze({
    ...meet('tools', a.tools, b.tools, commonNames),
    ...meet('capabilities', a.capabilities, b.capabilities, commonCapabilities),
    ...meet('workspaceRoots', a.workspaceRoots, b.workspaceRoots, commonRoots),
    ...meet('sideEffectLevel', a.sideEffectLevel, b.sideEffectLevel, (x, y) =>
      rankOf(x) <= rankOf(y) ? x : y,
    ),
    ...meet('recursionLimit', a.recursionLimit, b.recursionLimit, Math.min),
    ...meet('argConstraints', a.argConstraints, b.argConstraints, bothConstraints),
  });
  made.add(met);
  return met;
}

/** The policy itself where it was made here, otherwise a frozen copy. */
export const ownPolicy = (policy: CapabilityPolicy): CapabilityPolicy =>
  made.has(policy) ? policy : intersectPolicies(policy, {});

/**
 * Whether a policy allows something. `path` is compared as text, after `.`, `..` and doubled
 * slashes are gone: where links may lead out of a folder, `pathPolicy` or `jail` has to look.
 */
export function allows(policy: CapabilityPolicy, question: PolicyQuestion): boolean {
  const { toolName, sideEffectLevel, path, depth, args } = question;
  const { tools, workspaceRoots, recursionLimit, argConstraints } = policy;
  if (tools !== undefined && toolName !== undefined && !tools.includes(toolName)) return false;
  if (
    policy.sideEffectLevel !== undefined &&
    sideEffectLevel !== undefined &&
    exceeds(sideEffectLevel, policy.sideEffectLevel)
  )
    return false;
  if (recursionLimit !== undefined && depth !== undefined && !(depth <= recursionLimit))
    return false;
  if (workspaceRoots !== undefined && path !== undefined && !isWithin(workspaceRoots, path))
    return false;
  if (argConstraints !== undefined && toolName !== undefined && args !== undefined) {
    if (failingArgument(argConstraints, toolName, args) !== null) return false;
  }
  return allowsOperation(policy, question);
}

function allowsOperation(
  { capabilities }: CapabilityPolicy,
  { capability, operation }: PolicyQuestion,
): boolean {
  if (capabilities === undefined || capability === undefined) return true;
  const operations = Object.hasOwn(capabilities, capability) ? capabilities[capability] : undefined;
  return (
    operations !== undefined &&
    (operation === undefined ? operations.length > 0 : operations.includes(operation))
  );
}

function meet<K extends string, T>(
  key: K,
  a: T | undefined,
  b: T | undefined,
  both: (a: T, b: T) => T | undefined,
): { readonly [P in K]?: T } {
  // Where only one side says something it meets itself: the outcome has one form, and shares no
  // list with what it came from.
  const [x, y] = [a ?? b, b ?? a];
  const value = x === undefined || y === undefined ? undefined : both(x, y);
  // A computed key makes the type too wide; it is the one key asked for.
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: T };
}

/** Sorted, so that the order of combining leaves no trace. */
const commonNames = (a: readonly string[], b: readonly string[]): readonly string[] =>
  Object.freeze([...new Set(a.filter((name) => b.includes(name)))].sort());

function commonCapabilities(
  a: Readonly<Record<string, readonly string[]>>,
  b: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, readonly string[]>> {
  const shared = Object.keys(a)
    .filter((name) => Object.hasOwn(b, name))
    .sort();
  return Object.freeze(
    Object.fromEntries(shared.map((name) => [name, commonNames(a[name] ?? [], b[name] ?? [])])),
  );
}

const rankOf = (level: SideEffectLevel): number => SIDE_EFFECT_LEVELS.indexOf(level);

/**
 * An unknown level exceeds every ceiling and, as a ceiling, allows none: what a tool says of itself
 * is not checked here.
 */
function exceeds(level: SideEffectLevel, ceiling: SideEffectLevel): boolean {
  return rankOf(level) === -1 || rankOf(level) > rankOf(ceiling);
}
