/** Which calls have not ended, for whoever closes the dispatcher. */

import { AlliumError } from '../../core/contract/errors.ts';
import type { ToolResult } from '../../core/contract/result.ts';

export interface CallsUnderWay {
  readonly add: (start: () => Promise<ToolResult>) => Promise<ToolResult>;
  /**
   * What a call under way has started. It is let in until that call has ended too, so that each one
   * gets its ending.
   */
  readonly addBehind: (start: () => Promise<ToolResult>) => Promise<ToolResult>;
  /** Lets nobody in any more, and waits for the last one. To be called once. */
  readonly drain: () => Promise<void>;
  /** Aborts what nobody waits for; everything else comes to its own end. */
  readonly closing: AbortSignal;
}

export function callsUnderWay(): CallsUnderWay {
  const closing = new AbortController();
  let closed = false;
  let underWay = 0;
  let wake = () => {};
  const done = (): void => {
    underWay -= 1;
    if (underWay === 0) wake();
  };
  const add = (start: () => Promise<ToolResult>): Promise<ToolResult> => {
    const running = start();
    underWay += 1;
    running.then(done, done);
    return running;
  };
  return {
    closing: closing.signal,
    add: (start) =>
      closed
        ? Promise.reject(
            new AlliumError('ERR_CLOSED', 'this dispatcher was closed and takes no more calls'),
          )
        : add(start),
    addBehind: add,
    async drain() {
      closed = true;
      closing.abort(new AlliumError('ERR_CLOSED', 'the dispatcher was closed'));
      // What ends may have started something behind it.
      while (underWay > 0) await new Promise<void>((resolve) => void (wake = resolve));
    },
  };
}
