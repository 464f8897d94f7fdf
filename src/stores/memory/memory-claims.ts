/** Claims of one process. */

import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../../core/json/json-value.ts';
import { type Clock, systemClock } from '../../core/time/clock.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import {
  DEFAULT_TTL_MS,
  ended,
  isForgotten,
  mayRelease,
  mayReplace,
  opened,
  renewed,
  seenAt,
  type StoredClaim,
} from '../claim-rules.ts';
import type { ClaimRequest, ClaimStore } from '../claim-store.ts';
import { fairTable } from '../fair-table.ts';

/** How many claims and answers `memoryClaims` keeps, and for how long. */
export interface MemoryClaimsOptions {
  /**
   * How many answers are kept. The owner with the most of them loses the one it used longest ago.
   * @default 256
   */
  readonly maxEntries?: number;
  /** How long the end of a call is remembered, where `complete` does not say. @default 600000 */
  readonly ttlMs?: number;
  /**
   * How many calls are remembered, with or without their answers. One session may hold as many as
   * it leaves free, so at most half.
   * @default 250000
   */
  readonly maxKeys?: number;
  /** @default the system's */
  readonly clock?: Clock;
}

interface MemoryClaim extends StoredClaim {
  readonly repeatable: boolean;
  readonly owner: string | null;
}

/** Field by field: every call passes here three times, and a spread costs as much as the rest. */
const claimOf = (
  claim: StoredClaim,
  answer: JsonObject | null,
  { repeatable, owner }: Pick<MemoryClaim, 'repeatable' | 'owner'>,
): MemoryClaim => ({
  state: claim.state,
  fingerprint: claim.fingerprint,
  token: claim.token,
  leaseMs: claim.leaseMs,
  leaseUntil: claim.leaseUntil,
  forgetAt: claim.forgetAt,
  answer,
  repeatable,
  owner,
});

const traitsOf = ({ repeatable = false, owner }: ClaimRequest) => ({
  repeatable,
  owner: owner ?? null,
});

/**
 * Keeps claims as long as the process lives. Claims under way are never dropped. An answer that had
 * to go leaves its key behind, so that the work is not done twice for want of space; when too many
 * keys are remembered that may not be forgotten yet, of one owner or in all, `claim` throws
 * `ERR_STORE_FULL`. Answers are bounded by number, not by size.
 */
