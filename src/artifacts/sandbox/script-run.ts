/**
 * One script on one worker, seen from the main side: host calls, deadlines, cancellation, and
 * exactly one ending.
 */

import { AsyncLocalStorage, type AsyncResource } from 'node:async_hooks';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { Clock } from '../../core/time/clock.ts';
import { describeThrown } from '../../core/contract/errors.ts';
import { snapshot } from '../../core/json/json.ts';
import { followAbort } from '../../core/time/abort.ts';
import type { DescribedTree } from './described.ts';
import { HostError, StopScript } from './host-function.ts';
import type { FromWorker, HostAnswer, Job, JobEnding } from './protocol.ts';
import { ScriptError, type ScriptErrorKind } from './script-error.ts';
import type { ScriptOutcome } from './script-request.ts';
import type { ScriptWorker } from './script-worker.ts';

/** A request that was looked at and can be given to a worker. */
export interface PreparedRun {
  readonly job: Job;
  readonly functions: DescribedTree['functions'];
  readonly clock: Clock;
  readonly deadlineMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onPrint: ((text: string) => void) | undefined;
  /**
   * Where the caller was when it asked: what the host does for the script belongs there, with its
   * policy and its span.
   */
  readonly scope: AsyncResource;
  /** How many scripts wait for this one. */
  readonly depth: number;
  /** The session the script runs for; empty where the host named none. */
  readonly owner: string;
}

export interface RunEnding {
  readonly ended: ScriptOutcome | ScriptError;
  /** Whether its worker can take another script. */
  readonly reusable: boolean;
}

/** How many scripts wait for whatever is done here. */
export const nesting = new AsyncLocalStorage<number>();

/** A script that says nothing for so long is in no loop that its steps would end. */
const SILENCE_MS = 60_000;

interface Live {
  readonly run: PreparedRun;
  readonly worker: ScriptWorker;
  readonly prints: string[];
  /** Aborted when the run ends while the host still works for it. */
  readonly controller: AbortController;
  readonly onWaiting: (isWaiting: boolean) => void;
  readonly finish: (ending: RunEnding) => void;
  isOver: boolean;
  takeBackDeadline: () => void;
  takeBackSilence: () => void;
  unfollow: () => void;
}

/** What `takeUp` hands back beside the ending: a way to end the run from outside. */
export interface LiveRun {
  readonly ending: Promise<RunEnding>;
  cancel(message: string): void;
}

/**
 * Gives the script to the worker. `onWaiting` hears when the worker sleeps and when it works again.
 */
export function takeUp(
  worker: ScriptWorker,
  run: PreparedRun,
  onWaiting: (isWaiting: boolean) => void,
): LiveRun {
  const nothing = () => {};
  let finish: (ending: RunEnding) => void = nothing;
  const ending = new Promise<RunEnding>((resolve) => {
    finish = resolve;
  });
  const live: Live = {
    run,
    worker,
    prints: [],
    controller: new AbortController(),
    onWaiting,
    finish,
    isOver: false,
    takeBackDeadline: nothing,
    takeBackSilence: nothing,
    unfollow: nothing,
  };
  worker.give(run.job, {
    heard: (message) => hear(live, message),
    lost: (kind) => kill(live, kind, LOST[kind]),
  });
  if (worker.isReady) begin(live);
  if (run.signal !== undefined)
    live.unfollow = followAbort(run.signal, () =>
      kill(live, 'cancelled', 'the script was cancelled'),
    );
  return { ending, cancel: (message) => kill(live, 'cancelled', message) };
}

const LOST = Object.freeze({
  memory: 'the script used more memory than its worker has',
  crashed: 'the worker of the script ended',
});

/**
 * The clock starts when the worker does: a script is not to blame for how long a thread takes to
 * come up.
 */
function begin(live: Live): void {
  const { clock, deadlineMs } = live.run;
  if (deadlineMs !== undefined)
    live.takeBackDeadline = clock.after(deadlineMs, () =>
      kill(live, 'deadline', `the script did not end within ${deadlineMs} ms`),
    );
  awaitWord(live);
}

function awaitWord(live: Live): void {
  const late = () =>
    kill(live, 'deadline', `the script worked for ${SILENCE_MS} ms without a word`);
  live.takeBackSilence = live.run.clock.after(SILENCE_MS, late);
}

function hear(live: Live, message: FromWorker): void {
  if (live.isOver) return;
  switch (message.type) {
    case 'ready':
      return begin(live);
    case 'print':
      return heardPrint(live, message.text);
    case 'call':
      return void answerCall(live, message.host, message.args, message.kwargs);
    case 'done':
    case 'failed':
      return end(live, { ended: endedWith(live, message), reusable: true });
  }
}

function heardPrint({ prints, run }: Live, text: string): void {
  prints.push(text);
  try {
    run.onPrint?.(text);
  } catch {
    // Who only listens does not decide about a script.
  }
}

function endedWith({ prints }: Live, ending: JobEnding): RunEnding['ended'] {
  if (ending.type === 'failed') {
    const { kind, message, line, column, traceback } = ending;
    return new ScriptError(kind, message, line === 0 ? { traceback } : { line, column, traceback });
  }
  const { value, globals, steps, bytes } = ending;
  // What a worker sends was made of JSON, or of what a caller that wants plain values asked for.
  const said = { value: value as JsonValue, steps, bytes, prints };
  return globals === null ? said : { ...said, globals: globals as JsonObject };
}

async function answerCall(
  live: Live,
  host: number,
  args: readonly unknown[],
  kwargs: object,
): Promise<void> {
  live.takeBackSilence();
  live.onWaiting(true);
  const answer = await callHost(live, host, args, kwargs);
  if (live.isOver) return;
  live.onWaiting(false);
  awaitWord(live);
  live.worker.answer(answer);
}

async function callHost(
  live: Live,
  host: number,
  args: readonly unknown[],
  kwargs: object,
): Promise<HostAnswer> {
  const { functions, scope, depth } = live.run;
  const called = functions[host];
  if (called === undefined) return { type: 'error', message: 'there is no such function' };
  const { signal } = live.controller;
  try {
    // Made of JSON in the worker.
    const work = () => called.call(args as readonly JsonValue[], kwargs as JsonObject, { signal });
    const value = await scope.runInAsyncScope(() => nesting.run(depth + 1, work));
    return { type: 'answer', value: snapshot(value ?? null) };
  } catch (thrown) {
    if (thrown instanceof StopScript) return { type: 'stop', value: snapshot(thrown.value) };
    return {
      type: 'error',
      message:
        thrown instanceof HostError ? thrown.message : `${called.name}: ${describeThrown(thrown)}`,
    };
  }
}

/**
 * Ends a run whose worker is still at it: what it does from now on is not heard, and it is not used
 * again.
 */
function kill(live: Live, kind: ScriptErrorKind, message: string): void {
  end(live, { ended: new ScriptError(kind, message), reusable: false });
}

function end(live: Live, ending: RunEnding): void {
  if (live.isOver) return;
  live.isOver = true;
  live.takeBackDeadline();
  live.takeBackSilence();
  live.unfollow();
  live.worker.release();
  if (!ending.reusable) live.controller.abort(ending.ended);
  live.finish(ending);
}
