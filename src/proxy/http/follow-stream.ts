/** Streams of an HTTP server, and going on where one broke off. */

import { type MessageReading, readMessage } from '../../core/json-rpc.ts';
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
  /** Opens the stream for what belongs to no request and keeps it open. Resolves when it is open for the first time, or will not be. */
  listen(onMessage: (reading: MessageReading) => void): Promise<void>;
}

interface Place {
  lastEventId: string;
  retryMs: number;
}

const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;

/** How often in a row a stream may break before it is given up. One that belongs to a session is asked for again for as long. */
const MAX_ATTEMPTS = 5;

export function createFollower({
  caller,
  gate,
  signal: life,
}: {
  caller: Caller;
  gate: ReadGate;
  signal: AbortSignal;
}): Follower {
  /** Whether anything came. */
  const drink = async (
    response: Response,
    place: Place,
    options: FollowOptions,
  ): Promise<boolean> => {
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
  };

  const again = async (place: Place, { signal }: FollowOptions): Promise<Response | null> => {
    const response = await caller
      .call({ method: 'GET', lastEventId: place.lastEventId, signal })
      .catch(() => null);
    if (response === null || (response.ok && isEventStream(response))) return response;
    await discard(response);
    return response.status >= 500 ? null : response;
  };

  /** Goes on as long as there is something to come. A response that is no stream is the server's last word. */
  const resume = async (
    place: Place,
    options: FollowOptions,
    mayGiveUp: boolean,
    onOpen: () => void,
  ): Promise<void> => {
    for (
      let attempt = 0;
      !options.signal.aborted && !options.isDone() && !(mayGiveUp && attempt >= MAX_ATTEMPTS);
      attempt++
    ) {
      if (attempt > 0 || mayGiveUp)
        await wait(Math.min(place.retryMs * 1.5 ** attempt, MAX_RETRY_MS), options.signal);
      if (options.signal.aborted) return;
      const response = await again(place, options);
      if (response === null) continue;
      if (!response.ok || !isEventStream(response)) return;
      onOpen();
      if (await drink(response, place, options)) attempt = 0;
    }
  };

  return {
    async follow(response, options) {
      const place: Place = { lastEventId: '', retryMs: FIRST_RETRY_MS };
      await drink(response, place, options);
      if (options.canResume && place.lastEventId !== '')
        await resume(place, options, true, () => {});
    },
    listen: (onMessage) =>
      new Promise((resolve) => {
        const place: Place = { lastEventId: '', retryMs: FIRST_RETRY_MS };
        const options: FollowOptions = {
          signal: life,
          canResume: true,
          isDone: () => false,
          onMessage,
        };
        void resume(place, options, false, resolve).finally(resolve);
      }),
  };
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
