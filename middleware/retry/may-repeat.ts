/** What may be tried again at all. Decided by what is known to be safe, never by what is not known to be harmful. */

import { STATUSES, type ToolCall, type ToolResult, withResult } from '../../src/index.ts';

/** Statuses of the table that a moment's patience can change. Every other one is somebody's decision, or final. */
const PASSING: ReadonlySet<string> = new Set([
  'executor_error',
  'timeout',
  'rate_limited',
  'circuit_open',
  'audit_unavailable',
]);

/** Whether another attempt is out of the question, whatever the options say. Statuses that layers invented are not. */
export const isFinal = (status: string): boolean =>
  Object.hasOwn(STATUSES, status) && !PASSING.has(status);

/** Whether a second run can do no harm: the tool says so, or there was no first one. */
export const mayRepeat = ({ annotations }: ToolCall, { executed }: ToolResult): boolean =>
  executed === 'no' || annotations.idempotent === true || annotations.readOnly === true;

/** An answer that does not lead the model to repeat what may have happened. The tool's own words could, so they go. */
export function notRepeated(result: ToolResult): ToolResult {
  const did = result.executed === 'yes' ? 'has run' : 'may have run';
  const error = `${result.toolName} ${did} and ended with ${result.status}. It is not safe to repeat: check what it did before you call it again.`;
  return withResult(result, { error, errorClass: 'fatal', content: [] });
}
