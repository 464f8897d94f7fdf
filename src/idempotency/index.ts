/** `allium/idempotency`: the key of a call, the claim on it, and who gets the answer. */

export type { ClaimKey, KeyRules, NameCall } from './claim-key.ts';
export { claimKeyOf } from './claim-key.ts';
export type { ClaimTerms } from './claimed-work.ts';
export { runAlone, withoutKey } from './refusals.ts';
export { createSharing, type ShareWork } from './share-work.ts';
