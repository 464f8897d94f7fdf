/** Waiting for servers, and not for longer than is sensible. */

import type { Clock } from '../../core/clock.ts';

export interface StandingWatch {
  /** Something that somebody may wait for is different now. */
  changed(): void;
  /** Resolves as soon as `isEnough` says so. It is asked at once, at every change, and when `ms` are over with `isLate`. */
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
