/**
 * What the host hears of a call: pending, under way, progress, the audit record, and exactly one
 * ending.
 */

import { types } from 'node:util';
import { causeOf, fail } from '../../core/onion/results.ts';
import { receiptOf } from '../../core/onion/account.ts';
import type { ToolCall } from '../../core/contract/call.ts';
import { describeThrown, isAlliumError } from '../../core/contract/errors.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import { outcomeOf } from '../../core/contract/status.ts';
import {
  toolCallAuditEvent,
  toolCallEvent,
  type ToolCallUpdate,
  type ToolCallUpdateEvent,
  toolCallUpdateEvent,
} from '../../core/wire/wire.ts';
import type { Logger } from '../../tools/tool.ts';
import type { EventHub } from '../events/events.ts';
import { type OutputFiles, previewOf } from './output-files.ts';
import { recordOf } from '../record.ts';

export interface LifecycleParts {
  readonly hub: EventHub;
  readonly logger: Logger;
  readonly outputFiles: OutputFiles;
  readonly maxPreviewBytes: number;
  /** Notes with a waiting call where its receipt is, before the result is handed out. */
  readonly noteReceipt: (result: ToolResult) => ToolResult | Promise<ToolResult>;
}

/** Tells the listeners that a call has come. A resumed one was announced when it first came. */
export function announce(call: ToolCall, { hub }: LifecycleParts): void {
  if (call.turn.resumes === undefined) hub.emit('tool_call', toolCallEvent, call, null);
}

/**
 * The result that the host gets for what the stack answered. The listeners are told before. Most
 * answers are short and need no wait, and an await that is not needed costs as much as a layer.
 */
export function finished(
  call: ToolCall,
  answer: ToolResult,
  parts: LifecycleParts,
): ToolResult | Promise<ToolResult> {
  recordOf(call).done = true;
  const { outputFiles, renderedResult: text } = answer;
  // A large text becomes an output file, unless a layer has kept it aside already.
  const isTooLong =
    outputFiles.length === 0 &&
    text.length * 3 > parts.maxPreviewBytes &&
    Buffer.byteLength(text) > parts.maxPreviewBytes;
  if (isTooLong)
    return keptAside(call, answer, parts).then((shown) => noted(call, answer, shown, parts));
  return noted(call, answer, answer, parts);
}

function noted(
  call: ToolCall,
  answer: ToolResult,
  shown: ToolResult,
  parts: LifecycleParts,
): ToolResult | Promise<ToolResult> {
  const result = parts.noteReceipt(shown);
  return result instanceof Promise
    ? result.then((kept) => told(call, answer, kept, parts))
    : told(call, answer, result, parts);
}

function told(
  call: ToolCall,
  answer: ToolResult,
  result: ToolResult,
  parts: LifecycleParts,
): ToolResult {
  const { hub } = parts;
  if (!answer.ok) {
    logFailure(call, answer, parts);
    logHookFailure(call, answer, parts);
  }
  const { audit } = result;
  if (audit !== undefined)
    hub.emit('tool_call_audit', toolCallAuditEvent, call, { audit, receipt: receiptOf(result) });
  hub.emit('tool_call_update', endingEvent, call, result);
  return result;
}

/**
 * While developing, the author of a layer is told where it threw: the result says only that it did.
 * What it said stays on the record of the call: a message may hold an argument, or what a store
 * answered.
 */
function logFailure(call: ToolCall, answer: ToolResult, { logger }: LifecycleParts): void {
  if (answer.status !== 'tool_middleware_exception' || process.env.NODE_ENV === 'production')
    return;
  const { toolName, callId: toolCallId } = call;
  try {
    logger.error({ toolName, toolCallId, stack: framesOf(causeOf(answer)) }, 'a layer failed');
  } catch {
    // A logger that fails, or an error that cannot be read, must not cost the call its answer.
  }
}

/**
 * A hook that fails refuses the call, and only its author can mend it: where it failed is told, as
 * for the script of a tool. Not the message, which may repeat what the script saw.
 */
function logHookFailure(call: ToolCall, answer: ToolResult, { logger }: LifecycleParts): void {
  if (answer.status !== 'policy_blocked' && answer.status !== 'redacted') return;
  const { toolName, callId: toolCallId } = call;
  try {
    const cause = causeOf(answer);
    if (!isAlliumError(cause, 'ERR_STARLARK')) return;
    const { kind, line, column, traceback } = cause.details;
    const fields = { toolName, toolCallId, kind, line, column, traceback };
    logger.warn(fields, `the script of a hook failed (${String(kind)})`);
  } catch {
    // A logger that fails, or an error that cannot be read, must not cost the call its answer.
  }
}

/**
 * The lines of a stack behind the message, which may itself have lines that look like some of them.
 * None where it cannot be told apart.
 */
function framesOf(thrown: unknown): readonly string[] {
  if (!types.isNativeError(thrown) || typeof thrown.stack !== 'string') return [];
  const { stack, message } = thrown;
  // The name before the message may be another by now.
  const [, name = ''] = /^([^\n:]*)/.exec(stack) ?? [];
  const header = message === '' ? name : `${name}: ${message}`;
  if (!stack.startsWith(`${header}\n`)) return [];
  return stack
    .slice(header.length)
    .split('\n')
    .flatMap((line) => (/^ {4}at /.test(line) ? line.trim() : []));
}

/** The result of a call that is about to be thrown at the host. */
export const answerOf = (call: ToolCall, raised: unknown): ToolResult =>
  isAlliumError(raised) && raised.result !== undefined
    ? raised.result
    : fail(call, 'exception', raised, 'The call failed outside its tool.');

/** What there is to say of a call that has started. */
export const STARTED: ToolCallUpdate = Object.freeze({ status: 'in_progress' });

function endingEvent(call: ToolCall, result: ToolResult): ToolCallUpdateEvent {
  const { status, executed, error, errorCategory, executor } = result;
  const outcome = outcomeOf(result);
  const ending = outcome === 'interrupted' ? 'paused' : outcome;
  return toolCallUpdateEvent(call, {
    status: status === 'cancelled' ? 'cancelled' : ending,
    executed,
    error,
    errorCategory,
    executor,
    durationMs: result.executionDurationMs,
  });
}

/** Losing the file is a pity, not a failure: the preview says so. */
async function keptAside(
  call: ToolCall,
  result: ToolResult,
  { outputFiles, maxPreviewBytes, logger }: LifecycleParts,
): Promise<ToolResult> {
  const text = result.renderedResult;
  try {
    const file = await outputFiles.write({
      sessionId: call.turn.sessionId,
      text,
      mediaType: 'text/plain; charset=utf-8',
    });
    return previewOf(result, file, maxPreviewBytes);
  } catch (thrown) {
    logger.warn(
      { toolName: call.toolName, toolCallId: call.callId, error: describeThrown(thrown) },
      'an output file could not be written',
    );
    return previewOf(result, null, maxPreviewBytes);
  }
}
