/**
 * One of the servers: opened when it is needed, greeted as the client greeted, and tried again when
 * it was lost.
 */

import type { Clock } from '../../core/time/clock.ts';
import { oneLine } from '../../core/contract/errors.ts';
import type { Frame } from '../proxy/link.ts';
import { METHODS, notificationMessage, type RequestId } from '../wire.ts';
import { connect, type Connection, type OnAnswer } from './connection.ts';
import type { Edit } from './edit-frame.ts';
import { type Account, greetingOf, type Opening, readGreeting } from './handshake.ts';
import type { UpstreamSpec } from './names.ts';
import type { StandingWatch } from './standing-watch.ts';

export type Standing =
  | { readonly is: 'closed'; readonly why: string }
  | { readonly is: 'opening' }
  | { readonly is: 'ready'; readonly account: Account }
  | { readonly is: 'other_era'; readonly why: string; readonly versions: readonly string[] };

/** What a server needs from whoever holds it. */
export interface UpstreamHost {
  readonly clock: Clock;
  readonly slowMs: number;
  readonly watch: StandingWatch;
  /** How the client opened; `null` before it did. */
  readonly opening: () => Opening | null;
  readonly report: (problem: string) => void;
  onRequest(upstream: Upstream, frame: Frame): void;
  onNotification(upstream: Upstream, frame: Frame): void;
  onReady(upstream: Upstream): void;
  readonly onGone: (upstream: Upstream) => void;
  readonly onCongestion: (upstream: Upstream, isCongested: boolean) => void;
}

export interface Upstream {
  readonly index: number;
  readonly name: string;
  readonly prefix: string;
  standing(): Standing;
  /**
   * Opens it where that is due, and waits for it no longer than a slow one is waited for. Answers
   * whether it is ready.
   */
  available(): Promise<boolean>;
  /** Greets it anew, also where it failed a moment ago: the client has opened. */
  greet(): void;
  request(
    frame: Frame,
    edits: readonly Edit[],
    onAnswer: OnAnswer,
    onNumber?: (id: number) => void,
  ): void;
  /** Tells it that nobody waits any more, and drops what it answers all the same. */
  cancel(id: number, reason: string | null): void;
  hasToken(token: RequestId): boolean;
  keepToken(token: RequestId): void;
  send(frame: Frame): void;
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;
/** The first time it is tried again at once: most servers that end, end once. */
const waitAfter = (failures: number): number =>
  failures <= 1 ? 0 : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 2));

/** What changes while a server lives. */
interface Own {
  readonly spec: UpstreamSpec;
  readonly host: UpstreamHost;
  connection: Connection | null;
  standing: Standing;
  /** Which greeting counts: an answer to an earlier one says nothing any more. */
  greeting: number;
  failures: number;
  retryAt: number;
  openedAt: number;
  isPaused: boolean;
  isClosed: boolean;
  readonly closing: Set<Promise<void>>;
}

export function createUpstream(spec: UpstreamSpec, index: number, host: UpstreamHost): Upstream {
  const own: Own = {
    spec,
    host,
    connection: null,
    standing: { is: 'closed', why: 'it was not opened yet' },
    greeting: 0,
    failures: 0,
    retryAt: Number.NEGATIVE_INFINITY,
    openedAt: 0,
    isPaused: false,
    isClosed: false,
    closing: new Set(),
  };
  const named = (frame: Frame): Frame => ({ ...frame, from: spec.name });
  const upstream: Upstream = Object.freeze({
    index,
    name: spec.name,
    prefix: spec.prefix ?? spec.name,
    standing: () => own.standing,
    available: () => available(own, upstream),
    greet() {
      own.failures = 0;
      if (own.connection === null) start(own, upstream);
      else shakeHands(own, upstream, own.connection);
    },
    request(frame, edits, onAnswer, onNumber) {
      if (own.connection === null) onAnswer(null);
      else
        own.connection.request(
          frame,
          edits,
          (answer) => onAnswer(answer === null ? null : named(answer)),
          onNumber,
        );
    },
    cancel: (id, reason) => cancel(own.connection, id, reason),
    hasToken: (token) => own.connection?.hasToken(token) ?? false,
    keepToken: (token) => own.connection?.keepToken(token),
    send: (frame) => own.connection?.send(frame),
    pause() {
      own.isPaused = true;
      own.connection?.pause();
    },
    resume() {
      own.isPaused = false;
      own.connection?.resume();
    },
    async close() {
      own.isClosed = true;
      await own.connection?.close('closed');
      await Promise.all(own.closing);
    },
  } satisfies Upstream);
  return upstream;
}

