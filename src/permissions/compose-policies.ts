/** Several checkers as one policy. */

import { AlliumError } from '../core/contract/errors.ts';
import { hashCanonical } from '../core/json/hash-canonical.ts';
import { checkOptions, expected } from '../core/contract/options.ts';
import { evaluateCheckers, expectedChecker, nameOfChecker } from './evaluate.ts';
import type { PermissionAnswer, PermissionChecker, PermissionPolicy } from './permission.ts';

/**
 * One policy that says what its members say together: deny overrides, then approval, then allow,
 * then no opinion; a member that fails denies. So a member can only take away what another allows,
 * or ask where another allows. The digest stands for the members' digests; a member without one
 * stands there by its name alone, so a change inside it shows in no digest: give checkers that
 * carry rules one of their own. Members are asked for requests as they come, their names and
 * digests are read once, here.
 */
export function composePolicies(
  ...members: readonly (PermissionChecker | readonly PermissionChecker[])[]
): PermissionPolicy {
  const checkers = Object.freeze<PermissionChecker[]>(members.flat());
  checkOptions(
    'composePolicies',
    { members: checkers },
    { members: expected.listOf(expectedChecker) },
  );
  const digest = hashCanonical(['composePolicies', checkers.map(standIn)]);
  return Object.freeze({
    name: 'composePolicies',
    digest,
    evaluate: async (request): Promise<PermissionAnswer> => {
      const { decision, reason, code } = await evaluateCheckers(checkers, request);
      return {
        decision,
        ...(reason === undefined ? {} : { reason }),
        ...(code === undefined ? {} : { code }),
      };
    },
    alwaysDenies: (toolName) => checkers.some((checker) => denyAlways(checker, toolName)),
  } satisfies PermissionPolicy);
}

/** Whether a checker is certain never to allow a tool. Anything but a plain yes says nothing. */
export const denyAlways = (checker: PermissionChecker, toolName: string): boolean =>
  typeof checker !== 'function' && checker.alwaysDenies?.(toolName) === true;

/** A name is marked as one: a checker that is called like another's digest is not taken for it. */
function standIn(checker: PermissionChecker, index: number): readonly [string, string] {
  const name = nameOfChecker(checker, index);
  if (typeof checker === 'function') return ['name', name];
  const { digest } = checker;
  if (digest === undefined) return ['name', name];
  if (typeof digest === 'string') return ['digest', digest];
  throw new AlliumError(
    'ERR_INVALID_OPTION',
    `composePolicies: the digest of "${name}" must be a string`,
    {
      layer: 'composePolicies',
      option: 'members',
      expected: 'a digest that is a string',
      got: typeof digest,
    },
  );
}
