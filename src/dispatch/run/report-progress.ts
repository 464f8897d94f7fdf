/** What a tool says about how far it is, on its way to the host. */

import type { ToolCall, ToolProgress } from '../../core/contract/call.ts';
import { oneLine } from '../../core/contract/errors.ts';
import { maskSecrets } from '../intake/hidden-arguments.ts';
import { recordOf } from '../record.ts';

/**
 * Progress goes out through the layers. One that swallows it cannot make a long call look dead: the
 * host is told the numbers, without the text that layer may have had reason to withhold.
 */
export function reportProgress(
  call: ToolCall,
  given: ToolProgress,
  secrets: readonly string[],
): void {
  const { message, ...numbers } = cleanProgress(given, secrets);
  const record = recordOf(call);
  const before = record.reported;
  try {
    call.report(Object.freeze(message === undefined ? numbers : { ...numbers, message }));
  } catch {
    // The layer's failure is no business of the tool's.
  }
  if (record.reported === before) record.report(Object.freeze(numbers));
}

/**
 * Progress comes from the tool: numbers that are numbers, text on one line, and no secret it was
 * given.
 */
function cleanProgress(
  { progress, total, message }: ToolProgress,
  secrets: readonly string[],
): ToolProgress {
  return {
    ...(Number.isFinite(progress) ? { progress: progress as number } : {}),
    ...(Number.isFinite(total) ? { total: total as number } : {}),
    ...(typeof message === 'string' ? { message: oneLine(maskSecrets(secrets)(message)) } : {}),
  };
}
