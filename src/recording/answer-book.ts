/** Which recorded answer is whose. Nothing here waits: two calls cannot take the same one. */

import {
  canonicalJson,
  changedPaths,
  type JsonObject,
  ok,
  refuse,
  type ToolCall,
  type ToolResult,
  withResult,
} from '../layer.ts';
import type { RecordedAnswer, RecordedCall } from './read-recording.ts';

/** Why there is no answer: a word for the record, and a sentence. */
export interface Missing {
  readonly recorded: null;
  readonly status: 'mismatch' | 'missing' | 'exhausted';
  readonly problem: string;
}

export interface AnswerBook {
  /** The call that answers. */
  take(call: ToolCall): { readonly recorded: RecordedCall } | Missing;
  /** Answers that no call asked for, in the order of the recording. */
  unused(): readonly RecordedCall[];
}

/**
 * Calls have to come as they were recorded. One that does not takes nothing: the right one may
 * still come.
 */
export function strictBook(calls: readonly RecordedCall[]): AnswerBook {
  let taken = 0;
  return {
    take(call) {
      const expected = calls[taken];
      if (expected === undefined)
        return none('exhausted', `it ended after ${calls.length} calls, and ${call.toolName} came`);
      if (expected.toolName !== call.toolName)
        return none('mismatch', `it expects ${nameOf(expected)}, and ${call.toolName} came`);
      const key = keyOf(call.toolName, call.toolArgs);
      if (key === null || key !== keyOf(expected.toolName, expected.arguments)) {
        return none(
          'mismatch',
          `it expects ${nameOf(expected)} with other arguments; different: ${differences(expected, call)}`,
        );
      }
      taken += 1;
      return { recorded: expected };
    },
    unused: () => calls.slice(taken),
  };
}

/** Answers for the same tool and arguments are given in their order, whatever comes in between. */
export function orderedBook(calls: readonly RecordedCall[]): AnswerBook {
  const queues = new Map<string, RecordedCall[]>();
  const left = new Set(calls);
  for (const recorded of calls) {
    const key = keyOf(recorded.toolName, recorded.arguments);
    const queue = key === null ? undefined : queues.get(key);
    if (queue !== undefined) queue.push(recorded);
    else if (key !== null) queues.set(key, [recorded]);
  }
  // Taken from the end: a long queue would be moved up for every call.
  for (const queue of queues.values()) queue.reverse();
  return {
    take({ toolName, toolArgs }) {
      const key = keyOf(toolName, toolArgs);
      const queue = key === null ? undefined : queues.get(key);
      if (queue === undefined)
        return none('missing', `it has no call of ${toolName} with these arguments`);
      const recorded = queue.pop();
      if (recorded === undefined)
        return none('exhausted', `every answer of ${toolName} to these arguments was given`);
      left.delete(recorded);
      return { recorded };
    },
    unused: () => [...left],
  };
}

const none = (status: Missing['status'], problem: string): Missing => ({
  recorded: null,
  status,
  problem,
});

const nameOf = ({ toolName, line }: RecordedCall): string => `${toolName} (line ${line})`;

/** Names of members, never what is in them. */
function differences(expected: RecordedCall, call: ToolCall): string {
  const paths = changedPaths(expected.arguments, call.toolArgs);
  return paths.length > 5 ? `${paths.slice(0, 5).join(', ')} and more` : paths.join(', ');
}

/** `null` for arguments that have no canonical form: they are equal to nothing. */
function keyOf(toolName: string, args: JsonObject): string | null {
  try {
    return canonicalJson([toolName, args]);
  } catch {
    return null;
  }
}

/**
 * The answer as a result of this call. It has the call's id and says that nothing ran; everything
 * else is as it was recorded.
 */
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
