/** Counters of one process. */

import { checkOptions, expected } from '../../core/contract/options.ts';
import type { CounterStore, Taken, TakeRequest } from '../counter-store.ts';
import { type FairTable, fairTable } from '../fair-table.ts';

/** How many counters `memoryCounters` keeps. */
export interface MemoryCountersOptions {
  /**
   * How many keys are counted at once. When it is full, the owner with the most keys loses the one
   * it used longest ago. @default 100000
   */
  readonly maxKeys?: number;
}

/** Takes at once, without a promise. */
export interface MemoryCounters extends CounterStore {
  readonly take: (key: string, request: TakeRequest) => Taken;
}

/**
 * Used-up allowance at a time, in units in which one call is `windowMs` and a millisecond gives
 * back `max`: whole numbers only.
 */
interface Level {
  readonly used: number;
  readonly at: number;
  readonly max: number;
  readonly windowMs: number | null;
  readonly owner: string | undefined;
}

/**
 * With a window it is the generic cell rate algorithm: a key that rested may make `max` calls at
 * once, after that one every `windowMs / max`. So any span of `windowMs` holds at most `2 * max -
 * 1` calls, and a long one no more than `max` a window. A store that is full forgets keys that have
 * an owner: who makes up so many keys has the allowance of each of them anyway. A key without an
 * owner is never forgotten while it counts.
 */
export function memoryCounters(options: MemoryCountersOptions = {}): MemoryCounters {
  checkOptions('memoryCounters', options, { maxKeys: expected.integer(1) });
  const { maxKeys = 100_000 } = options;
  const levels: Levels = { maxKeys, owned: fairTable(), plain: new Map() };

  return Object.freeze<MemoryCounters>({
    take(key, { max, windowMs, now, owner }) {
      const before = levels.plain.get(key) ?? levels.owned.get(key);
      // A clock that runs backwards gives nothing back.
      const at = Math.max(Math.floor(now), before?.at ?? Number.NEGATIVE_INFINITY);
      const used = before === undefined ? 0 : usedAt(before, at);
      const cost = windowMs ?? 1;
      const over = used + cost - cost * max;
      const count = Math.ceil(used / cost);
      if (over > 0) {
        // A limit that calls still run into is in use: it is not the one to forget.
        if (before !== undefined) keep(levels, key, before);
        const isForGood = windowMs === null || max === 0;
        return { admitted: false, count, retryAfterMs: isForGood ? null : Math.ceil(over / max) };
      }
      const wait = before === undefined ? makeRoom(levels, at, owner) : 0;
      if (wait !== 0) return { admitted: false, count: 0, retryAfterMs: wait };
      if (before !== undefined && before.owner !== owner) drop(levels, key, before);
      keep(levels, key, { used: used + cost, at, max, windowMs, owner });
      return { admitted: true, count: count + 1, retryAfterMs: null };
    },
  });
}

/** What is used of a counter after the time that has passed. */
function usedAt({ used, at, max, windowMs }: Level, now: number): number {
  return windowMs === null ? used : Math.max(0, used - (now - at) * max);
}

/** How long until a counter is at rest: 0 where it is, `null` where it never is. */
function restOf(level: Level, now: number): number | null {
  const used = usedAt(level, now);
  if (used === 0) return 0;
  return level.windowMs === null ? null : Math.ceil(used / level.max);
}

interface Levels {
  readonly maxKeys: number;
  readonly owned: FairTable<Level>;
  /** Those without an owner, the one used longest ago first. */
  readonly plain: Map<string, Level>;
}

/** The level is the one used last. */
function keep({ owned, plain }: Levels, key: string, level: Level): void {
  if (level.owner !== undefined) return owned.set(key, level.owner, level);
  // The only one is the last one used already: taking it out would lay the table out anew.
  if (plain.size > 1) plain.delete(key);
  plain.set(key, level);
}

function drop({ owned, plain }: Levels, key: string, { owner }: Level): void {
  if (owner === undefined) plain.delete(key);
  else owned.delete(key);
}

/**
 * 0 where there is room for another key, also by forgetting one; otherwise how long until there is,
 * `null` for never.
 */
function makeRoom(
  { maxKeys, owned, plain }: Levels,
  now: number,
  owner: string | undefined,
): number | null {
  if (owned.size + plain.size < maxKeys) return 0;
  const [oldest] = plain;
  const rest = oldest === undefined ? null : restOf(oldest[1], now);
  if (oldest !== undefined && rest === 0) {
    plain.delete(oldest[0]);
    return 0;
  }
  const loser = owned.loser();
  if (loser === null) return rest;
  // Who holds most waits where that helps: forgetting its own key would lift the limit of that key
  // early.
  const wait = restOf(loser.value, now);
  if (owner === loser.owner && wait !== null && wait > 0) return wait;
  owned.delete(loser.key);
  return 0;
}
