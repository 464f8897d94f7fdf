/** The rules every claim store goes by, without where the claims are kept. */

import type { JsonObject } from '../core/json/json-value.ts';
import type { ClaimEnding, ClaimRecord, ClaimRequest } from './claim-store.ts';

/** A claim as a store keeps it. Times are of the store's own clock. */
export interface StoredClaim {
  readonly state: ClaimRecord['state'];
  readonly fingerprint: string | null;
  readonly token: string;
  readonly leaseMs: number;
  readonly leaseUntil: number;
  /** When the end of the work may be forgotten; `null` until there is one. */
  readonly forgetAt: number | null;
  readonly answer: JsonObject | null;
}

/** How long an ended claim is remembered where neither host nor caller says. */
export const DEFAULT_TTL_MS = 600_000;

/** The claim of an attempt that begins now. */
export const opened = (
  { fingerprint, leaseMs, token }: ClaimRequest,
  now: number,
): StoredClaim => ({
  state: 'in_progress',
  fingerprint,
  token,
  leaseMs,
  leaseUntil: now + leaseMs,
  forgetAt: null,
  answer: null,
});

/** What a store says about a claim at this time. */
export function seenAt(claim: StoredClaim, now: number): ClaimRecord {
  const { fingerprint, token, answer } = claim;
  return Object.freeze({
    state: claim.state === 'in_progress' && !isLive(claim, now) ? 'unknown' : claim.state,
    fingerprint,
    token,
    answer,
  });
}

/**
 * A lease that ends later than any renewal could make it was written under another time: its age is
 * unknown.
 */
function isLive({ leaseMs, leaseUntil }: StoredClaim, now: number): boolean {
  return now < leaseUntil && leaseUntil - now <= 2 * leaseMs;
}

/** Whether a claim has ended, and its time to be remembered is over. */
export const isForgotten = ({ state, forgetAt }: StoredClaim, now: number): boolean =>
  state === 'done' && forgetAt !== null && now >= forgetAt;

/** Whether a new claim may take the place of this one. */
export function mayReplace(claim: StoredClaim, { repeatable }: ClaimRequest, now: number): boolean {
  if (isForgotten(claim, now)) return true;
  if (repeatable !== true) return false;
  return (
    seenAt(claim, now).state === 'unknown' || (claim.state === 'done' && claim.answer === null)
  );
}

/** The claim as it is after its work; `null` when it is not this owner's, or has ended already. */
export function ended(
  claim: StoredClaim,
  token: string,
  ending: ClaimEnding,
  forgetAt: number,
): StoredClaim | null {
  if (!mayEnd(claim, token)) return null;
  const { fingerprint, leaseMs, leaseUntil } = claim;
  return {
    state: ending.state,
    fingerprint,
    token,
    leaseMs,
    leaseUntil,
    forgetAt,
    answer: ending.state === 'done' ? ending.answer : null,
  };
}

/** The claim with a longer lease; `null` when it is not this owner's, or has ended. */
export function renewed(
  claim: StoredClaim,
  token: string,
  leaseMs: number,
  now: number,
): StoredClaim | null {
  if (claim.token !== token || claim.state !== 'in_progress') return null;
  return { ...claim, leaseMs, leaseUntil: now + leaseMs };
}

/** Whether this owner may end the claim, or give it up as if it had never been. */
export const mayEnd = (claim: StoredClaim, token: string): boolean =>
  claim.token === token && claim.state !== 'done';
