/** The policies that can be written by name in a file. */

import { closest } from '../core/contract/closest.ts';
import { isObject } from '../core/json/json.ts';
import { isAlliumError } from '../index.ts';
import {
  commandPolicy,
  mcpServerPolicy,
  networkPolicy,
  pathPolicy,
  type PermissionPolicy,
  rulesPolicy,
} from '../policy/index.ts';
import { optionPath } from './option-path.ts';
import { isPlain } from './plain-data.ts';
import type { DataPath, Report } from './problem.ts';

/**
 * Makes a policy from the value behind its name. Checks the value, and throws `ERR_INVALID_OPTION`
 * for what it cannot take.
 */
// `never` is what every factory takes: each one checks what it is given when it is called.
type PolicyFactory = (options: never) => PermissionPolicy;

/** By the name of the factory, which is the name of the policy. */
export const POLICY_FACTORIES: ReadonlyMap<string, PolicyFactory> = new Map<string, PolicyFactory>(
  Object.entries({ commandPolicy, mcpServerPolicy, networkPolicy, pathPolicy, rulesPolicy }),
);

/** Says that there is no such policy, and which one may have been meant. */
export function unknownPolicy(name: string): string {
  const guess = closest(name, POLICY_FACTORIES.keys());
  return `there is no such policy; ${guess === undefined ? `there are ${[...POLICY_FACTORIES.keys()].join(', ')}` : `did you mean "${guess}"?`}`;
}

/**
 * The options of `permissions` with policies in the place of `{ name: options }`. What code made,
 * and what is no list, is left to the layer.
 */
export function withPolicies(options: unknown, path: DataPath, report: Report): unknown {
  if (!isObject(options) || !Array.isArray(options.checkers)) return options;
  const given: readonly unknown[] = options.checkers;
  return {
    ...options,
    checkers: given.map((entry, index) => policyFrom(entry, [...path, 'checkers', index], report)),
  };
}

/** As layers are written: the name, and behind it the options. */
function policyFrom(entry: unknown, path: DataPath, report: Report): unknown {
  if (!isPlain(entry) || typeof entry.evaluate === 'function') return entry;
  const [name, ...more] = Object.keys(entry);
  const factory = name === undefined ? undefined : POLICY_FACTORIES.get(name);
  if (name === undefined || more.length > 0)
    report(path, 'a checker is one policy by its name, or { $module: ./file.ts#name }');
  else if (factory === undefined) report([...path, name], unknownPolicy(name), 'key');
  else return made(factory, entry[name], [...path, name], report);
  return undefined;
}

function made(
  factory: PolicyFactory,
  options: unknown,
  path: DataPath,
  report: Report,
): PermissionPolicy | undefined {
  try {
    return factory((options ?? {}) as never); // The factory checks what it is given.
  } catch (thrown) {
    if (!isAlliumError(thrown)) throw thrown;
    report(...optionPath(path, options, thrown));
    return undefined;
  }
}
