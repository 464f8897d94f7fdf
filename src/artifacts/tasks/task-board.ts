/**
 * Tasks under way: started behind calls, asked after, waited for, cancelled, and each ended once.
 */

import type { JsonValue } from '../../core/json/json-value.ts';
import { type Clock, systemClock } from '../../core/time/clock.ts';
import { describeThrown } from '../../core/contract/errors.ts';
import { type CreateId, randomId } from '../../core/contract/call.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import { followAbort } from '../../core/time/abort.ts';
import { outcomeOf } from '../../core/contract/status.ts';
import { memoryTasks } from '../../stores/memory/memory-tasks.ts';
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

/**
 * `null` stands for a task that is not there, is forgotten, or belongs to another session: which of
 * these it is, nobody is told.
 */
export interface TaskBoard extends BackgroundRuns {
  readonly maxWaitMs: number;
  poll(id: string, sessionId: string): Promise<TaskRecord | null>;
  /** Answers when the task has ended, or as it is when the time is over or the caller has gone. */
  await(id: string, sessionId: string, options?: WaitOptions): Promise<TaskRecord | null>;
  /**
   * Asks a running task to stop and waits for it as `await` does. One that waits for an approval
   * goes on waiting: that is to be rejected.
   */
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

/**
 * A board serves any number of tools and dispatchers. What it hands out is for the session that
 * started it.
 */
export function createTaskBoard(options: TaskBoardOptions = {}): TaskBoard {
  checkOptions('createTaskBoard', options, EXPECTED);
  const {
    clock = systemClock,
    store = memoryTasks({ clock }),
    maxWaitMs = 60_000,
    createId = randomId,
  } = options;
  const board: Board = { store, clock, maxWaitMs, createId, live: new Map(), isClosed: false };
  return Object.freeze<TaskBoard>({
    maxWaitMs,
    start: (origin, run, tell) => startTask(board, origin, run, tell),
    resumed: (id, result) => settle(board, id, endingOf(result)),
    poll: (id, sessionId) => findTask(board, id, sessionId),
    await: (id, sessionId, waitOptions) => waitFor(board, id, sessionId, waitOptions),
    async cancel(id, sessionId, waitOptions) {
      const task = await findTask(board, id, sessionId);
      if (task?.state !== 'running') return task;
      board.live.get(id)?.abort.abort(new DOMException('the task was cancelled', 'AbortError'));
      return waitFor(board, id, sessionId, waitOptions);
    },
    close: () => closeBoard(board),
  });
}

/** What a board is made of. */
interface Board {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly maxWaitMs: number;
  readonly createId: CreateId;
  /** The tasks of this process that have not ended. */
  readonly live: Map<string, Live>;
  isClosed: boolean;
}

async function startTask(
  board: Board,
  { toolName, callId, sessionId }: Parameters<TaskBoard['start']>[0],
  run: Parameters<TaskBoard['start']>[1],
  tell: Parameters<TaskBoard['start']>[2],
): Promise<JsonValue> {
  if (board.isClosed) throw closedFailure();
  const id = `task_${board.createId()}`;
  if (!(await board.store.open({ id, toolName, sessionId, callId })))
    throw toolFailure(FULL, {
      category: 'too_many_tasks',
      errorClass: 'retryable',
      executed: 'no',
    });
  // The board may have been closed while the store was asked, and `close` would not end this task.
  if (board.isClosed) {
    await settle(board, id, NEVER_STARTED);
    throw closedFailure();
  }
  const task = openTask(tell);
  board.live.set(id, task);
  task.tell({ taskId: id, status: 'running' });
  void run(id, task.abort.signal).then(
    (result) => settle(board, id, endingOf(result)),
    (thrown: unknown) => settle(board, id, brokenEnding(thrown)),
  );
  return { task_id: id, status: 'running' };
}

async function settle({ store, live }: Board, id: string, ending: TaskEnding): Promise<void> {
  const task = live.get(id);
  // A store that fails keeps no `await` waiting.
  const isSettled = await settledIn(store, id, ending);
  if (isSettled) task?.tell({ taskId: id, status: ending.state, text: ending.answer.text });
  if (ending.state === 'waiting') return;
  live.delete(id);
  task?.end();
}

/** `null` for a task of another session, too. */
async function findTask({ store }: Board, id: string, sessionId: string) {
  const task = await store.get(id);
  return task !== null && task.sessionId === sessionId ? task : null;
}

async function waitFor(
  board: Board,
  id: string,
  sessionId: string,
  { timeoutMs = board.maxWaitMs, signal }: WaitOptions = {},
): Promise<TaskRecord | null> {
  const { clock, maxWaitMs, live } = board;
  const task = live.get(id);
  if ((await findTask(board, id, sessionId)) === null) return null;
  if (task !== undefined) await within(clock, Math.min(timeoutMs, maxWaitMs), signal, task.ended);
  return findTask(board, id, sessionId);
}

async function closeBoard(board: Board): Promise<void> {
  board.isClosed = true;
  const running = [...board.live].map(async ([id, task]) => {
    task.abort.abort(new DOMException('the program is about to end', 'AbortError'));
    if ((await board.store.get(id))?.state === 'running') await task.ended;
  });
  await Promise.all(running);
}

const CLOSED = 'No more tasks are started: the program is about to end.';
const closedFailure = () => toolFailure(CLOSED, { category: 'closed', executed: 'no' });
const NEVER_STARTED: TaskEnding = {
  state: 'cancelled',
  answer: { status: 'cancelled', executed: 'no', result: null, text: CLOSED, error: CLOSED },
};
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

function answerOf({ status, executed, result, renderedResult, error }: ToolResult): TaskAnswer {
  return { status, executed, result, text: renderedResult, error };
}

function endingOf(result: ToolResult): TaskEnding {
  const outcome = outcomeOf(result);
  const state = outcome === 'interrupted' ? 'waiting' : outcome;
  const isCancelled = result.status === 'cancelled';
  return { state: isCancelled ? 'cancelled' : state, answer: answerOf(result) };
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
