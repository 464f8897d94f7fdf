/** A recorded answer as the result of another call. */

import { ok, refuse, type ToolCall, type ToolResult, withResult } from '../../src/index.ts';
import type { RecordedAnswer } from './read-recording.ts';

/** Has this call's id and says that nothing ran; everything else is as it was recorded. */
export function replayedResult(call: ToolCall, answer: RecordedAnswer): ToolResult {
  const { result, content, renderedResult, executor, outputFiles, interruption, metadata } = answer;
  const plain = answer.ok ? ok(call, result, { status: answer.status }) : refused(call, answer);
  return withResult(plain, {
    ...{ executor, outputFiles },
    ...(content === undefined ? {} : { content }),
    ...(renderedResult === undefined ? {} : { renderedResult }),
    ...(interruption === undefined ? {} : { interruption }),
    ...(metadata === undefined ? {} : { metadata }),
  });
}

function refused(
  call: ToolCall,
  { status, result, error, errorCategory, errorClass }: RecordedAnswer,
): ToolResult {
  const plain = refuse(call, status, error ?? '');
  return withResult(plain, {
    error,
    errorCategory,
    errorClass,
    ...(result === null ? {} : { result }),
  });
}
