/** Reads a list again when it is said to have changed: one reading at a time, however often that is said. */

import type { Clock } from '../../core/clock.ts';
import { describeThrown } from '../../core/errors.ts';
import type { ReportProblem } from './problem.ts';

/** A server may say it a thousand times a second. */
const REST_MS = 250;

export interface Refresher {
  readonly ask: () => void;
  /** Leaves no timer behind. */
  stop(): void;
}

export function createRefresher(clock: Clock, refresh: () => Promise<unknown>, report: ReportProblem): Refresher {
  let state: 'idle' | 'busy' | 'asked' | 'stopped' = 'idle';
  let takeBack = () => {};
  const rested = (): void => {
    const isAsked = state === 'asked';
    state = state === 'stopped' ? 'stopped' : 'idle';
    if (isAsked) ask();
  };
  const ask = (): void => {
    if (state === 'busy') state = 'asked';
    if (state !== 'idle') return;
    state = 'busy';
    void refresh()
      .catch((thrown: unknown) => report('list_failed', `the new list of tools could not be read: ${describeThrown(thrown)}`))
      .then(() => {
        if (state !== 'stopped') takeBack = clock.after(REST_MS, rested);
      });
  };
  return {
    ask,
    stop() {
      state = 'stopped';
      takeBack();
    },
  };
}
