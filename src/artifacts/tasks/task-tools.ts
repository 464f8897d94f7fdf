/** The tools with which a model asks after its tasks. */

import type { JsonObject } from '../../core/json/json-value.ts';
import type { TaskRecord } from '../../stores/task-store.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { type Tool, toolFailure } from '../../tools/tool.ts';
import type { BuiltinUse } from '../builtins/builtin-use.ts';
import type { TaskBoard } from './task-board.ts';

const TASK_ID = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  description: 'The task_id that the call answered with.',
} as const;
const BY_ID = {
  type: 'object',
  properties: { task_id: TASK_ID },
  required: ['task_id'],
  additionalProperties: false,
} as const;

/** Asking about a task changes nothing. */
const LOOKS = {
  kind: 'read',
  readOnly: true,
  destructive: false,
  openWorld: false,
  sideEffectLevel: 'none',
} as const;

/**
 * `task_poll`, `task_await` and `task_cancel`. They know the tasks of the session they are called
 * in, and no others.
 */
export const taskTools = (board: TaskBoard): readonly Tool[] =>
  Object.freeze([pollTool(board), awaitTool(board), cancelTool(board)]);

const pollTool = (board: TaskBoard): Tool =>
  defineTool({
    name: 'task_poll',
    description:
      'Says how far a background task is, and what it came to once it has ended. Does not wait.',
    inputSchema: BY_ID,
    annotations: LOOKS,
    execute: async ({ task_id: id }, { turn }) => viewOf(id, await board.poll(id, turn.sessionId)),
  });

const awaitTool = (board: TaskBoard): Tool =>
  defineTool({
    name: 'task_await',
    description: `Waits until a background task has ended and says what it came to. After timeout_ms (at most ${board.maxWaitMs}) it says how far the task is.`,
    inputSchema: {
      ...BY_ID,
      properties: {
        task_id: TASK_ID,
        timeout_ms: {
          type: 'integer',
          minimum: 0,
          maximum: board.maxWaitMs,
          description: 'How long to wait.',
        },
      },
    } as const,
    annotations: LOOKS,
    execute: async ({ task_id: id, timeout_ms: timeoutMs }, { turn, signal }) =>
      viewOf(
        id,
        await board.await(id, turn.sessionId, {
          signal,
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
        }),
      ),
  });

const cancelTool = (board: TaskBoard): Tool =>
  defineTool({
    name: 'task_cancel',
    description: 'Stops a background task. What it has done until then stays done.',
    inputSchema: BY_ID,
    annotations: {
      kind: 'execute',
      readOnly: false,
      destructive: false,
      idempotent: true,
      openWorld: false,
    },
    execute: async ({ task_id: id }, { turn, signal }) =>
      viewOf(id, await board.cancel(id, turn.sessionId, { signal })),
  });

/** What the model gets to see of a task. */
function taskView({ id, toolName, state, startedAt, endedAt, answer }: TaskRecord): JsonObject {
  const times = { started_at: startedAt, ...(endedAt === null ? {} : { ended_at: endedAt }) };
  if (answer === null) return { task_id: id, tool: toolName, status: state, ...times };
  const { status: outcome, executed, result, error } = answer;
  return {
    task_id: id,
    tool: toolName,
    status: state,
    ...times,
    outcome,
    executed,
    ...(error === null ? { result } : { error }),
  };
}

/** The tasks of one session, as the built-ins `task.poll` and `task.await` turn to them. */
export const scriptTasks = (
  board: TaskBoard,
  sessionId: string,
): NonNullable<BuiltinUse['tasks']> => ({
  poll: async (id) => viewOf(id, await board.poll(id, sessionId)),
  await: async (id, options) => viewOf(id, await board.await(id, sessionId, options)),
});

function viewOf(id: string, task: TaskRecord | null): JsonObject {
  if (task !== null) return taskView(task);
  throw toolFailure(`There is no task "${id.slice(0, 128)}". It may have ended long ago.`, {
    category: 'unknown_task',
    executed: 'yes',
  });
}
