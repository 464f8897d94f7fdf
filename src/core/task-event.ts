/** What a listener hears of a tool that runs in the background. */

import { type EventCall, type WireCall, wireCall } from './wire.ts';

/** A task has started, waits for somebody, or has ended. `tool_call_id` is that of the call that started it. */
export interface TaskEvent extends WireCall {
  readonly type: 'task';
  /** Its run is a call of this id, with events, a receipt and a span of its own. */
  readonly task_id: string;
  readonly status: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';
  /** What the model would read, once there is an answer. The only event that carries one: nobody else is waiting for it. */
  readonly content?: string;
}

/** What `taskEvent` takes. */
export interface TaskUpdate extends EventCall {
  readonly taskId: string;
  readonly status: TaskEvent['status'];
  readonly text?: string | undefined;
}

export function taskEvent(update: TaskUpdate): TaskEvent {
  const { taskId, status, text } = update;
  const event = { type: 'task', ...wireCall(update), task_id: taskId, status } as const;
  return Object.freeze(text === undefined ? event : { ...event, content: text });
}
