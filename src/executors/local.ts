/** Runs a tool's own function in this process. */

import { AlliumError } from '../core/contract/errors.ts';
import type { ToolExecutor } from '../tools/tool.ts';

/**
 * Sync and async functions alike. Aborting is cooperative: a function that ignores `context.signal`
 * goes on in the background after its call was answered, because nothing in this process can stop
 * it.
 */
export function localExecutor(): ToolExecutor {
  return Object.freeze({
    kind: 'local' as const,
    execute: ({ tool, args, context }: Parameters<ToolExecutor['execute']>[0]) => {
      if (tool.execute === undefined)
        throw new AlliumError('ERR_NO_EXECUTOR', `tool "${tool.name}" has no execute function`, {
          toolName: tool.name,
        });
      return tool.execute(args, context);
    },
  });
}
