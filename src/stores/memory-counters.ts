/** Counters of one process. */

import { LRUCache } from 'lru-cache';
import { checkOptions, expected } from '../core/options.ts';
import type { CounterStore, Taken, TakeRequest } from './counter-store.ts';

export interface MemoryCountersOptions {
  /** How many keys are counted at once. A further one is not admitted until a counter is at rest. @default 100000 */
  readonly maxKeys?: number;
}

/** Used-up allowance at a time, in units in which one call is `windowMs` and a millisecond gives back `max`: whole numbers only. */
interface Level {
  readonly used: number;
  readonly at: number;
  readonly request: TakeRequest;
}

/**
 * Takes at once, without a promise. With a window it is the generic cell rate algorithm: a key that rested may make `max`
 * calls at once, after that one every `windowMs / max`. So any span of `windowMs` holds at most `2 * max - 1` calls, and
 * a long one no more than `max` a window. A store that is full admits no new key: forgetting an old one would hand
 * out its allowance again.
 */
export function memoryCounters(options: MemoryCountersOptions = {}): CounterStore {
  checkOptions('memoryCounters', options, { maxKeys: expected.integer(1) });
  const { maxKeys = 100_000 } = options;
  const levels = new LRUCache<string, Level>({ maxSize: maxKeys, sizeCalculation: () => 1 });

  return Object.freeze<CounterStore>({
    take(key, given) {
      const before = levels.peek(key);
      // A clock that runs backwards gives nothing back.
      const request = { ...given, now: Math.max(Math.floor(given.now), before?.at ?? Number.NEGATIVE_INFINITY) };
      const used = before === undefined ? 0 : usedAt(before, request.now);
      const taken = verdict(used, request);
      if (!taken.admitted) return taken;
      if (before === undefined && levels.size >= maxKeys) {
        const wait = waitForRest(levels, request.now);
        if (wait !== 0) return { admitted: false, count: 0, retryAfterMs: wait };
      }
      levels.set(key, { used: used + costOf(request), at: request.now, request });
      return taken;
    },
  });
}

const costOf = ({ windowMs }: TakeRequest): number => windowMs ?? 1;

/** What is used of a counter after the time that has passed. */
function usedAt({ used, at, request }: Level, now: number): number {
  return request.windowMs === null ? used : Math.max(0, used - (now - at) * request.max);
}

function verdict(used: number, { max, windowMs }: TakeRequest): Taken {
  const cost = windowMs ?? 1;
  const over = used + cost - cost * max;
  const count = Math.ceil(used / cost);
  if (over <= 0) return { admitted: true, count: count + 1, retryAfterMs: null };
  return { admitted: false, count, retryAfterMs: windowMs === null || max === 0 ? null : Math.ceil(over / max) };
}

/** Drops the counter that was used longest ago if it is at rest; otherwise how long until it is. */
function waitForRest(levels: LRUCache<string, Level>, now: number): number | null {
  const [key = ''] = levels.rkeys();
  const level = levels.peek(key);
  const used = level === undefined ? 0 : usedAt(level, now);
  if (level !== undefined && used > 0) return level.request.windowMs === null ? null : Math.ceil(used / level.request.max);
  levels.delete(key);
  return 0;
}
