/** `allium/policy`: what a call may do at most, what it may do unasked, and who has to be asked. */

export type { CapabilityPolicy, PolicyQuestion } from './capability-policy.ts';
export { allows, checkPolicy, intersectPolicies } from './capability-policy.ts';
export type { Jail, JailEntry } from './jail/jail.ts';
export { jail } from './jail/jail.ts';
export type { JailReason } from './jail/jail-error.ts';
export { JAIL_REASONS } from './jail/jail-error.ts';
