/** Waiting for servers, and not for longer than is sensible. */

import type { Clock } from '../../core/time/clock.ts';

export interface StandingWatch {
  /** Something that somebody may wait for is different now. */
  changed(): void;
  /**
   * Resolves as soon as `isEnough` says so. It is asked at once, at every change, and when `ms` are
   * over with `isLate`.
   */
  until(isEnough: (isLate: boolean) => boolean, ms: number): Promise<void>;
  /** Lets everybody go, and leaves no timer behind. */
  close(): void;
}

export function standingWatch(clock: Clock): StandingWatch {
  let isClosed = false;
  const waiting = new Set<{ ask(): void; end(): void }>();
  return {
    changed() {
      for (const waiter of [...waiting]) waiter.ask();
    },
    until: (isEnough, ms) =>
      new Promise((resolve) => {
        let isLate = ms <= 0;
        if (isClosed || isEnough(isLate)) return resolve();
        const waiter = {
          ask() {
            if (isEnough(isLate)) waiter.end();
          },
          end() {
            waiting.delete(waiter);
            takeBack();
            resolve();
          },
        };
        const onLate = (): void => {
          isLate = true;
          waiter.ask();
        };
        const takeBack = isLate ? () => {} : clock.after(ms, onLate);
        waiting.add(waiter);
      }),
    close() {
      isClosed = true;
      for (const waiter of [...waiting]) waiter.end();
    },
  };
}

export interface DrainGate {
  /** A server takes no more, or takes more again. */
  readonly congested: (server: object, isCongested: boolean) => void;
  isOpen(): boolean;
  /** Tells once when the gate is open again. */
  onDrain(listener: () => void): void;
  close(): void;
}

/** After `patienceMs` a server counts as stuck: the others are not held for it any longer. */
export function drainGate(clock: Clock, patienceMs: number): DrainGate {
  const waiting = new Map<object, () => void>();
  let drained: (() => void) | null = null;
  const release = (server: object): void => {
    const takeBack = waiting.get(server);
    if (takeBack === undefined) return;
    takeBack();
    waiting.delete(server);
    if (waiting.size > 0) return;
    const listener = drained;
    drained = null;
    listener?.();
  };
  return {
    congested(server, isCongested) {
      if (!isCongested) release(server);
      else if (!waiting.has(server))
        waiting.set(
          server,
          clock.after(patienceMs, () => release(server)),
        );
    },
    isOpen: () => waiting.size === 0,
    onDrain: (listener) => void (drained = listener),
    close() {
      for (const takeBack of waiting.values()) takeBack();
      waiting.clear();
    },
  };
}
