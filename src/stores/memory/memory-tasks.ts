/** Tasks of one process. */

import { type Clock, isoTime, systemClock } from '../../core/time/clock.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import { fairTable } from '../fair-table.ts';
import type { NewTask, TaskRecord, TaskStore } from '../task-store.ts';

/** How many tasks `memoryTasks` keeps, and for how long. */
export interface MemoryTasksOptions {
  /**
   * How many run at once; a further one is not started. One session leaves a quarter of them to
   * others. @default 16
   */
  readonly maxRunning?: number;
  /**
   * How many that do not run are kept; of the session with the most of them the one that settled
   * first goes. @default 256
   */
  readonly maxKept?: number;
  /** How long one that does not run is kept. @default 3600000 */
  readonly ttlMs?: number;
  /** @default the system's */
  readonly clock?: Clock;
}

interface Kept {
  readonly task: TaskRecord;
  readonly forgetAt: number;
}

/** Keeps tasks as long as the process lives. Answers are bounded by number, not by size. */
export function memoryTasks(options: MemoryTasksOptions = {}): TaskStore {
  const whole = expected.integer(1);
  checkOptions('memoryTasks', options, {
    maxRunning: whole,
    maxKept: whole,
    ttlMs: whole,
    clock: expected.object,
  });
  const { maxRunning = 16, maxKept = 256, ttlMs = 3_600_000, clock = systemClock } = options;
  const running = new Map<string, TaskRecord>();
  // In the order in which they settled: the first is the one to go.
  const settled = new Map<string, Kept>();
  const bySession = fairTable<true>();
  const drop = (id: string): void => {
    settled.delete(id);
    bySession.delete(id);
  };

  const forgetOld = (): void => {
    for (const [id, { forgetAt }] of settled) {
      if (clock.monotonic() < forgetAt) break;
      drop(id);
    }
    const loser = bySession.size > maxKept ? bySession.loser() : null;
    if (loser !== null) drop(loser.key);
  };
  const hasPlace = ({ sessionId }: NewTask): boolean => {
    const own = [...running.values()].filter((task) => task.sessionId === sessionId).length;
    return running.size < maxRunning && own < maxRunning - Math.floor(maxRunning / 4);
  };

  return Object.freeze<TaskStore>({
    open(task) {
      forgetOld();
      if (!hasPlace(task) || running.has(task.id) || settled.has(task.id)) return false;
      running.set(task.id, begun(task, clock.now()));
      return true;
    },
    settle(id, { state, answer }) {
      forgetOld();
      const before = running.get(id) ?? settled.get(id)?.task;
      if (before === undefined || before.endedAt !== null) return false;
      const endedAt = state === 'waiting' ? null : isoTime(clock.now());
      running.delete(id);
      drop(id);
      bySession.set(id, before.sessionId, true);
      settled.set(id, {
        task: Object.freeze({ ...before, state, endedAt, answer }),
        forgetAt: clock.monotonic() + ttlMs,
      });
      forgetOld();
      return true;
    },
    get(id) {
      forgetOld();
      return running.get(id) ?? settled.get(id)?.task ?? null;
    },
  });
}

const begun = (task: NewTask, now: number): TaskRecord =>
  Object.freeze({
    ...task,
    state: 'running',
    startedAt: isoTime(now),
    endedAt: null,
    answer: null,
  });
