/** What a call comes to that is not answered by the tool. */

import {
  annotate,
  fail,
  isAlliumError,
  type Next,
  refuse,
  type ToolCall,
  type ToolResult,
} from '../layer.ts';

/** Runs without the answer of another call, and without leaving one. */
export function runAlone(
  call: ToolCall,
  next: Next,
  status: 'miss' | 'bypassed',
): Promise<ToolResult> {
  const entry = status === 'miss' ? { status, kept: false } : { status };
  return next(call).then((result) => annotate(result, {}, entry));
}

export const leftWaiting = (call: ToolCall): ToolResult =>
  refuse(call, 'cancelled', 'The call was cancelled while it waited for another one.');

export const conflicting = (call: ToolCall): ToolResult =>
  annotate(
    refuse(
      call,
      'idempotency_conflict',
      'Another call with other arguments was made under the key of this one, so it did not run. Do not repeat it unchanged.',
    ),
    {},
    { status: 'conflict' },
  );

export const unknownEnd = (call: ToolCall): ToolResult =>
  annotate(
    refuse(
      call,
      'outcome_unknown',
      'This call was made before, and how that ended is not known, so it did not run again. Find out what it did before going on.',
    ),
    {},
    { status: 'unknown' },
  );

/** The cause is for the host; it may hold what a key was made of. */
export const withoutKey = (call: ToolCall, cause: unknown): ToolResult =>
  annotate(
    fail(
      call,
      'tool_middleware_exception',
      cause,
      'Whether this call was made before cannot be told, so it did not run. Do not repeat it.',
    ),
    {},
    { status: 'failed' },
  );

export const withoutStore = (call: ToolCall, cause: unknown): ToolResult =>
  isAlliumError(cause, 'ERR_STORE_FULL')
    ? withoutRoom(call, cause.details.retryAfterMs)
    : lookUpFailed(call, cause);

/** The store may not forget an earlier effect to make room for this one. */
const withoutRoom = (call: ToolCall, retryAfterMs: number | undefined): ToolResult =>
  annotate(
    refuse(
      call,
      'rate_limited',
      `So many calls with effects were made lately that this one could not be remembered, so it did not run. ${waitFor(retryAfterMs)}`,
      retryAfterMs === undefined ? {} : { retryAfterMs },
    ),
    {},
    { status: 'full' },
  );

const waitFor = (retryAfterMs: number | undefined): string =>
  retryAfterMs === undefined ? 'Try again later.' : `Try again in ${retryAfterMs} ms.`;

const lookUpFailed = (call: ToolCall, cause: unknown): ToolResult =>
  annotate(
    fail(
      call,
      'tool_middleware_exception',
      cause,
      'Whether this call was made before could not be looked up, so it did not run. Try again later.',
      {
        errorClass: 'retryable',
      },
    ),
    {},
    { status: 'failed' },
  );
