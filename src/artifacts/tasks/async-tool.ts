/** A tool whose calls are answered at once, with the task that runs it. */

import { AlliumError } from '../../core/contract/errors.ts';
import { keepOwn } from '../../tools/own-definition.ts';
import type { BackgroundRuns, Tool } from '../../tools/tool.ts';

const NOTE =
  'Runs in the background: the answer is a task_id at once. Ask after it with task_poll, wait for it with task_await, stop it with task_cancel.';

/**
 * The same tool, run in the background. A call is checked against the schema and answered with `{
 * task_id, status }`; the run goes through the whole stack under the id of the task, so that
 * whatever refuses, asks or counts does so there, and its own receipt tells how it ended.
 */
export function asyncTool(tool: Tool, board: BackgroundRuns): Tool {
  if (tool.background !== undefined)
    throw new AlliumError(
      'ERR_INVALID_TOOL',
      `tool "${tool.name}" runs in the background already`,
      { toolName: tool.name },
    );
  // What it promises to answer is what the task comes to, and not what the call does.
  const { outputSchema: _promised, ...rest } = tool;
  return keepOwn(
    tool,
    Object.freeze({ ...rest, description: `${tool.description}\n\n${NOTE}`, background: board }),
  );
}
