/** Reads a list again when it is said to have changed: one reading at a time, however often that is said. */

import type { Clock } from '../../core/clock.ts';
import { describeThrown } from '../../core/errors.ts';
import type { ReportProblem } from './problem.ts';

/** A server may say it a thousand times a second. */
const REST_MS = 250;

/** A server that says it every time its list is read does not want it read. */
const MAX_READINGS = 8;

export interface Refresher {
  readonly ask: () => void;
  /**
   * For a call that is about to be sent: `null` where the list is as new as the server has said it is. Otherwise reads it now, without the
   * rest, and rejects where that does not come to an end.
   */
  caughtUp(): Promise<void> | null;
  /** Leaves no timer behind. */
  stop(): void;
}

export function createRefresher(
  clock: Clock,
  refresh: () => Promise<unknown>,
  report: ReportProblem,
): Refresher {
  /** The list was said to have changed after the last reading of it began. */
  let isBehind = false;
  let reading: Promise<void> | null = null;
  let isResting = false;
  let isStopped = false;
  let takeBack = () => {};
  const rested = (): void => {
    isResting = false;
    if (isBehind) read();
  };
  const read = (): void => {
    isBehind = false;
    reading = refresh()
      .then(() => {})
      .catch((thrown: unknown) => {
        isBehind = true;
        report('list_failed', `the new list of tools could not be read: ${describeThrown(thrown)}`);
      })
      .finally(() => {
        reading = null;
        if (isStopped) return;
        takeBack();
        isResting = true;
        takeBack = clock.after(REST_MS, rested);
      });
  };
  const catchUp = async (): Promise<void> => {
    for (let readings = 0; isBehind || reading !== null; readings += 1) {
      if (readings === MAX_READINGS || isStopped)
        throw new Error('the list of tools could not be read');
      if (reading === null) read();
      await reading;
    }
  };
  return {
    ask() {
      if (isStopped) return;
      isBehind = true;
      if (reading === null && !isResting) read();
    },
    caughtUp: () => (isBehind || reading !== null ? catchUp() : null),
    stop() {
      isStopped = true;
      takeBack();
    },
  };
}
