/** A tool that runs in the background, called from a shell: the command waits for what the task comes to. */

import type { GovernedTools, TaskEvent, ToolResult } from '../index.ts';

/** What a call came to, and how its task ended where it started one. */
export interface Called {
  readonly result: ToolResult;
  readonly task: TaskEvent | null;
}

/** Makes a call and waits for the task that it starts, if it starts one. `onStarted` hears of the task. */
export async function callAndWait(
  governed: GovernedTools,
  call: () => Promise<ToolResult>,
  onStarted: (taskId: string) => void,
): Promise<Called> {
  let newest: TaskEvent | null = null;
  let tell = (): void => {};
  const stop = governed.on('task', (event) => {
    if (newest === null) onStarted(event.task_id);
    newest = event;
    tell();
  });
  const isOver = (): boolean => newest === null || newest.status !== 'running';
  try {
    const result = await call();
    if (!isOver())
      await new Promise<void>((resolve) => {
        tell = () => isOver() && resolve();
      });
    return { result, task: newest };
  } finally {
    stop();
  }
}
