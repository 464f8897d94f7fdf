/** Tasks under way: started behind calls, asked after, waited for, cancelled, and each ended once. */

import { type Clock, systemClock } from '../../core/clock.ts';
import { describeThrown } from '../../core/errors.ts';
import { type CreateId, randomId } from '../../core/ids.ts';
import { checkOptions, expected } from '../../core/options.ts';
import type { ToolResult } from '../../core/result.ts';
import { followAbort } from '../../core/signal.ts';
import { outcomeOf } from '../../core/status.ts';
import { memoryTasks } from '../../stores/memory-tasks.ts';
import type { TaskAnswer, TaskEnding, TaskRecord, TaskStore } from '../../stores/task-store.ts';
import { type BackgroundRuns, type BackgroundUpdate, toolFailure } from '../../tools/tool.ts';

export interface TaskBoardOptions {
  /** Where tasks are kept. @default in memory: they are gone with the process */
  readonly store?: TaskStore;
  /** How long anybody waits for a task at most, in milliseconds. @default 60000 */
  readonly maxWaitMs?: number;
  /** @default the system's */
  readonly clock?: Clock;
  readonly createId?: CreateId;
}

export interface WaitOptions {
  /** Cut to `maxWaitMs`. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** `null` stands for a task that is not there, is forgotten, or belongs to another session: which of these it is, nobody is told. */
export interface TaskBoard extends BackgroundRuns {
  readonly maxWaitMs: number;
  poll(id: string, sessionId: string): Promise<TaskRecord | null>;
  /** Answers when the task has ended, or as it is when the time is over or the caller has gone. */
  await(id: string, sessionId: string, options?: WaitOptions): Promise<TaskRecord | null>;
  /** Asks a running task to stop and waits for it as `await` does. One that waits for an approval goes on waiting: that is to be rejected. */
  cancel(id: string, sessionId: string, options?: WaitOptions): Promise<TaskRecord | null>;
  /** Starts no more, cancels what runs, and waits until all of it has ended. */
  close(): Promise<void>;
}

/** A task of this process that has not ended. */
interface Live {
  readonly abort: AbortController;
  readonly tell: (update: BackgroundUpdate) => void;
  /** Kept when it has ended. */
  readonly ended: Promise<void>;
  readonly end: () => void;
}

const EXPECTED = {
  store: expected.object,
  maxWaitMs: expected.integer(1),
  clock: expected.object,
  createId: expected.function,
};

/** A board serves any number of tools and dispatchers. What it hands out is for the session that started it. */
export function createTaskBoard(options: TaskBoardOptions = {}): TaskBoard {
  checkOptions('createTaskBoard', options, EXPECTED);
  const {
    clock = systemClock,
    store = memoryTasks({ clock }),
    maxWaitMs = 60_000,
    createId = randomId,
  } = options;
  const live = new Map<string, Live>();
  let closed = false;

  const settle = async (id: string, ending: TaskEnding): Promise<void> => {
    const task = live.get(id);
    const isOver = ending.state !== 'waiting';
    // A store that fails keeps nobody waiting.
    const settled = await settledIn(store, id, ending);
    if (settled) task?.tell({ taskId: id, status: ending.state, text: ending.answer.text });
    if (!isOver) return;
    live.delete(id);
    task?.end();
  };
  const get = async (id: string, sessionId: string): Promise<TaskRecord | null> => {
    const task = await store.get(id);
    return task !== null && task.sessionId === sessionId ? task : null;
  };
  const wait = async (
    id: string,
    sessionId: string,
    { timeoutMs = maxWaitMs, signal }: WaitOptions = {},
  ) => {
    const task = live.get(id);
    if ((await get(id, sessionId)) === null) return null;
    if (task !== undefined) await within(clock, Math.min(timeoutMs, maxWaitMs), signal, task.ended);
    return get(id, sessionId);
  };

  return Object.freeze<TaskBoard>({
    maxWaitMs,
    async start({ toolName, callId, sessionId }, run, tell) {
      if (closed) throw toolFailure(CLOSED, { category: 'closed', executed: 'no' });
      const id = `task_${createId()}`;
      if (!(await store.open({ id, toolName, sessionId, callId })))
        throw toolFailure(FULL, {
          category: 'too_many_tasks',
          errorClass: 'retryable',
          executed: 'no',
        });
      // While the store was asked it may have been closed, and nobody would end this one any more.
      if (closed) {
        await settle(id, {
          state: 'cancelled',
          answer: {
            status: 'cancelled',
            executed: 'no',
            result: null,
            text: CLOSED,
            error: CLOSED,
          },
        });
        throw toolFailure(CLOSED, { category: 'closed', executed: 'no' });
      }
      const task = openTask(tell);
      live.set(id, task);
      task.tell({ taskId: id, status: 'running' });
      void run(id, task.abort.signal).then(
        (result) => settle(id, endingOf(result)),
        (thrown: unknown) => settle(id, brokenEnding(thrown)),
      );
      return { task_id: id, status: 'running' };
    },
    resumed: (id, result) => settle(id, endingOf(result)),
    poll: get,
    await: wait,
    async cancel(id, sessionId, waitOptions) {
      const task = await get(id, sessionId);
      if (task?.state !== 'running') return task;
      live.get(id)?.abort.abort(new DOMException('the task was cancelled', 'AbortError'));
      return wait(id, sessionId, waitOptions);
    },
    async close() {
      closed = true;
      const running = [...live].map(async ([id, task]) => {
        task.abort.abort(new DOMException('the program is about to end', 'AbortError'));
        if ((await store.get(id))?.state === 'running') await task.ended;
      });
      await Promise.all(running);
    },
  });
}

const CLOSED = 'No more tasks are started: the program is about to end.';
const FULL =
  'Too many tasks run already. Wait for one of them with task_await, or cancel one with task_cancel.';

/** Answers `false` for a store that rejects, and for one that throws. */
async function settledIn(store: TaskStore, id: string, ending: TaskEnding): Promise<boolean> {
  try {
    return await store.settle(id, ending);
  } catch {
    return false;
  }
}

function openTask(tell: Live['tell']): Live {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { abort: new AbortController(), tell, ended, end: () => end() };
}

const answerOf = ({
  status,
  executed,
  result,
  renderedResult: text,
  error,
}: ToolResult): TaskAnswer => ({
  status,
  executed,
  result,
  text,
  error,
});

function endingOf(result: ToolResult): TaskEnding {
  const outcome = outcomeOf(result);
  const state =
    result.status === 'cancelled' ? 'cancelled' : outcome === 'interrupted' ? 'waiting' : outcome;
  return { state, answer: answerOf(result) };
}

/** The run broke outside of everything that makes results. */
function brokenEnding(thrown: unknown): TaskEnding {
  const error = describeThrown(thrown);
  return {
    state: 'failed',
    answer: { status: 'exception', executed: 'unknown', result: null, text: error, error },
  };
}

/** Waits for one of the three, and leaves neither timer nor listener behind. */
function within(
  clock: Clock,
  ms: number,
  signal: AbortSignal | undefined,
  ended: Promise<void>,
): Promise<void> {
  return new Promise((resolve) => {
    const takeBack = clock.after(ms, () => done());
    const unfollow =
      signal === undefined ? () => {} : followAbort(signal, () => queueMicrotask(() => done()));
    const done = () => {
      takeBack();
      unfollow();
      resolve();
    };
    void ended.then(done);
  });
}
