/** Tasks of one process. */

import { type Clock, isoTime, systemClock } from '../core/clock.ts';
import { checkOptions, expected } from '../core/options.ts';
import type { TaskRecord, TaskStore } from './task-store.ts';

export interface MemoryTasksOptions {
  /** How many run at once; a further one is not started. @default 16 */
  readonly maxRunning?: number;
  /** How many that do not run are kept; the one that settled first goes first. @default 256 */
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
  checkOptions('memoryTasks', options, { maxRunning: whole, maxKept: whole, ttlMs: whole, clock: expected.object });
  const { maxRunning = 16, maxKept = 256, ttlMs = 3_600_000, clock = systemClock } = options;
  const running = new Map<string, TaskRecord>();
  // In the order in which they settled: the first is the one to go.
  const settled = new Map<string, Kept>();

  const forgetOld = (): void => {
    for (const [id, { forgetAt }] of settled) {
      if (settled.size <= maxKept && clock.monotonic() < forgetAt) return;
      settled.delete(id);
    }
  };

  return Object.freeze<TaskStore>({
    open(task) {
      forgetOld();
      if (running.size >= maxRunning || running.has(task.id) || settled.has(task.id)) return false;
      running.set(task.id, Object.freeze({ ...task, state: 'running', startedAt: isoTime(clock.now()), endedAt: null, answer: null }));
      return true;
    },
    settle(id, { state, answer }) {
      forgetOld();
      const before = running.get(id) ?? settled.get(id)?.task;
      if (before === undefined || before.endedAt !== null) return false;
      const endedAt = state === 'waiting' ? null : isoTime(clock.now());
      running.delete(id);
      settled.delete(id);
      settled.set(id, { task: Object.freeze({ ...before, state, endedAt, answer }), forgetAt: clock.monotonic() + ttlMs });
      forgetOld();
      return true;
    },
    get(id) {
      forgetOld();
      return running.get(id) ?? settled.get(id)?.task ?? null;
    },
  });
}
