/**
 * Runs work that may not heed its signal: a deadline and a caller that leaves are both answered in
 * time.
 */

import { slotIn } from '../onion/pass.ts';
import { abortOf, askedMsOf, clockOf, isAborted, ownCall, recreate } from '../onion/own-call.ts';
import type { SLOT, ToolCall } from '../contract/call.ts';
import type { Clock } from './clock.ts';
import { forget, noteBegin, setDeadline, type Waiting } from './deadlines.ts';
import type { Next } from '../contract/layer.ts';
import type { ToolResult } from '../contract/result.ts';
import { type AbortSource, createAbort, type OwnAbort } from './abort.ts';

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

/** What the work belongs to: a call, or anything else that can be taken back. */
export type Bounds = TimeBounds &
  ({ readonly call: ToolCall } | { readonly clock: Clock; readonly signal: AbortSignal });

/**
 * Aborts what is given to `work` on deadline or cancellation, waits out the grace, and leaves
 * nothing behind. No signal is made unless the work reads it.
 */
export const runWithin = <T>(
  bounds: Bounds,
  work: (abort: AbortSource) => T | Promise<T>,
): Promise<Ending<T>> => finishWithin(bounds, work, (ending) => ending);

/**
 * The same, answering what `finish` makes of the ending: a promise less than to wait for the ending
 * and then go on.
 */
export function finishWithin<T, R>(
  bounds: Bounds,
  work: (abort: AbortSource) => T | Promise<T>,
  finish: (ending: Ending<T>) => R,
): Promise<R> {
  return new Promise((resolve, reject) => {
    // A run hands on what `work` answers, whatever its type: `finish` alone looks at it.
    const run = openRun(bounds, finish as Run['finish'], resolve as Run['resolve'], reject);
    try {
      const working = work(bounds.timeoutMs === undefined ? abortOf(run.source) : run);
      Promise.resolve(working).then(
        (value: unknown) => end(run, { value }),
        (thrown: unknown) => end(run, { thrown }),
      );
    } catch (thrown) {
      end(run, { thrown });
    }
  });
}

/**
 * `next` within bounds, for a layer: the call goes on with a signal of its own. `stopped` makes the
 * answer for a call that ran out of time or was taken back.
 */
export const nextWithin = (
  call: ToolCall,
  next: Next,
  { timeoutMs, graceMs }: TimeBounds,
  stopped: (ending: Stopped<ToolResult>) => ToolResult,
): Promise<ToolResult> =>
  finishWithin(
    { call, timeoutMs, graceMs },
    (abort) => next(recreate(ownCall(call), { abort })),
    (ending) => {
      if (ending.by !== 'itself') return stopped(ending);
      if ('value' in ending.ran) return ending.ran.value;
      throw ending.ran.thrown;
    },
  );

/** A call, or bounds that name a signal. */
interface Source {
  readonly signal: AbortSignal;
  readonly [SLOT]?: object;
}

/** One piece of work under way. What it answers is known to `finishWithin` alone. */
interface Run extends Waiting, AbortSource {
  readonly source: Source;
  readonly clock: Clock;
  readonly bounds: TimeBounds;
  readonly startedAt: number;
  /** How long people had been asked about the call before. */
  readonly askedBefore: number;
  readonly finish: (ending: Ending<unknown>) => unknown;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (thrown: unknown) => void;
  by: Stopped<unknown>['by'] | null;
  timedOut: DOMException | null;
  /** What the work is stopped by, once it has asked. */
  own: OwnAbort | null;
  unfollow: (() => void) | null;
  ended: boolean;
}

/** The functions are the same for all runs: of its own, they would be most of what a run takes. */
function openRun(
  bounds: Bounds,
  finish: Run['finish'],
  resolve: Run['resolve'],
  reject: Run['reject'],
): Run {
  const source: Source = 'call' in bounds ? bounds.call : bounds;
  const clock = 'call' in bounds ? clockOf(bounds.call) : bounds.clock;
  const run: Run = {
    source,
    clock,
    bounds,
    startedAt: bounds.timeoutMs === undefined ? 0 : clock.monotonic(),
    askedBefore: slotIn(source)?.state.askedMs ?? 0,
    finish,
    resolve,
    reject,
    by: null,
    timedOut: null,
    own: null,
    unfollow: null,
    ended: false,
    queue: null,
    before: null,
    after: null,
    at: 0,
    outlast: attemptOutlast,
    due: attemptDue,
    read: readRun,
    isAborted: isRunAborted,
    reason: runReason,
    follow: followRun,
  };
  noteBegin(run);
  return run;
}

