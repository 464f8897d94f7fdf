/**
 * What the layer answers, and what it writes down: which hooks were asked, how they decided, and
 * how long they took.
 */

import type { EntryPatch } from '../core/contract/audit-record.ts';
import type { ToolCall } from '../core/contract/call.ts';
import type { ToolResult } from '../core/contract/result.ts';
import type { JsonValue } from '../core/json/json-value.ts';
import { annotate, fail, refuse } from '../core/onion/results.ts';
import { type Blocked, blockedText, type HookRun } from './run-hooks.ts';

/** Details for the layer's line. */
export const hooksLine = (status: string, runs: readonly HookRun[]): EntryPatch => ({
  status,
  count: runs.length,
  // Runs are plain JSON, which an interface cannot say.
  hooks: runs as unknown as readonly JsonValue[],
});

/** The call does not run. */
export function blockedCall(
  call: ToolCall,
  blocked: Blocked,
  runs: readonly HookRun[],
): ToolResult {
  if (call.signal.aborted) return cancelledCall(call, runs);
  const line = { ...hooksLine('blocked', runs), rule: `hooks ${blocked.hook}` };
  return annotate(fail(call, 'policy_blocked', blocked.cause, blockedText(blocked)), {}, line);
}

/** The caller left while hooks were asked. */
export const cancelledCall = (call: ToolCall, runs: readonly HookRun[]): ToolResult =>
  annotate(
    refuse(call, 'cancelled', 'The call was cancelled before every hook was asked.'),
    {},
    hooksLine('cancelled', runs),
  );

/**
 * The tool has run: nothing of what it answered is handed on, and neither is the copy that a
 * handoff is.
 */
export function withheldResult(
  call: ToolCall,
  blocked: Blocked,
  runs: readonly HookRun[],
): ToolResult {
  if (call.signal.aborted) return withoutHandoff(cancelledCall(call, runs));
  const text = `The result of ${call.toolName} is withheld, ${blockedText(blocked)}. Do not repeat the call.`;
  return withoutHandoff(
    annotate(fail(call, 'redacted', blocked.cause, text), {}, hooksLine('withheld', runs)),
  );
}

/** A handoff inside was made from the result before a hook withheld or replaced it. */
export function withoutHandoff(result: ToolResult): ToolResult {
  const handoff = result.audit?.handoff;
  if (handoff === undefined) return result;
  return annotate(result, {
    handoff: { ...(handoff.id === undefined ? {} : { id: handoff.id }), withheld: true },
  });
}
