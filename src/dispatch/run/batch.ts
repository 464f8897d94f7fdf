/** A batch: bounded concurrency, the model's order, and every call decided on its own. */

import { isAlliumError } from '../../core/contract/errors.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import type { ToolRequest } from '../../tools/tool.ts';
import type { Dispatcher } from '../dispatcher.ts';
import { createSemaphore, takeSeat } from '../intake/limits.ts';
import type { CallOptions } from '../intake/open-call.ts';

export interface BatchOptions extends CallOptions {
  /** @default 1 */
  readonly maxConcurrent?: number;
}

export async function runBatch(
  call: Dispatcher['call'],
  requests: readonly ToolRequest[],
  options: BatchOptions = {},
): Promise<readonly ToolResult[]> {
  const { maxConcurrent = 1, ...rest } = options;
  checkOptions('batch', { maxConcurrent }, { maxConcurrent: expected.integer(1) });
  const semaphore = createSemaphore(maxConcurrent);
  // Calls that wait for their turn are answered like all others once the caller has gone.
  const { signal } = new AbortController();
  const run = async (request: ToolRequest, emitOrder: number): Promise<ToolResult> => {
    const seat = await takeSeat(semaphore, signal);
    try {
      return await resultOf(() =>
        call(request, { ...rest, turn: { ...rest.turn, emitOrder } }, seat),
      );
    } finally {
      seat?.leave();
    }
  };
  return Object.freeze(await Promise.all(requests.map(run)));
}

/** One call that raises must not cost the others their results. */
async function resultOf(run: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await run();
  } catch (thrown) {
    if (isAlliumError(thrown) && thrown.result !== undefined) return thrown.result;
    throw thrown;
  }
}
