/** Claims of one process. */

import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../core/clock.ts';
import type { JsonObject } from '../core/json.ts';
import { checkOptions, expected } from '../core/options.ts';
import { DEFAULT_TTL_MS, ended, isForgotten, mayRelease, mayReplace, opened, renewed, seenAt, type StoredClaim } from './claim-rules.ts';
import type { ClaimStore } from './claim-store.ts';

export interface MemoryClaimsOptions {
  /** How many answers are kept; the one used longest ago goes first. @default 256 */
  readonly maxEntries?: number;
  /** How long the end of a call is remembered, where whoever completes it does not say. @default 600000 */
  readonly ttlMs?: number;
  /** How many ended calls are remembered, with or without their answers. @default 100000 */
  readonly maxKeys?: number;
  /** @default the system's */
  readonly clock?: Clock;
}

interface MemoryClaim extends StoredClaim {
  readonly repeatable: boolean;
}

/** Field by field: every call passes here three times, and a spread costs as much as the rest. */
const claimOf = (claim: StoredClaim, answer: JsonObject | null, repeatable: boolean): MemoryClaim => ({
  state: claim.state,
  fingerprint: claim.fingerprint,
  token: claim.token,
  leaseMs: claim.leaseMs,
  leaseUntil: claim.leaseUntil,
  forgetAt: claim.forgetAt,
  answer,
  repeatable,
});

/**
 * Keeps claims as long as the process lives. Claims under way are never dropped. An answer that had to go leaves its key
 * behind, so that the work is not done twice for want of space; when too many keys are remembered that may not be
 * forgotten yet, `claim` throws. Answers are bounded by number, not by size.
 */
export function memoryClaims(options: MemoryClaimsOptions = {}): ClaimStore {
  const whole = expected.integer(1);
  checkOptions('memoryClaims', options, { maxEntries: whole, ttlMs: whole, maxKeys: whole, clock: expected.object });
  const { ttlMs = DEFAULT_TTL_MS, clock = systemClock } = options;
  const claims = claimTable(options.maxEntries ?? 256, options.maxKeys ?? 100_000);
  const now = () => clock.monotonic();

  return Object.freeze<ClaimStore>({
    claim(key, request) {
      const before = claims.read(key);
      if (before !== null && !mayReplace(before, request, now())) return { won: false, record: seenAt(before, now()) };
      claims.remove(key);
      claims.open(key, claimOf(opened(request, now()), null, request.repeatable === true), now());
      return { won: true };
    },
    complete(key, token, ending) {
      const before = claims.read(key);
      const after = before === null ? null : ended(before, token, ending, now() + (ending.ttlMs ?? ttlMs));
      if (before === null || after === null) return false;
      claims.close(key, claimOf(after, after.answer, before.repeatable));
      return true;
    },
    release(key, token) {
      const claim = claims.read(key);
      if (claim === null || !mayRelease(claim, token)) return false;
      claims.remove(key);
      return true;
    },
    get(key) {
      const claim = claims.read(key);
      return claim === null || isForgotten(claim, now()) ? null : seenAt(claim, now());
    },
    renew(key, token, leaseMs) {
      const before = claims.read(key);
      const after = before === null ? null : renewed(before, token, leaseMs, now());
      if (before === null || after === null) return false;
      claims.open(key, claimOf(after, after.answer, before.repeatable), now());
      return true;
    },
  });
}

interface ClaimTable {
  read(key: string): MemoryClaim | null;
  open(key: string, claim: MemoryClaim, now: number): void;
  close(key: string, claim: MemoryClaim): void;
  remove(key: string): void;
}

/** Counted as size: with `max` the whole cache would be laid out at once. */
const upTo = (maxSize: number) => ({ maxSize, sizeCalculation: () => 1 });

/** Claims under way, claims that ended, and answers: three bounds, three tables. */
function claimTable(maxEntries: number, maxKeys: number): ClaimTable {
  const underWay = new Map<string, MemoryClaim>();
  // Never touched by reading: the oldest is the one that ended first.
  const over = new LRUCache<string, MemoryClaim>(upTo(maxKeys));
  const answers = new LRUCache<string, JsonObject>({
    ...upTo(maxEntries),
    dispose: (_answer, key, reason) => {
      if (reason === 'evict' && over.peek(key)?.repeatable === true) over.delete(key);
    },
  });

  const makeRoom = (now: number): void => {
    for (const key of over.rkeys()) {
      const claim = over.peek(key);
      if (over.size + underWay.size < maxKeys) return;
      if (claim === undefined) continue;
      if (!claim.repeatable && now < (claim.forgetAt ?? 0)) break;
      over.delete(key);
      answers.delete(key);
    }
    if (over.size + underWay.size >= maxKeys) throw new Error('too many claims are remembered to take another one');
  };

  return {
    read(key) {
      const ending = over.peek(key);
      return ending === undefined ? (underWay.get(key) ?? null) : claimOf(ending, answers.get(key) ?? null, ending.repeatable);
    },
    open(key, claim, now) {
      if (!underWay.has(key)) makeRoom(now);
      underWay.set(key, claim);
    },
    close(key, claim) {
      underWay.delete(key);
      over.set(key, claimOf(claim, null, claim.repeatable));
      if (claim.answer !== null) answers.set(key, claim.answer);
    },
    remove(key) {
      underWay.delete(key);
      over.delete(key);
      answers.delete(key);
    },
  };
}
