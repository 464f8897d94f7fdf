/**
 * Runs work that may not heed its signal: a deadline and a caller that leaves are both answered in
 * time.
 */

import { slotIn } from '../onion/pass.ts';
import { abortOf, clockOf, isSignalAborted, withLazySignal } from '../onion/own-call.ts';
import type { SLOT, ToolCall } from '../contract/call.ts';
import type { Clock } from './clock.ts';
import { forget, noteBegin, setDeadline, type Waiting } from './deadlines.ts';
import type { Next } from '../contract/layer.ts';
import type { ToolResult } from '../contract/result.ts';
import { type AbortSource, createAbort, type OwnAbort } from './abort.ts';
import { askedMsOf } from '../onion/off-the-clock.ts';

export type Ran<T> = { readonly value: T } | { readonly thrown: unknown };
/**
 * Work that was stopped, and what it still did within the grace; `null` where it did not come to an
 * end.
 */
export interface Stopped<T> {
  readonly by: 'timeout' | 'cancelled';
  readonly ran: Ran<T> | null;
}
export type Ending<T> = { readonly by: 'itself'; readonly ran: Ran<T> } | Stopped<T>;

export interface TimeBounds {
  readonly timeoutMs: number | undefined;
  /** How long stopped work may take to come to an end and tell what it did. */
  readonly graceMs: number;
}

