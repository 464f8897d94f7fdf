/** How many calls have not ended, for closing the dispatcher. */

import { AlliumError } from '../../core/contract/errors.ts';

export interface CallsUnderWay {
  /** Whether no call is let in any more but those that calls under way start. */
  readonly isClosed: () => boolean;
  /** Counts a call that begins; each one must be followed by an `end`. */
  readonly begin: () => void;
  readonly end: () => void;
  /** Counts as a call what leads to one. */
  readonly add: <T>(start: () => Promise<T>) => Promise<T>;
  /** Lets no call in any more, and waits for the last one. To be called once. */
  readonly drain: () => Promise<void>;
  /** Aborts background runs; every other call comes to its own end. */
  readonly closing: AbortSignal;
}

export function callsUnderWay(): CallsUnderWay {
  const closing = new AbortController();
  let underWay = 0;
  let wake = () => {};
  const begin = (): void => void (underWay += 1);
  const end = (): void => {
    underWay -= 1;
    if (underWay === 0) wake();
  };
  return {
    closing: closing.signal,
    isClosed: () => closing.signal.aborted,
    begin,
    end,
    async add(start) {
      begin();
      try {
        return await start();
      } finally {
        end();
      }
    },
    async drain() {
      closing.abort(new AlliumError('ERR_CLOSED', 'the dispatcher was closed'));
      // What ends may have started something behind it.
      while (underWay > 0) await new Promise<void>((resolve) => void (wake = resolve));
    },
  };
}
