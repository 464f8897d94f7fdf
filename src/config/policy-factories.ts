/** The policies that can be written by name in a file. */

import { commandPolicy, networkPolicy, type PermissionPolicy, rulesPolicy } from '../policy/index.ts';

/** Makes a policy from the value behind its name. Checks the value, and throws `ERR_INVALID_OPTION` for what it cannot take. */
// `never` is what every factory takes: each one checks what it is given when it is called.
export type PolicyFactory = (options: never) => PermissionPolicy;

/** By the name of the factory, which is the name of the policy. */
export const POLICY_FACTORIES: ReadonlyMap<string, PolicyFactory> = new Map<string, PolicyFactory>(
  Object.entries({ commandPolicy, networkPolicy, rulesPolicy }),
);
