/** Streams of an HTTP server, and going on where one broke off. */

import { type MessageReading, readMessage } from '../../core/wire/json-rpc.ts';
import { type Caller, discard } from './call-server.ts';
import { isEventStream, type ReadGate, readEvents } from './read-response.ts';

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Only streams of revisions with sessions can be taken up again. */
  readonly canResume: boolean;
  /** Whether everything that was waited for has come. */
  isDone(): boolean;
  onMessage(reading: MessageReading): void;
}

export interface Follower {
  /** Resolves when nothing more is to come, and when the signal says so. */
  follow(response: Response, options: FollowOptions): Promise<void>;
  /**
   * Opens the stream for what belongs to no request and keeps it open. Resolves when it is open for
   * the first time, or will not be.
   */
  listen(onMessage: (reading: MessageReading) => void): Promise<void>;
}

interface Place {
  lastEventId: string;
  retryMs: number;
}

const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;

/**
 * How often in a row a stream may break before it is given up. One that belongs to a session is
 * asked for again for as long.
 */
const MAX_ATTEMPTS = 5;

/** What the streams of one server are read with. */
export interface FollowerParts {
  readonly caller: Caller;
  readonly gate: ReadGate;
  /** Aborts with the link. */
  readonly signal: AbortSignal;
}

/** Follows streams until `signal` aborts. */
export function createFollower(parts: FollowerParts): Follower {
  return {
    async follow(response, options) {
      const place: Place = { lastEventId: '', retryMs: FIRST_RETRY_MS };
      await drink(parts, response, place, options);
      if (options.canResume && place.lastEventId !== '')
        await resume(parts, place, options, { mayGiveUp: true, onOpen: () => {} });
    },
    listen: (onMessage) =>
      new Promise((resolve) => {
        const place: Place = { lastEventId: '', retryMs: FIRST_RETRY_MS };
        const options: FollowOptions = {
          signal: parts.signal,
          canResume: true,
          isDone: () => false,
          onMessage,
        };
        void resume(parts, place, options, { mayGiveUp: false, onOpen: resolve }).finally(resolve);
      }),
  };
}

/** Reads a stream to its end. Answers whether anything came. */
async function drink(
  { gate }: FollowerParts,
  response: Response,
  place: Place,
  options: FollowOptions,
): Promise<boolean> {
  let came = false;
  try {
    await readEvents(response, gate, {
      onEvent({ type, data, id }) {
        came = true;
        if (id !== '') place.lastEventId = id;
        if (type === 'message' && data !== '') options.onMessage(readMessage(data));
      },
      onRetry: (ms) => void (place.retryMs = Math.min(ms, MAX_RETRY_MS)),
    });
  } catch (error) {
    // It broke. That is an end like any other, but asking again would only bring the same event.
    if (error instanceof RangeError) place.lastEventId = '';
  }
  return came;
}

/**
 * Goes on as long as there is something to come. A response that is no stream is the server's last
 * word.
 */
async function resume(
  parts: FollowerParts,
  place: Place,
  options: FollowOptions,
  { mayGiveUp, onOpen }: { readonly mayGiveUp: boolean; readonly onOpen: () => void },
): Promise<void> {
  const { signal } = options;
  for (
    let attempt = 0;
    !signal.aborted && !options.isDone() && !(mayGiveUp && attempt >= MAX_ATTEMPTS);
    attempt++
  ) {
    if (attempt > 0 || mayGiveUp)
      await wait(Math.min(place.retryMs * 1.5 ** attempt, MAX_RETRY_MS), signal);
    if (signal.aborted) return;
    const response = await again(parts.caller, place, signal);
    if (response === null) continue;
    if (!response.ok || !isEventStream(response)) return;
    onOpen();
    if (await drink(parts, response, place, options)) attempt = 0;
  }
}

/** Asks for the rest of a stream. `null` where asking once more may bring it. */
async function again(
  caller: Caller,
  { lastEventId }: Place,
  signal: AbortSignal,
): Promise<Response | null> {
  const response = await caller.call({ method: 'GET', lastEventId, signal }).catch(() => null);
  if (response === null || (response.ok && isEventStream(response))) return response;
  await discard(response);
  return response.status >= 500 ? null : response;
}

const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms).unref();
    signal.addEventListener('abort', done);
  });