export interface Bounds extends TimeBounds {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Aborts the signal given to `work` on deadline or cancellation, waits out the grace, and leaves
 * nothing behind.
 */
export function runWithin<T>(
  bounds: Bounds,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<Ending<T>> {
  return new Promise((resolve) => {
    const run = openRun<T>(bounds, bounds.clock, bounds, resolve);
    void settled(() => work(bounds.timeoutMs === undefined ? bounds.signal : run.read())).then(
      (ran) => end(run, ran),
    );
  });
}

/**
 * The same for what a call does. Neither its signal nor one for the work is made unless somebody
 * reads it.
 */
export function runCallWithin<T>(
  call: ToolCall,
  bounds: TimeBounds,
  work: (abort: AbortSource) => T | Promise<T>,
): Promise<Ending<T>> {
  return new Promise((resolve) => {
    const run = openRun<T>(call, clockOf(call), bounds, resolve);
    void settled(() => work(bounds.timeoutMs === undefined ? abortOf(call) : run)).then((ran) =>
      end(run, ran),
    );
  });
}

/**
 * `next` within bounds, for a layer. The call goes on with a signal of its own, which is made only
 * if somebody reads it. `stopped` makes the answer for a call that ran out of time or was taken
 * back.
 */
export function nextWithin(
  call: ToolCall,
  next: Next,
  bounds: TimeBounds,
  stopped: (ending: Stopped<ToolResult>) => ToolResult,
): Promise<ToolResult> {
  return new Promise((resolve) => {
    const run = openRun<ToolResult>(call, clockOf(call), bounds, (ending) =>
      resolve(answerOf(ending, stopped)),
    );
    try {
      next(withLazySignal(call, run)).then(
        (value) => end(run, { value }),
        (thrown: unknown) => end(run, { thrown }),
      );
    } catch (thrown) {
      end(run, { thrown });
    }
  });
}

/**
 * Without `async` where it can be: a result goes on as it is, and only a failure becomes a promise.
 */
function answerOf(
  ending: Ending<ToolResult>,
  stopped: (ending: Stopped<ToolResult>) => ToolResult,
): ToolResult | Promise<ToolResult> {
  if (ending.by === 'itself' && 'value' in ending.ran) return ending.ran.value;
  return answerLater(ending, stopped);
}

async function answerLater(
  ending: Ending<ToolResult>,
  stopped: (ending: Stopped<ToolResult>) => ToolResult,
): Promise<ToolResult> {
  if (ending.by !== 'itself') return stopped(ending);
  if ('value' in ending.ran) return ending.ran.value;
  throw ending.ran.thrown;
}

async function settled<T>(work: () => T | Promise<T>): Promise<Ran<T>> {
  try {
    return { value: await work() };
  } catch (thrown) {
    return { thrown };
  }
}

/** Whoever may leave: a call, or bounds that name a signal. */
interface Source {
  readonly signal: AbortSignal;
  readonly [SLOT]?: object;
}

interface Run<T> extends Waiting, AbortSource {
  readonly source: Source;
  readonly clock: Clock;
  readonly bounds: TimeBounds;
  readonly startedAt: number;
  /** How long people had been asked about the call before. */
  readonly askedBefore: number;
  /** Called once. Must not throw. */
  readonly answer: (ending: Ending<T>) => void;
  by: Stopped<T>['by'] | null;
  timedOut: DOMException | null;
  /** What the work is stopped by, once somebody wants to know of it. */
  own: OwnAbort | null;
  unfollow: (() => void) | null;
  ended: boolean;
}

function openRun<T>(
  source: Source,
  clock: Clock,
  bounds: TimeBounds,
  answer: Run<T>['answer'],
): Run<T> {
  const run: Run<T> = {
    source,
    clock,
    bounds,
    startedAt: bounds.timeoutMs === undefined ? 0 : clock.monotonic(),
    askedBefore: slotIn(source)?.state.askedMs ?? 0,
    answer,
    by: null,
    timedOut: null,
    own: null,
    unfollow: null,
    ended: false,
    queue: null,
    before: null,
    after: null,
    at: 0,
    outlast: () => attempt(run, outlast),
    due: () => attempt(run, due),
    read: () => ownAbort(run).read(),
    isAborted: () => run.by !== null || isSignalAborted(source),
    reason: () => reasonOf(run),
    follow: (tell) => ownAbort(run).follow(tell),
  };
  noteBegin(run);
  return run;
}

/** Called from a timer, where nobody would catch what a clock from outside may throw. */
function attempt<T>(run: Run<T>, step: (run: Run<T>) => void): void {
  try {
    step(run);
  } catch (thrown) {
    end(run, { thrown });
  }
}

/** Only work that does not end at once is worth a listener and a place in the list of deadlines. */
function outlast<T>(run: Run<T>): void {
  follow(run);
  const { timeoutMs } = run.bounds;
  if (run.by === null && timeoutMs !== undefined)
    setDeadline(run.clock, run.startedAt, timeoutMs, run);
}

function follow<T>(run: Run<T>): void {
  run.unfollow ??= abortOf(run.source).follow(() => stop(run, 'cancelled'));
}

function due<T>(run: Run<T>): void {
  if (run.by !== null) return end(run, null);
  // Somebody below may have been asked: the time they took is theirs.
  const askedMs = askedMsOf(run.source) - run.askedBefore;
  const now = run.clock.monotonic();
  const leftMs = askedMs === 0 ? 0 : run.startedAt + (run.bounds.timeoutMs ?? 0) + askedMs - now;
  if (leftMs > 0) setDeadline(run.clock, now, leftMs, run);
  else stop(run, 'timeout');
}

function stop<T>(run: Run<T>, by: Stopped<T>['by']): void {
  run.by = by;
  if (by === 'timeout') run.timedOut = new DOMException('the tool ran out of time', 'TimeoutError');
  letGo(run);
  const graceMs = graceOf(run);
  run.own?.abort(reasonOf(run));
  if (graceMs === 0) end(run, null);
  else setDeadline(run.clock, run.clock.monotonic(), graceMs, run);
}

/**
 * By the error that a run out of time aborts with: what runs inside is waited for as long as that.
 */
const graces = new WeakMap<object, number>();

/**
 * A run that is stopped by one around it has the grace of that one: longer nobody listens, and
 * shorter it would not be heard out.
 */
function graceOf<T>({ by, timedOut, bounds, source }: Run<T>): number {
  if (timedOut !== null) graces.set(timedOut, bounds.graceMs);
  const reason: unknown = by === 'cancelled' ? abortOf(source).reason() : null;
  return (reason instanceof DOMException ? graces.get(reason) : undefined) ?? bounds.graceMs;
}

function end<T>(run: Run<T>, ran: Ran<T> | null): void {
  // Work that comes to an end after the grace is not heard any more.
  if (run.ended) return;
  run.ended = true;
  letGo(run);
  // A caller may leave, and the work end for that, before the turn is over and anybody follows the
  // signal.
  if (run.by === null && isSignalAborted(run.source)) run.by = 'cancelled';
  if (run.by !== null) run.answer({ by: run.by, ran });
  else if (ran !== null) run.answer({ by: 'itself', ran });
}

function letGo<T>(run: Run<T>): void {
  forget(run);
  run.unfollow?.();
}

/** Who reads its signal late, after the deadline or after the caller has gone, finds it aborted. */
function ownAbort<T>(run: Run<T>): OwnAbort {
  if (run.own !== null) return run.own;
  run.own = createAbort();
  if (!run.ended && run.by === null) follow(run);
  // Following somebody who has gone already stops the run there and then.
  if (run.by !== null || isSignalAborted(run.source)) run.own.abort(reasonOf(run));
  return run.own;
}

const reasonOf = <T>({ by, timedOut, source }: Run<T>): unknown =>
  by === 'timeout' ? timedOut : abortOf(source).reason();
