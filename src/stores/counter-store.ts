/**
 * Counters: how many calls a key may still make. The port that rate limits are built on, and
 * counters kept by rate-limiter-flexible: Redis, Postgres, SQLite, Valkey and whatever else it
 * knows.
 */

import { AlliumError } from '../core/contract/errors.ts';
import { isObject } from '../core/json/json.ts';
import type { Awaitable } from './claim-store.ts';

/** One wish to be admitted. */
export interface TakeRequest {
  /** How many calls are admitted, in all or per window. */
  readonly max: number;
  /** `null` for a counter that never refills. */
  readonly windowMs: number | null;
  /**
   * Milliseconds that never run backwards, of this process. A store shared by several processes has
   * a time of its own.
   */
  readonly now: number;
  /**
   * Who made the key up, such as a session: a store that runs out of room takes it from the owner
   * with the most keys. A key without an owner is one that callers cannot make more of, such as the
   * name of a tool.
   */
  readonly owner?: string;
}

/** Whether the call was admitted, and when to try again. */
export interface Taken {
  readonly admitted: boolean;
  /** How many of `max` are used, this call included if it was admitted. */
  readonly count: number;
  /** When the next try can succeed; `null` where waiting does not help. */
  readonly retryAfterMs: number | null;
}

/**
 * Checks and takes in one step: between the look and the taking no other call may be counted. A
 * call that is not admitted takes nothing. A store that fails throws; its caller then admits
 * nothing.
 */
export interface CounterStore {
  take(key: string, request: TakeRequest): Awaitable<Taken>;
}

/** What is used of a limiter; every one of rate-limiter-flexible has it. */
export interface FlexibleLimiter {
  /** How many calls it admits per duration. */
  readonly points: number;
  /** Seconds; 0 never refills. */
  readonly duration: number;
  /**
   * Resolves when admitted, rejects with the same figures when not, and with an `Error` when it
   * failed.
   */
  consume(key: string): Promise<unknown>;
}

/**
 * A counter store over a limiter of rate-limiter-flexible. The limiter's `points` and `duration`
 * are the limit: a layer with another `maxCalls` or `windowMs` is refused by every call, because
 * nobody could say which of the two holds. Its windows are fixed ones: twice `points` fit around
 * the edge of two. `blockDuration` and `execEvenly` do what they say there.
 */
export function flexibleCounter(limiter: FlexibleLimiter): CounterStore {
  if (!isObject(limiter) || typeof limiter.consume !== 'function')
    throw new AlliumError(
      'ERR_INVALID_OPTION',
      'flexibleCounter: "limiter" must be a limiter with consume()',
      { layer: 'flexibleCounter', option: 'limiter', expected: 'a limiter with consume()' },
    );
  return Object.freeze<CounterStore>({
    async take(key, { max, windowMs }) {
      const { points, duration } = limiter;
      if (points !== max || duration * 1000 !== (windowMs ?? 0))
        throw new Error('flexibleCounter: the limiter has another limit');
      try {
        return takenFrom(await limiter.consume(key), true, max);
      } catch (thrown) {
        // A refusal is thrown as plain figures; an error is anything else.
        if (thrown instanceof Error || !hasFigures(thrown)) throw thrown;
        return takenFrom(thrown, false, max);
      }
    },
  });
}

interface Figures {
  readonly msBeforeNext: number;
  readonly consumedPoints: number;
}

const hasFigures = (value: unknown): value is Figures =>
  isObject(value) &&
  typeof value.msBeforeNext === 'number' &&
  typeof value.consumedPoints === 'number';

function takenFrom(figures: unknown, admitted: boolean, max: number): Taken {
  if (!hasFigures(figures))
    throw new Error('flexibleCounter: the limiter answered without figures');
  // A key that never expires is told as -1; refused calls are counted on by the limiter, but use up
  // nothing.
  const retryAfterMs = admitted || figures.msBeforeNext < 0 ? null : figures.msBeforeNext;
  return { admitted, count: Math.min(figures.consumedPoints, max), retryAfterMs };
}
