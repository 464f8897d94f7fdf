/**
 * Deadlines of work under way: one list and at most one timer per clock, however many wait. Work
 * that ends within the turn of the event loop it began in, as most calls of a fast tool do, never
 * comes so far as to need either.
 */

import type { Clock } from './clock.ts';

/** One piece of work under way. It stands in one queue at a time, and is its own link in it. */
export interface Waiting {
  queue: Queue | null;
  before: Waiting | null;
  after: Waiting | null;
  /** When it is due, on the monotonic clock. */
  at: number;
  /** The turn it began in is over and it has not ended. Must not throw. */
  outlast(): void;
  /** Its time is over. Must not throw. */
  due(): void;
}

interface Queue {
  first: Waiting | null;
  last: Waiting | null;
  /**
   * The deadlines it belongs to, and the duration all of its members share; `null` for what has
   * only just begun.
   */
  readonly deadlines: Deadlines | null;
  readonly ms: number;
}

interface Deadlines {
  readonly clock: Clock;
  /** By duration: of those that wait equally long, the first to come is the first to go. */
  readonly queues: Map<number, Queue>;
  /** Takes the timer back; `null` while none is set. */
  timer: (() => void) | null;
  timerAt: number;
}

/** What `setTimeout` can hold. A longer wait is made of several. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const begun: Queue = { first: null, last: null, deadlines: null, ms: 0 };
const byClock = new WeakMap<Clock, Deadlines>();
let sweepIsDue = false;

/** Notes work that begins. It is told if it outlasts this turn of the event loop. */
export function noteBegin(work: Waiting): void {
  insert(begun, work);
  if (sweepIsDue) return;
  sweepIsDue = true;
  setImmediate(sweep);
}

function sweep(): void {
  sweepIsDue = false;
  // Those that stand here now: work that the telling itself sets off has a turn of its own.
  const late: Waiting[] = [];
  for (let work = begun.first; work !== null; work = work.after) late.push(work);
  for (const work of late) {
    if (work.queue !== begun) continue;
    forget(work);
    work.outlast();
  }
}

/** Makes work due `ms` after `from`. It must not stand in a queue. */
export function setDeadline(clock: Clock, from: number, ms: number, work: Waiting): void {
  const deadlines = byClock.get(clock) ?? {
    clock,
    queues: new Map<number, Queue>(),
    timer: null,
    timerAt: 0,
  };
  byClock.set(clock, deadlines);
  const queue = deadlines.queues.get(ms) ?? { first: null, last: null, deadlines, ms };
  deadlines.queues.set(ms, queue);
  work.at = from + ms;
  insert(queue, work);
  arm(deadlines, work.at);
}

/**
 * Takes work out of whatever queue it stands in; the timer goes with the last one that needs it.
 */
export function forget(work: Waiting): void {
  const { queue, before, after } = work;
  if (queue === null) return;
  if (before === null) queue.first = after;
  else before.after = after;
  if (after === null) queue.last = before;
  else after.before = before;
  work.queue = null;
  work.before = null;
  work.after = null;
  if (queue.first === null && queue.deadlines !== null) dropQueue(queue.deadlines, queue.ms);
}

function dropQueue(deadlines: Deadlines, ms: number): void {
  deadlines.queues.delete(ms);
  if (deadlines.queues.size > 0) return;
  deadlines.timer?.();
  deadlines.timer = null;
}

/**
 * Behind all that are due earlier. Almost always at the end: only a turn that took long mixes the
 * order up.
 */
function insert(queue: Queue, work: Waiting): void {
  let before = queue.last;
  while (before !== null && before.at > work.at) before = before.before;
  const after = before === null ? queue.first : before.after;
  work.queue = queue;
  work.before = before;
  work.after = after;
  if (before === null) queue.first = work;
  else before.after = work;
  if (after === null) queue.last = work;
  else after.before = work;
}

/** A timer that is set too early does no harm: it looks, and is set again. */
function arm(deadlines: Deadlines, at: number): void {
  if (deadlines.timer !== null && deadlines.timerAt <= at) return;
  deadlines.timer?.();
  const now = deadlines.clock.monotonic();
  const ms = Math.min(Math.max(0, at - now), MAX_TIMER_MS);
  deadlines.timerAt = now + ms;
  deadlines.timer = deadlines.clock.after(ms, () => fire(deadlines));
}

function fire(deadlines: Deadlines): void {
  deadlines.timer = null;
  // A timer may ring a little before its time by the other clock; it is taken at its word.
  const now = Math.max(deadlines.clock.monotonic(), deadlines.timerAt);
  const due = [...deadlines.queues.values()]
    .flatMap((queue) => dueIn(queue, now))
    .sort((a, b) => a.at - b.at);
  for (const work of due) forget(work);
  const [first, ...others] = [...deadlines.queues.values()].flatMap(
    ({ first: head }) => head?.at ?? [],
  );
  if (first !== undefined) arm(deadlines, Math.min(first, ...others));
  for (const work of due) work.due();
}

function dueIn(queue: Queue, now: number): readonly Waiting[] {
  const due: Waiting[] = [];
  for (let work = queue.first; work !== null && work.at <= now; work = work.after) due.push(work);
  return due;
}
