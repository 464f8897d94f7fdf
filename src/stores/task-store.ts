/**
 * Tasks: what runs behind calls that have been answered, and what came of it. The port that async
 * tools are built on.
 */

import type { JsonValue } from '../core/json/json-value.ts';
import type { Executed } from '../core/contract/status.ts';
import type { Awaitable } from './claim-store.ts';

/** `waiting`: it needs an approval that was not given yet. */
export type TaskState = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

/** A task as it is opened. */
export interface NewTask {
  readonly id: string;
  readonly toolName: string;
  /** The session whose task it is: no other one is told of it. */
  readonly sessionId: string;
  /** The call that started it. */
  readonly callId: string;
}

/** What a task came to: the parts of its result that a model may read. */
export interface TaskAnswer {
  readonly status: string;
  readonly executed: Executed;
  readonly result: JsonValue;
  readonly text: string;
  readonly error: string | null;
}

/** A task as a store answers it. */
export interface TaskRecord extends NewTask {
  readonly state: TaskState;
  /** ISO 8601. */
  readonly startedAt: string;
  /** `null` while it runs or waits. */
  readonly endedAt: string | null;
  /** `null` while it runs. */
  readonly answer: TaskAnswer | null;
}

/** How a task settled. */
export interface TaskEnding {
  readonly state: Exclude<TaskState, 'running'>;
  readonly answer: TaskAnswer;
}

/**
 * Three steps, each of which is one step. `open` answers `false`, and keeps nothing, where as many
 * run as may, or where the id is taken. `settle` answers `false`, and changes nothing, for a task
 * that is not there or has ended: the first end stays. A store is bounded: ended tasks are
 * forgotten after a time, or when others need their place; one that runs never is. A store that
 * fails throws.
 */
export interface TaskStore {
  open(task: NewTask): Awaitable<boolean>;
  settle(id: string, ending: TaskEnding): Awaitable<boolean>;
  get(id: string): Awaitable<TaskRecord | null>;
}
