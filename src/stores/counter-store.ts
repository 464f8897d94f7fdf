/** Counters: how many calls a key may still make. The port that rate limits are built on. */

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
