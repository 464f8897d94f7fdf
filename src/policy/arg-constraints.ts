/**
 * What a policy says about the arguments of tools. Two of them together demand what both demand.
 */

import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { oneLine } from '../core/contract/errors.ts';
import { isObject } from '../core/json/json.ts';
import type { Expectation } from '../core/contract/options.ts';
import {
  type ArgConstraint,
  constraintText,
  describeConstraint,
  isConstraint,
  meetsConstraint,
  NOTHING_PASSES,
  ownConstraint,
} from './arg-constraint.ts';

/**
 * Constraints by tool and by argument. An argument goes by its name, or by a JSON Pointer
 * (`/options/depth`) where it lies deeper. A tool that is not listed is not constrained, nor is an
 * argument. Of a list every constraint has to hold.
 */
export type ArgConstraints = Readonly<Record<string, ConstrainedArguments>>;
type ConstrainedArguments = Readonly<Record<string, ArgConstraint | readonly ArgConstraint[]>>;

/** For options that take constraints by tool and argument. */
export const argConstraintsForm: Expectation = Object.freeze({
  text: 'an object that gives constraints by tool and by argument (a name or a JSON Pointer)',
  test: (value: unknown) => isObject(value) && Object.values(value).every(isConstrained),
});

const isConstrained = (value: unknown): value is ConstrainedArguments =>
  isObject(value) &&
  Object.entries(value).every(
    ([name, one]) => stepsOf(name) !== null && listOf(one).every(isConstraint),
  );

/**
 * An empty list stays the one item, which is no constraint: to say nothing about an argument, leave
 * it out.
 */
const listOf = (one: unknown): readonly unknown[] =>
  Array.isArray(one) && one.length > 0 ? Array.from<unknown>(one) : [one];

type ByArgument = ReadonlyMap<string, readonly ArgConstraint[]>;

/** Where what cannot be read is put: an argument without a name that nothing passes. */
const UNREADABLE: ByArgument = new Map([['/', [NOTHING_PASSES]]]);
const FREE: ByArgument = new Map();

/** Entries in their one form, which are frozen: they are read once and not for every call. */
const known = new WeakMap<object, ByArgument>();

/** The constraints of one tool by the one spelling of their argument. */
function constraintsOf(all: ArgConstraints, toolName: string): ByArgument {
  if (!Object.hasOwn(all, toolName)) return FREE;
  const entry: unknown = all[toolName];
  if (isObject(entry)) {
    const before = known.get(entry);
    if (before !== undefined) return before;
  }
  return isConstrained(entry) ? byArgument(entry) : UNREADABLE;
}

function byArgument(entry: ConstrainedArguments): ByArgument {
  const found = new Map<string, readonly ArgConstraint[]>();
  for (const [name, one] of Object.entries(entry)) {
    const argument = argumentName(stepsOf(name) ?? []);
    // A list of constraints: `isConstrained` has looked at each.
    found.set(argument, [
      ...(found.get(argument) ?? []),
      ...(listOf(one) as readonly ArgConstraint[]),
    ]);
  }
  return found;
}

/**
 * What both demand, in one form: sorted, nothing twice, and each argument with a list. `undefined`
 * where nothing is demanded.
 */
export function bothConstraints(a: ArgConstraints, b: ArgConstraints): ArgConstraints | undefined {
  const tools = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  const entries = tools
    .map((tool) => [tool, both(constraintsOf(a, tool), constraintsOf(b, tool))] as const)
    .filter(([, demanded]) => demanded.size > 0)
    .map(([tool, demanded]) => [tool, asEntry(demanded)] as const);
  return entries.length === 0 ? undefined : Object.freeze(Object.fromEntries(entries));
}

function both(ours: ByArgument, theirs: ByArgument): ByArgument {
  const names = [...new Set([...ours.keys(), ...theirs.keys()])].sort();
  return new Map(
    names.map((name) => [name, ownList([...(ours.get(name) ?? []), ...(theirs.get(name) ?? [])])]),
  );
}

function ownList(constraints: readonly ArgConstraint[]): readonly ArgConstraint[] {
  const byText = new Map(constraints.map(ownConstraint).map((own) => [constraintText(own), own]));
  return Object.freeze([...byText.keys()].sort().flatMap((text) => byText.get(text) ?? []));
}

function asEntry(demanded: ByArgument): ConstrainedArguments {
  const entry = Object.freeze(Object.fromEntries(demanded));
  known.set(entry, demanded);
  return entry;
}

/**
 * Which argument of a call fails and what would pass, for the model, or `null`. It never says what
 * the argument was.
 */
export function failingArgument(
  all: ArgConstraints,
  toolName: string,
  args: JsonObject,
): string | null {
  for (const [name, constraints] of constraintsOf(all, toolName)) {
    const value = valueAt(args, stepsOf(name) ?? []);
    const failed = constraints.find((constraint) => !meetsConstraint(constraint, value));
    if (failed !== undefined)
      return `its argument "${oneLine(name)}" ${describeConstraint(failed)}`;
  }
  return null;
}

/**
 * The member names on the way to an argument, or `null` for what names none. A name that begins
 * with a slash needs the pointer form.
 */
function stepsOf(name: string): readonly string[] | null {
  if (!name.startsWith('/')) return name === '' ? null : [name];
  const steps = name.slice(1).split('/');
  if (steps.some((step) => /~(?![01])/.test(step))) return null;
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The one spelling of a way: the plain name where it can be used, the pointer otherwise. */
function argumentName(steps: readonly string[]): string {
  const [first = ''] = steps;
  if (steps.length === 1 && first !== '' && !first.startsWith('/')) return first;
  return steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

const INDEX = /^(?:0|[1-9]\d*)$/;

/**
 * What stands there, or `undefined` where nothing does. Only own members count: every object has a
 * `constructor`.
 */
function valueAt(args: JsonObject, steps: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = args;
  for (const step of steps) {
    // `isArray` does not tell what a list of JSON holds.
    if (Array.isArray(value))
      value = INDEX.test(step) ? (value as readonly JsonValue[])[Number(step)] : undefined;
    else if (isObject(value) && Object.hasOwn(value, step)) value = value[step];
    else return undefined;
  }
  return value;
}