async function available(own: Own, upstream: Upstream): Promise<boolean> {
  const { clock, slowMs, watch, opening } = own.host;
  if (
    own.standing.is === 'closed' &&
    !own.isClosed &&
    opening() !== null &&
    clock.monotonic() >= own.retryAt
  )
    start(own, upstream);
  const left = own.openedAt + slowMs - clock.monotonic();
  if (own.standing.is === 'opening')
    await watch.until((isLate) => isLate || own.standing.is !== 'opening', left);
  return own.standing.is === 'ready';
}

function become(own: Own, standing: Standing): void {
  own.standing = standing;
  own.host.watch.changed();
}

const reportOf = ({ spec, host }: Own, problem: string): void =>
  host.report(`server "${oneLine(spec.name)}" ${problem}`);

function start(own: Own, upstream: Upstream): void {
  const { host } = own;
  own.openedAt = host.clock.monotonic();
  become(own, { is: 'opening' });
  let made: Connection;
  try {
    made = connect(own.spec.open(), {
      onRequest: (frame) => host.onRequest(upstream, { ...frame, from: own.spec.name }),
      onNotification: (frame) => host.onNotification(upstream, frame),
      onCongestion: (isCongested) => host.onCongestion(upstream, isCongested),
      report: (problem) => reportOf(own, problem),
      onGone: (why) => lose(own, upstream, why),
    });
  } catch {
    return lose(own, upstream, 'it could not be opened');
  }
  own.connection = made;
  if (own.isPaused) made.pause();
  made.start().then(
    () => own.connection === made && shakeHands(own, upstream, made),
    () => made.close('it could not be started'),
  );
}

function shakeHands(own: Own, upstream: Upstream, to: Connection): void {
  const opening = own.host.opening();
  if (opening === null) return;
  own.greeting += 1;
  const current = own.greeting;
  own.openedAt = own.host.clock.monotonic();
  become(own, { is: 'opening' });
  to.request({ message: greetingOf(opening) }, [], (answer) => {
    // Where there is no answer the connection is gone, and that was dealt with.
    if (answer === null || current !== own.greeting || own.connection !== to) return;
    const outcome = readGreeting(opening, answer.message);
    if (outcome.is === 'broken') return void to.close(outcome.why);
    if (outcome.is === 'other_era') reportOf(own, `is left out: ${outcome.why}`);
    become(own, outcome);
    if (outcome.is === 'ready') own.host.onReady(upstream);
  });
}

function lose(own: Own, upstream: Upstream, why: string): void {
  const { clock, onGone, onCongestion } = own.host;
  const lived = clock.monotonic() - own.openedAt;
  own.failures = lived > LONGEST_WAIT_MS ? 1 : own.failures + 1;
  own.retryAt = clock.monotonic() + waitAfter(own.failures);
  // It may still run, or have left something running.
  if (own.connection !== null) {
    const closed: Promise<void> = own.connection
      .close(why)
      .then(() => void own.closing.delete(closed));
    own.closing.add(closed);
  }
  own.connection = null;
  onCongestion(upstream, false);
  if (!own.isClosed) reportOf(own, `is gone: ${oneLine(why)}`);
  become(own, { is: 'closed', why });
  onGone(upstream);
}

function cancel(connection: Connection | null, id: number, reason: string | null): void {
  if (connection?.forget(id) !== true) return;
  connection.send({
    message: notificationMessage(METHODS.cancelled, {
      requestId: id,
      ...(reason === null ? {} : { reason }),
    }),
  });
}
