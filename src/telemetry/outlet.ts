/**
 * The way from a call to one sink: never waited for, bounded in number and time, and counted to the
 * last record.
 */

import type { Clock } from '../core/time/clock.ts';
import {
  isSendFailure,
  problemOf,
  type SendFailure,
  sendFailure,
  type SinkCounts,
  type TelemetryProblem,
  type TellProblem,
} from './problem.ts';
import type { SpanRecord } from './span-record.ts';

/** Takes records away. A promise is watched, everything else counts as done. */
export interface Sender {
  readonly name: string;
  /**
   * More than one: records are sent together, one request at a time, and the signal stops one that
   * is late.
   */
  readonly maxBatch: number;
  readonly send: (batch: readonly SpanRecord[], signal: AbortSignal | null) => unknown;
}

/** What all outlets of a layer have in common. */
export interface OutletSettings {
  readonly maxPending: number;
  readonly timeoutMs: number;
  readonly tell: TellProblem;
  /** Hears of every record that is lost. */
  readonly onDropped: (sink: string, count: number) => void;
}

/** One sink with what is on its way there. */
export interface Outlet {
  readonly sender: Sender;
  readonly settings: OutletSettings;
  readonly counts: { -readonly [K in keyof SinkCounts]: SinkCounts[K] };
  readonly queue: SpanRecord[];
  /** Ends a request under way. */
  readonly inFlight: Set<(why: SendFailure) => void>;
  /** Kinds of problems that are not told again for now. */
  readonly silent: Set<TelemetryProblem['kind']>;
  clock: Clock | null;
  closing: Promise<void> | null;
  onIdle: () => void;
}

/** Opens the way to one sink. */
export const createOutlet = (sender: Sender, settings: OutletSettings): Outlet => ({
  sender,
  settings,
  counts: { generated: 0, delivered: 0, dropped: 0, pending: 0 },
  queue: [],
  inFlight: new Set(),
  silent: new Set(),
  clock: null,
  closing: null,
  onIdle: () => {},
});

/** Sends a record on its way. Does not wait; the clock times the delivery. */
export function accept(outlet: Outlet, record: SpanRecord, clock: Clock): void {
  const { counts, settings, queue } = outlet;
  counts.generated += 1;
  if (outlet.closing !== null) return drop(outlet, 1, sendFailure('full', 'the layer is closed'));
  if (counts.pending >= settings.maxPending)
    return drop(outlet, 1, sendFailure('full', `${settings.maxPending} records are outstanding`));
  counts.pending += 1;
  outlet.clock = clock;
  queue.push(record);
  pump(outlet, clock);
}

/** Counts a record that could not even be built. */
export function lose(outlet: Outlet, thrown: unknown): void {
  outlet.counts.generated += 1;
  drop(outlet, 1, sendFailure('failed', 'the span could not be built'), thrown);
}

/**
 * Takes nothing more, and waits for what is outstanding, but not longer than a delivery may take.
 */
export const closeOutlet = (outlet: Outlet): Promise<void> => (outlet.closing ??= drain(outlet));

async function drain(outlet: Outlet): Promise<void> {
  const { counts, clock, settings } = outlet;
  if (counts.pending > 0 && clock !== null) {
    const idle = new Promise<void>((resolve) => (outlet.onIdle = resolve));
    const takeBack = clock.after(settings.timeoutMs, () => giveUp(outlet));
    await idle;
    takeBack();
  }
  if (counts.dropped > 0) tell(outlet, 'closed', 'records were lost');
}

function giveUp(outlet: Outlet): void {
  const why = sendFailure(
    'timeout',
    `closed after ${outlet.settings.timeoutMs} ms with records outstanding`,
  );
  const waiting = outlet.queue.splice(0);
  if (waiting.length > 0) settle(outlet, waiting.length, why);
  for (const stop of [...outlet.inFlight]) stop(why);
}

const sendsBatches = ({ sender }: Outlet): boolean => sender.maxBatch > 1;

function pump(outlet: Outlet, clock: Clock): void {
  const { queue, inFlight, sender } = outlet;
  while (queue.length > 0 && !(sendsBatches(outlet) && inFlight.size > 0))
    send(outlet, queue.splice(0, sender.maxBatch), clock);
}

function send(outlet: Outlet, batch: readonly SpanRecord[], clock: Clock): void {
  const controller = sendsBatches(outlet) ? new AbortController() : null;
  try {
    const answer = outlet.sender.send(batch, controller?.signal ?? null);
    if (isThenable(answer)) watch(outlet, batch.length, answer, clock, controller);
    else settle(outlet, batch.length);
  } catch (thrown) {
    settle(outlet, batch.length, thrown);
  }
}

function watch(
  outlet: Outlet,
  count: number,
  answer: unknown,
  clock: Clock,
  controller: AbortController | null,
): void {
  const { inFlight, settings } = outlet;
  const takeBack = clock.after(settings.timeoutMs, () =>
    end(sendFailure('timeout', `no answer within ${settings.timeoutMs} ms`)),
  );
  const end = (...failure: readonly unknown[]): void => {
    // The answer and the timer both call `end`; only the first counts.
    if (!inFlight.delete(end)) return;
    takeBack();
    controller?.abort();
    settle(outlet, count, ...failure);
    pump(outlet, clock);
  };
  inFlight.add(end);
  // `new Promise` and not `Promise.resolve`: a tampered promise would be handed back as it is.
  new Promise((resolve) => resolve(answer)).then(
    () => end(),
    (thrown: unknown) => end(thrown),
  );
}

function settle(outlet: Outlet, count: number, ...failure: readonly unknown[]): void {
  const { counts, settings, silent } = outlet;
  counts.pending -= count;
  if (counts.pending < settings.maxPending) silent.delete('full');
  if (failure.length === 0) counts.delivered += count;
  else if (isSendFailure(failure[0])) drop(outlet, count, failure[0]);
  else drop(outlet, count, sendFailure('failed', 'the sink failed'), failure[0]);
  if (counts.pending === 0) outlet.onIdle();
}

function drop(
  outlet: Outlet,
  count: number,
  { kind, message }: SendFailure,
  ...cause: readonly unknown[]
): void {
  const { counts, settings, silent, sender } = outlet;
  counts.dropped += count;
  settings.onDropped(sender.name, count);
  if (silent.has(kind)) return;
  if (kind === 'full' || kind === 'unconfigured') silent.add(kind);
  tell(outlet, kind, message, ...cause);
}

function tell(
  { sender, counts, settings }: Outlet,
  kind: TelemetryProblem['kind'],
  message: string,
  ...cause: readonly unknown[]
): void {
  settings.tell(
    problemOf({ sink: sender.name, kind, message, counts: Object.freeze({ ...counts }) }, ...cause),
  );
}

const isThenable = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'then' in value &&
  typeof value.then === 'function';
