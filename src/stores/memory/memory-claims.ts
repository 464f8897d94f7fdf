/** Claims of one process. */

import type { JsonObject } from '../../core/json/json-value.ts';
import { type Clock, systemClock } from '../../core/time/clock.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import {
  DEFAULT_TTL_MS,
  isForgotten,
  mayEnd,
  mayReplace,
  renewed,
  seenAt,
  type StoredClaim,
} from '../claim-rules.ts';
import type { Claimed, ClaimEnding, ClaimRequest, ClaimStore } from '../claim-store.ts';
import { type FairTable, fairTable } from '../fair-table.ts';
import { append, type Linked, type LinkedList, linkedList, unlink } from '../linked-list.ts';

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

/** Changed in place, and its own link in the list of those that ended like it. */
interface MemoryClaim extends Linked<MemoryClaim> {
  readonly key: string;
  readonly fingerprint: string;
  readonly token: string;
  readonly repeatable: boolean;
  readonly owner: string | null;
  state: StoredClaim['state'];
  leaseMs: number;
  leaseUntil: number;
  /** When the end of the work may be forgotten; `null` until there is one. */
  forgetAt: number | null;
  /** `null` also for one that had to go. */
  answer: JsonObject | null;
}

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
  const table = createTable(options.maxEntries ?? 256, options.maxKeys ?? 250_000);

  return Object.freeze<ClaimStore>({
    claim(key, request) {
      const now = clock.monotonic();
      const before = read(table, key);
      if (before !== null && !mayReplace(before, request, now))
        return { won: false, record: seenAt(before, now) };
      if (before !== null) remove(table, before);
      open(table, key, request, now);
      return WON;
    },
    complete(key, token, ending) {
      const claim = read(table, key);
      if (claim === null || !mayEnd(claim, token)) return false;
      close(table, claim, ending, clock.monotonic() + (ending.ttlMs ?? ttlMs));
      return true;
    },
    release(key, token) {
      const claim = read(table, key);
      if (claim === null || !mayEnd(claim, token)) return false;
      remove(table, claim);
      return true;
    },
    get(key) {
      const now = clock.monotonic();
      const claim = read(table, key);
      return claim === null || isForgotten(claim, now) ? null : seenAt(claim, now);
    },
    renew(key, token, leaseMs) {
      const claim = read(table, key);
      const after = claim === null ? null : renewed(claim, token, leaseMs, clock.monotonic());
      if (claim === null || after === null) return false;
      claim.leaseMs = after.leaseMs;
      claim.leaseUntil = after.leaseUntil;
      return true;
    },
  });
}

const WON: Claimed = Object.freeze({ won: true });

interface Table {
  readonly maxEntries: number;
  readonly maxKeys: number;
  readonly claims: Map<string, MemoryClaim>;
  /** Claims that ended, by when they may go. The one that ended first is the first. */
  readonly done: LinkedList<MemoryClaim>;
  readonly unknown: LinkedList<MemoryClaim>;
  readonly repeatable: LinkedList<MemoryClaim>;
  /** Claims with an answer. */
  readonly answered: FairTable<MemoryClaim>;
  /** How many claims each owner has that cannot be dropped for want of room. */
  readonly held: Map<string, number>;
}

const createTable = (maxEntries: number, maxKeys: number): Table => ({
  maxEntries,
  maxKeys,
  claims: new Map(),
  done: linkedList(),
  unknown: linkedList(),
  repeatable: linkedList(),
  answered: fairTable(),
  held: new Map(),
});

function read({ claims, answered }: Table, key: string): MemoryClaim | null {
  const claim = claims.get(key) ?? null;
  // What is asked for is in use.
  if (claim !== null && claim.answer !== null) answered.set(key, claim.owner ?? '', claim);
  return claim;
}

/** Throws where there is no room. */
function open(table: Table, key: string, request: ClaimRequest, now: number): void {
  const { fingerprint, token, leaseMs, repeatable = false, owner = null } = request;
  const holder = repeatable ? null : owner;
  demandRoom(table, holder, now);
  table.claims.set(key, {
    key,
    fingerprint,
    token,
    repeatable,
    owner,
    state: 'in_progress',
    leaseMs,
    leaseUntil: now + leaseMs,
    forgetAt: null,
    answer: null,
    before: null,
    after: null,
  });
  if (holder !== null) count(table, holder, 1);
}

/** `holder` is the session whose room the claim takes: none may hold more than is free. */
function demandRoom(table: Table, holder: string | null, now: number): void {
  const { claims, maxKeys, done, unknown, repeatable, held } = table;
  while (done.first !== null && isForgotten(done.first, now)) remove(table, done.first);
  // Repeatable claims make room for any other; an effect that may have happened is forgotten only
  // when no caller can still be waiting to hear of it.
  while (claims.size >= maxKeys && repeatable.first !== null) remove(table, repeatable.first);
  if (claims.size >= maxKeys)
    while (unknown.first !== null && isOutdated(unknown.first, now)) remove(table, unknown.first);
  const free = maxKeys - claims.size;
  const isTooMuch = holder !== null && (held.get(holder) ?? 0) >= free;
  if (free <= 0 || isTooMuch) throw full(done.first?.forgetAt ?? null, now);
}

function close(
  table: Table,
  claim: MemoryClaim,
  { state, answer }: ClaimEnding,
  forgetAt: number,
): void {
  const { answered, maxEntries } = table;
  if (claim.forgetAt !== null) unlink(endedLike(table, claim), claim);
  claim.state = state;
  claim.forgetAt = forgetAt;
  append(endedLike(table, claim), claim);
  if (state !== 'done' || answer === null) return;
  claim.answer = answer;
  answered.set(claim.key, claim.owner ?? '', claim);
  const loser = answered.size > maxEntries ? answered.loser() : null;
  if (loser === null) return;
  if (loser.value.repeatable) return remove(table, loser.value);
  answered.delete(loser.key);
  loser.value.answer = null;
}

function remove(table: Table, claim: MemoryClaim): void {
  const { key, owner, repeatable, forgetAt, answer } = claim;
  table.claims.delete(key);
  if (!repeatable && owner !== null) count(table, owner, -1);
  if (forgetAt !== null) unlink(endedLike(table, claim), claim);
  if (answer !== null) table.answered.delete(key);
}

function endedLike(
  { done, unknown, repeatable }: Table,
  claim: MemoryClaim,
): LinkedList<MemoryClaim> {
  if (claim.repeatable) return repeatable;
  return claim.state === 'done' ? done : unknown;
}

function count({ held }: Table, holder: string, by: 1 | -1): void {
  const claims = (held.get(holder) ?? 0) + by;
  if (claims === 0) held.delete(holder);
  else held.set(holder, claims);
}

/**
 * How long a claim in state `unknown` is kept beyond its time, however full the table is: its
 * effect may have happened.
 */
const UNKNOWN_MS = 86_400_000;

const isOutdated = ({ forgetAt }: MemoryClaim, now: number): boolean =>
  now >= (forgetAt ?? 0) + UNKNOWN_MS;

function full(forgetAt: number | null, now: number): AlliumError {
  const message = 'memoryClaims: too many claims are remembered to take another one';
  return new AlliumError(
    'ERR_STORE_FULL',
    message,
    forgetAt === null ? {} : { retryAfterMs: Math.max(1, Math.ceil(forgetAt - now)) },
  );
}