function attemptOutlast(this: Run): void {
  attempt(this, outlast);
}

function attemptDue(this: Run): void {
  attempt(this, due);
}

function readRun(this: Run): AbortSignal {
  return ownAbort(this).read();
}

function isRunAborted(this: Run): boolean {
  return this.by !== null || isAborted(this.source);
}

function runReason(this: Run): unknown {
  return reasonOf(this);
}

function followRun(this: Run, tell: () => void): () => void {
  return ownAbort(this).follow(tell);
}

/** Called from a timer, where what a clock of the host throws would end the process. */
function attempt(run: Run, step: (run: Run) => void): void {
  try {
    step(run);
  } catch (thrown) {
    end(run, { thrown });
  }
}

/** Only work that does not end at once is worth a listener and a place in the list of deadlines. */
function outlast(run: Run): void {
  follow(run);
  const { timeoutMs } = run.bounds;
  if (run.by === null && timeoutMs !== undefined)
    setDeadline(run.clock, run.startedAt, timeoutMs, run);
}

function follow(run: Run): void {
  run.unfollow ??= abortOf(run.source).follow(() => stop(run, 'cancelled'));
}

function due(run: Run): void {
  if (run.by !== null) return end(run, null);
  // A layer below may have asked a person: the time they took is not the tool's.
  const askedMs = askedMsOf(run.source) - run.askedBefore;
  const now = run.clock.monotonic();
  const leftMs = askedMs === 0 ? 0 : run.startedAt + (run.bounds.timeoutMs ?? 0) + askedMs - now;
  if (leftMs > 0) setDeadline(run.clock, now, leftMs, run);
  else stop(run, 'timeout');
}

function stop(run: Run, by: Stopped<unknown>['by']): void {
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
 * A run that is stopped by a run around it has the grace of the outer one: after that its answer is
 * not read, and with a shorter one an answer the outer run still waits for would be dropped.
 */
function graceOf({ by, timedOut, bounds, source }: Run): number {
  if (timedOut !== null) graces.set(timedOut, bounds.graceMs);
  const reason: unknown = by === 'cancelled' ? abortOf(source).reason() : null;
  return (reason instanceof DOMException ? graces.get(reason) : undefined) ?? bounds.graceMs;
}

function end(run: Run, ran: Ran<unknown> | null): void {
  // Work that comes to an end after the grace is not heard any more.
  if (run.ended) return;
  run.ended = true;
  letGo(run);
  // The caller may leave, and the work end for that, before the turn is over and this run follows
  // the signal.
  if (run.by === null && isAborted(run.source)) run.by = 'cancelled';
  // Only a run that was stopped ends without its work.
  const ending = { by: run.by ?? 'itself', ran } as Ending<unknown>;
  try {
    run.resolve(run.finish(ending));
  } catch (thrown) {
    run.reject(thrown);
  }
}

function letGo(run: Run): void {
  forget(run);
  run.unfollow?.();
}

/** Who reads its signal late, after the deadline or after the caller has gone, finds it aborted. */
function ownAbort(run: Run): OwnAbort {
  if (run.own !== null) return run.own;
  run.own = createAbort();
  if (!run.ended && run.by === null) follow(run);
  // Following a caller that has gone already stops the run at once.
  if (run.by !== null || isAborted(run.source)) run.own.abort(reasonOf(run));
  return run.own;
}

const reasonOf = ({ by, timedOut, source }: Run): unknown =>
  by === 'timeout' ? timedOut : abortOf(source).reason();

/** What `setTimeout` can hold: a longer one would ring at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits for `ms` on the clock of the call and answers `true`, or `false` as soon as its caller has
 * gone. Leaves neither timer nor listener behind. Waits at most 24 days.
 */
export function pause(call: ToolCall, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const takeBack = clockOf(call).after(Math.min(ms, MAX_TIMER_MS), () => {
      letGo();
      resolve(true);
    });
    const letGo = abortOf(call).follow(() => {
      takeBack();
      resolve(false);
    });
  });
}