export function memoryClaims(options: MemoryClaimsOptions = {}): ClaimStore {
  const whole = expected.integer(1);
  checkOptions('memoryClaims', options, {
    maxEntries: whole,
    ttlMs: whole,
    maxKeys: whole,
    clock: expected.object,
  });
  const { ttlMs = DEFAULT_TTL_MS, clock = systemClock } = options;
  const claims = claimTable(options.maxEntries ?? 256, options.maxKeys ?? 250_000);
  const now = () => clock.monotonic();

  return Object.freeze<ClaimStore>({
    claim(key, request) {
      const before = claims.read(key);
      if (before !== null && !mayReplace(before, request, now()))
        return { won: false, record: seenAt(before, now()) };
      claims.remove(key);
      claims.open(key, claimOf(opened(request, now()), null, traitsOf(request)), now());
      return { won: true };
    },
    complete(key, token, ending) {
      const before = claims.read(key);
      const after =
        before === null ? null : ended(before, token, ending, now() + (ending.ttlMs ?? ttlMs));
      if (before === null || after === null) return false;
      claims.close(key, claimOf(after, after.answer, before));
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
      claims.open(key, claimOf(after, after.answer, before), now());
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

type EndedClaims = LRUCache<string, MemoryClaim>;

/** Claims that ended stand apart by when they may go, the one that ended first in front. */
interface Tables {
  readonly underWay: Map<string, MemoryClaim>;
  readonly done: EndedClaims;
  readonly unknown: EndedClaims;
  readonly repeatable: EndedClaims;
}

const peekIn = ({ underWay, done, unknown, repeatable }: Tables, key: string) =>
  underWay.get(key) ?? done.peek(key) ?? unknown.peek(key) ?? repeatable.peek(key);

/** Where a claim stands as it is. */
function tableOf(tables: Tables, { forgetAt, repeatable, state }: MemoryClaim) {
  if (forgetAt === null) return tables.underWay;
  if (repeatable) return tables.repeatable;
  return state === 'done' ? tables.done : tables.unknown;
}

const createTables = (maxKeys: number): Tables => ({
  underWay: new Map(),
  done: new LRUCache(upTo(maxKeys)),
  unknown: new LRUCache(upTo(maxKeys)),
  repeatable: new LRUCache(upTo(maxKeys)),
});

function claimTable(maxEntries: number, maxKeys: number): ClaimTable {
  const tables = createTables(maxKeys);
  const { underWay, done, unknown, repeatable } = tables;
  const answers = fairTable<JsonObject>();
  const held = ownerCounts();
  const free = () => maxKeys - underWay.size - done.size - unknown.size - repeatable.size;
  const remove = (key: string): void => {
    const claim = peekIn(tables, key);
    if (claim === undefined) return;
    held.change(claim, -1);
    tableOf(tables, claim).delete(key);
    answers.delete(key);
  };

  const demandRoom = (wanted: MemoryClaim, now: number): void => {
    if (done.size > 0)
      for (const key of firstKeys(done, (claim) => isForgotten(claim, now))) remove(key);
    // Repeatable claims make room for any other; an effect that may have happened is forgotten only
    // when no caller can still be waiting to hear of it.
    if (free() <= 0) for (const key of firstKeys(repeatable, () => free() <= 0)) remove(key);
    if (free() <= 0) for (const key of firstKeys(unknown, isOutdated(now))) remove(key);
    const isTooMuch =
      !wanted.repeatable && wanted.owner !== null && held.of(wanted.owner) >= free();
    if (free() <= 0 || isTooMuch) throw full(firstOf(done)?.claim.forgetAt ?? null, now);
  };

  return {
    read(key) {
      const claim = peekIn(tables, key);
      if (claim === undefined) return null;
      if (claim.forgetAt === null) return claim;
      const answer = answers.get(key) ?? null;
      // What is asked for is in use.
      if (answer !== null) answers.set(key, claim.owner ?? '', answer);
      return claimOf(claim, answer, claim);
    },
    open(key, claim, now) {
      if (!underWay.has(key)) {
        demandRoom(claim, now);
        held.change(claim, 1);
      }
      underWay.set(key, claim);
    },
    close(key, claim) {
      const before = peekIn(tables, key);
      if (before !== undefined) tableOf(tables, before).delete(key);
      tableOf(tables, claim).set(key, claimOf(claim, null, claim));
      if (claim.answer !== null) answers.set(key, claim.owner ?? '', claim.answer);
      const loser = answers.size > maxEntries ? answers.loser() : null;
      if (loser === null) return;
      answers.delete(loser.key);
      repeatable.delete(loser.key);
    },
    remove,
  };
}

/**
 * How long a claim in state `unknown` is kept beyond its time, however full the table is: its
 * effect may have happened.
 */
const UNKNOWN_MS = 86_400_000;

const isOutdated =
  (now: number) =>
  ({ forgetAt }: MemoryClaim): boolean =>
    now >= (forgetAt ?? 0) + UNKNOWN_MS;

/**
 * Keys from the front while `mayGo`, so that every claim is looked at once. Each key must be
 * removed before the next one is asked for.
 */
function* firstKeys(
  claims: EndedClaims,
  mayGo: (claim: MemoryClaim) => boolean,
): Generator<string, void> {
  for (let first = firstOf(claims); first !== null && mayGo(first.claim); first = firstOf(claims))
    yield first.key;
}

function firstOf(
  claims: EndedClaims,
): { readonly key: string; readonly claim: MemoryClaim } | null {
  const key = claims.rkeys().next().value;
  const claim = key === undefined ? undefined : claims.peek(key);
  return key === undefined || claim === undefined ? null : { key, claim };
}

function full(forgetAt: number | null, now: number): AlliumError {
  const message = 'memoryClaims: too many claims are remembered to take another one';
  return new AlliumError(
    'ERR_STORE_FULL',
    message,
    forgetAt === null ? {} : { retryAfterMs: Math.max(1, Math.ceil(forgetAt - now)) },
  );
}

interface OwnerCounts {
  change(claim: MemoryClaim, by: 1 | -1): void;
  of(owner: string): number;
}

/** How many claims each owner has that cannot be dropped for want of room. */
function ownerCounts(): OwnerCounts {
  const counts = new Map<string, number>();
  const of = (owner: string) => counts.get(owner) ?? 0;
  return {
    of,
    change({ owner, repeatable }, by) {
      if (owner === null || repeatable) return;
      const count = of(owner) + by;
      if (count === 0) counts.delete(owner);
      else counts.set(owner, count);
    },
  };
}
