/** What a script gets from the host, as it can be sent: functions stay here, and get numbers. */

import { AlliumError } from '../../core/contract/errors.ts';
import { isObject, snapshot } from '../../core/json/json.ts';
import type { HostFunction } from './host-function.ts';
import type { Described } from './protocol.ts';

/** A description, and the functions its numbers stand for. */
export interface DescribedTree {
  readonly members: readonly (readonly [name: string, value: Described])[];
  readonly functions: readonly { readonly name: string; readonly call: HostFunction }[];
}

type NamedFunction = DescribedTree['functions'][number];

export function describeTree(tree: Readonly<Record<string, unknown>>): DescribedTree {
  const functions: NamedFunction[] = [];
  return { members: membersOf(tree, '', functions, 0), functions };
}

/** Namespaces in namespaces: more is somebody's loop. */
const MAX_DEPTH = 8;

function membersOf(
  tree: object,
  path: string,
  functions: NamedFunction[],
  depth: number,
): DescribedTree['members'] {
  if (depth > MAX_DEPTH)
    throw new AlliumError(
      'ERR_INVALID_OPTION',
      `script: "predeclared" has namespaces deeper than ${MAX_DEPTH}`,
    );
  return Object.entries(tree).map(([name, value]) => [
    name,
    describe(value, `${path}${name}`, functions, depth),
  ]);
}

function describe(
  value: unknown,
  path: string,
  functions: NamedFunction[],
  depth: number,
): Described {
  if (typeof value === 'function') {
    // A function of a tree is a host function by its type.
    functions.push({ name: path, call: value as HostFunction });
    return { host: functions.length - 1 };
  }
  return holdsFunction(value, 0)
    ? { members: membersOf(value, `${path}.`, functions, depth + 1) }
    : { json: snapshot(value) };
}

/** An object that holds a function is a namespace; any other is a value. */
function holdsFunction(value: unknown, depth: number): value is object {
  if (!isObject(value) || depth > MAX_DEPTH) return false;
  return Object.values(value).some(
    (member) => typeof member === 'function' || holdsFunction(member, depth + 1),
  );
}
