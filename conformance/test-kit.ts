/** Real parts for testing a layer without sleeping and without mocks. */

import { openConsultation } from '../src/approvals/consultation.ts';
import { createPass, type PassSeed } from '../src/core/onion/pass.ts';
import { ok } from '../src/core/onion/results.ts';
import { createCall } from '../src/core/onion/own-call.ts';
import { completeAnnotations } from '../src/core/contract/annotations.ts';
import type { CallFields, ToolCall, Turn } from '../src/core/contract/call.ts';
import type { Clock } from '../src/core/time/clock.ts';
import { snapshotObject } from '../src/core/json/json.ts';
import type { Next } from '../src/core/contract/layer.ts';

export type PartialCall = Partial<Omit<CallFields, 'turn' | 'toolArgs'>> & {
  readonly turn?: Partial<Turn>;
  readonly toolArgs?: object;
};

/** What a call begins with besides itself. */
export type CallSeed = Omit<PassSeed, 'consultation'> & Parameters<typeof openConsultation>[0];

/**
 * A complete call: tool `echo`, id `call-1`, session `session-1`. `turn` is merged, everything else
 * replaces.
 */
export function makeCall(partial: PartialCall = {}, seed: CallSeed = {}): ToolCall {
  const { turn, toolArgs, annotations, ...rest } = partial;
  const { prompts, services, decisions, ...passed } = seed;
  return createCall(
    {
      toolName: 'echo',
      callId: 'call-1',
      declaredExecutor: 'local',
      schema: null,
      description: 'Answers with its arguments.',
      signal: new AbortController().signal,
      report: () => {},
      ...rest,
      toolArgs: snapshotObject(toolArgs ?? {}),
      annotations: completeAnnotations(annotations),
      turn: Object.freeze({ iteration: 1, sessionId: 'session-1', ...turn }),
    },
    createPass({ ...passed, consultation: openConsultation({ prompts, services, decisions }) }),
  );
}

export type EchoExecutor = Next & { readonly calls: readonly ToolCall[] };

/** An executor that answers with the arguments and keeps the calls it got in `.calls`. */
export function echoExecutor(): EchoExecutor {
  const calls: ToolCall[] = [];
  const echo: Next = async (call) => {
    calls.push(call);
    return ok(call, call.toolArgs);
  };
  return Object.assign(echo, { calls });
}

export interface RecordingSink<T> {
  (record: T): void;
  readonly records: readonly T[];
}

/** A sink that keeps what it is given, in order. */
export function recordingSink<T = unknown>(): RecordingSink<T> {
  const records: T[] = [];
  return Object.assign((record: T) => void records.push(record), { records });
}

export interface TestClock extends Clock {
  /** Moves time on, running what falls due in order, and lets the promises it settles go on. */
  advance(ms: number): Promise<void>;
  /** Timers that were set and neither ran nor were taken back. */
  readonly pending: number;
}

interface Timer {
  readonly at: number;
  readonly task: () => void;
}

/** A clock that stands still until it is told to move. Starts at 2026-01-01T00:00:00Z. */
export function testClock(startMs = Date.UTC(2026, 0, 1)): TestClock {
  let elapsed = 0;
  const timers = new Set<Timer>();
  const nextDue = (until: number): Timer | undefined =>
    [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];

  return {
    now: () => startMs + elapsed,
    monotonic: () => elapsed,
    after(ms, task) {
      const timer = { at: elapsed + Math.max(0, ms), task };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(ms) {
      const until = elapsed + ms;
      await settle();
      for (let due = nextDue(until); due !== undefined; due = nextDue(until)) {
        elapsed = Math.max(elapsed, due.at);
        timers.delete(due);
        due.task();
        await settle();
      }
      elapsed = until;
    },
    get pending() {
      return timers.size;
    },
  };
}

/**
 * Lets every promise that can go on without time or input go on. Twice around the event loop: work
 * that begins in the first turn is noticed to last at the end of it.
 */
export const settle = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
