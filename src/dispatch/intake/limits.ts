/** Counted and concurrent calls. Check and take are one step, and a refused call takes nothing. */

import { checkOptions, expected } from '../../core/contract/options.ts';
import { type FairLine, fairLine } from './fair-line.ts';
import { memoryCounters } from '../../stores/memory/memory-counters.ts';

export interface DispatchLimits {
  readonly maxCallsPerRun?: number;
  readonly maxCallsPerSession?: number;
  /**
   * Calls beyond it wait: in order for each session, and sessions take turns. Calls a tool makes
   * itself ride on its place.
   */
  readonly maxConcurrent?: number;
  /** @default 1_048_576 */
  readonly maxArgsBytes?: number;
  /** @default 64 */
  readonly maxArgsDepth?: number;
  /** Members and items in the arguments, at any depth. @default 20_000 */
  readonly maxArgsValues?: number;
  /** A larger result is not kept at all. @default 33_554_432 */
  readonly maxResultBytes?: number;
  /**
   * Members and items in a result, at any depth. One with more is not kept at all. @default 50_000
   */
  readonly maxResultValues?: number;
  /** A larger result becomes an output file with a preview of this size. @default 8192 */
  readonly maxPreviewBytes?: number;
}

export const DEFAULT_LIMITS = {
  maxArgsBytes: 1_048_576,
  maxArgsDepth: 64,
  maxArgsValues: 20_000,
  maxResultBytes: 33_554_432,
  maxResultValues: 50_000,
  maxPreviewBytes: 8192,
} as const;

export type ResolvedLimits = DispatchLimits &
  Required<Pick<DispatchLimits, keyof typeof DEFAULT_LIMITS>>;

export function resolveLimits(limits: DispatchLimits = {}): ResolvedLimits {
  checkOptions('governTools limits', limits, {
    maxCallsPerRun: expected.integer(0),
    maxCallsPerSession: expected.integer(0),
    maxConcurrent: expected.integer(1),
    maxArgsBytes: expected.integer(2),
    maxArgsDepth: expected.integer(1),
    maxArgsValues: expected.integer(1),
    maxResultBytes: expected.integer(1),
    maxResultValues: expected.integer(1),
    maxPreviewBytes: expected.integer(64),
  });
  return Object.freeze({ ...DEFAULT_LIMITS, ...limits });
}

export interface CallCounter {
  /**
   * Takes one of `max` for this key, or says that none is left. `owner` is the session that made
   * the key up: when there are too many keys, the session with the most of them loses the one it
   * used longest ago. A count without an owner is never forgotten.
   */
  take(key: string, owner?: string): boolean;
}

export function createCallCounter(max: number | undefined): CallCounter {
  if (max === undefined) return { take: () => true };
  const counters = memoryCounters();
  const request = { max, windowMs: null, now: 0 };
  return {
    take: (key, owner) =>
      counters.take(key, owner === undefined ? request : { ...request, owner }).admitted,
  };
}

export interface Semaphore {
  /**
   * Resolves to a function that gives the place back, or to `null` when the signal aborted first.
   * `owner` is whose turn it takes.
   */
  enter(signal: AbortSignal, owner?: string): Promise<(() => void) | null>;
}

/** Lets `max` in at a time: in the order they came for each owner, and owners take turns. */
export function createSemaphore(max: number): Semaphore {
  let inside = 0;
  const waiting = fairLine<() => void>();
  // A place goes straight to the next one who waits: given up first, a newcomer could take it in
  // between.
  const leave = () => {
    const next = waiting.next(() => true);
    if (next === null) inside -= 1;
    else next();
  };
  return {
    async enter(signal, owner = '') {
      if (inside >= max) return (await turnOf(waiting, owner, signal)) ? leave : null;
      inside += 1;
      return leave;
    },
  };
}

/** A call's place among those that run at a time. It can be given up for a while. */
export interface Seat {
  /** Gives it up until it is taken again. */
  stepOut(): void;
  /**
   * Waits for a place again where it was given up. Without one when the signal aborts first, and
   * after the call has left.
   */
  retake(signal: AbortSignal): Promise<void>;
  /** Gives it up for good. */
  leave(): void;
}

/** Waits for a place, or answers `null` when the signal aborted first. */
export async function takeSeat(
  semaphore: Semaphore,
  signal: AbortSignal,
  owner?: string,
): Promise<Seat | null> {
  let giveBack = await semaphore.enter(signal, owner);
  if (giveBack === null) return null;
  let hasLeft = false;
  const stepOut = () => {
    giveBack?.();
    giveBack = null;
  };
  return {
    stepOut,
    async retake(again) {
      if (giveBack !== null) return;
      giveBack = await semaphore.enter(again, owner);
      // A place that was handed to a call that has gone would be lost to all others.
      if (hasLeft) stepOut();
    },
    leave() {
      hasLeft = true;
      stepOut();
    },
  };
}

function turnOf(
  waiting: FairLine<() => void>,
  owner: string,
  signal: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const giveUp = () => {
      waiting.remove(owner, proceed);
      resolve(false);
    };
    const proceed = () => {
      signal.removeEventListener('abort', giveUp);
      resolve(true);
    };
    waiting.add(owner, proceed);
    signal.addEventListener('abort', giveUp, { once: true });
  });
}
