/** What the host hears of a call: pending, under way, progress, the audit record, and exactly one ending. */

import { receiptOf } from '../core/account.ts';
import type { ToolCall, ToolProgress } from '../core/call.ts';
import { describeThrown, isAlliumError } from '../core/errors.ts';
import { fail, type ToolResult } from '../core/result.ts';
import { outcomeOf } from '../core/status.ts';
import { toolCallAuditEvent, toolCallEvent, toolCallProgressEvent, toolCallUpdateEvent } from '../core/wire.ts';
import type { Logger } from '../tools/tool.ts';
import type { EventHub } from './events.ts';
import { type OutputFiles, previewOf } from './output-files.ts';
import { recordOf } from './record.ts';

export interface LifecycleParts {
  readonly hub: EventHub;
  readonly logger: Logger;
  readonly outputFiles: OutputFiles;
  readonly maxPreviewBytes: number;
  /** Keeps a call that waits for somebody, before anybody hears of it. */
  readonly keepOpen: (call: ToolCall, result: ToolResult) => Promise<ToolResult>;
}

/** Runs one call through its stack and tells the listeners, who hear everything before the host gets its result. */
export async function runLifecycle(
  call: ToolCall,
  run: (call: ToolCall) => Promise<ToolResult>,
  parts: LifecycleParts,
): Promise<ToolResult> {
  const { hub } = parts;
  // A call that is taken up again was announced when it first came.
  if (call.turn.resumes === undefined) hub.emit('tool_call', () => toolCallEvent(namesOf(call)));
  const { answer, raised } = await answerOf(call, run);
  recordOf(call).done = true;
  const result = await parts.keepOpen(call, await keptAside(call, answer, parts));
  const { audit } = result;
  const receipt = receiptOf(result) ?? undefined;
  if (audit !== undefined) hub.emit('tool_call_audit', () => toolCallAuditEvent({ ...namesOf(call), audit, receipt }));
  hub.emit('tool_call_update', () => endingOf(call, result));
  if (raised !== null) throw raised;
  return result;
}

/** The result of a call, also of one that is about to be thrown at the host. */
async function answerOf(call: ToolCall, run: (call: ToolCall) => Promise<ToolResult>): Promise<{ answer: ToolResult; raised: unknown }> {
  try {
    return { answer: await run(call), raised: null };
  } catch (raised) {
    if (isAlliumError(raised) && raised.result !== undefined) return { answer: raised.result, raised };
    return { answer: fail(call, 'exception', raised, 'The call failed outside its tool.'), raised };
  }
}

export const startedEvent = (call: ToolCall) => toolCallUpdateEvent({ ...namesOf(call), status: 'in_progress' });

export const progressEvent = (call: ToolCall, progress: ToolProgress) => toolCallProgressEvent({ ...namesOf(call), progress });

const namesOf = (call: ToolCall) => ({ sessionId: call.turn.sessionId, toolCallId: call.callId, toolName: call.toolName });

function endingOf(call: ToolCall, result: ToolResult) {
  const { error, errorCategory, executor } = result;
  return toolCallUpdateEvent({
    ...namesOf(call),
    status: endingStatus(result),
    executed: result.executed,
    ...(error === null ? {} : { error }),
    ...(errorCategory === null ? {} : { errorCategory }),
    ...(executor === null ? {} : { executor }),
    durationMs: result.executionDurationMs,
  });
}

function endingStatus(result: ToolResult): 'completed' | 'failed' | 'cancelled' | 'paused' {
  if (result.status === 'cancelled') return 'cancelled';
  const outcome = outcomeOf(result);
  return outcome === 'interrupted' ? 'paused' : outcome;
}

/** A large text becomes an output file, unless a layer has kept it aside already. Losing the file is a pity, not a failure: the preview says so. */
async function keptAside(
  call: ToolCall,
  result: ToolResult,
  { outputFiles, maxPreviewBytes, logger }: LifecycleParts,
): Promise<ToolResult> {
  const text = result.renderedResult;
  if (result.outputFiles.length > 0 || text.length * 3 <= maxPreviewBytes || Buffer.byteLength(text) <= maxPreviewBytes) return result;
  try {
    const file = await outputFiles.write({ sessionId: call.turn.sessionId, text, mediaType: 'text/plain; charset=utf-8' });
    return previewOf(result, file, maxPreviewBytes);
  } catch (thrown) {
    logger.warn({ toolName: call.toolName, toolCallId: call.callId, error: describeThrown(thrown) }, 'an output file could not be written');
    return previewOf(result, null, maxPreviewBytes);
  }
}
