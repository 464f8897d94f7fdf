/** A batch: bounded concurrency, the model's order, and every call decided on its own. */

import { isAlliumError } from '../core/errors.ts';
import { checkOptions, expected } from '../core/options.ts';
import type { ToolResult } from '../core/result.ts';
import type { ToolRequest } from '../tools/tool.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { CallOptions } from './open-call.ts';

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
  const results: ToolResult[] = [];
  let started = 0;
  const worker = async () => {
    while (started < requests.length) {
      const emitOrder = started;
      started += 1;
      // The loop bound makes the index valid.
      const request = requests[emitOrder] as ToolRequest;
      results[emitOrder] = await resultOf(() => call(request, { ...rest, turn: { ...rest.turn, emitOrder } }));
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrent, requests.length) }, worker));
  return Object.freeze(results);
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
