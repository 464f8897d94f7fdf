/** What goes back over HTTP: one response as JSON, or a stream of events. */

import type { ServerResponse } from 'node:http';
import { exactLine } from '../../core/json/exact-json.ts';
import { CODES, errorMessage, type RequestId, type WireMessage } from '../wire.ts';
import { eventText } from './events.ts';

/** Times of a stream. Tests have shorter ones. */
export interface StreamTimes {
  /**
   * How long a request may stay without an answer before its stream is opened, so that nobody on
   * the way gives up on it.
   */
  readonly openMs: number;
  /** How often an open stream shows that it lives. */
  readonly keepAliveMs: number;
  /**
   * How long somebody may leave unread what was sent. After that the stream is cut, because
   * everybody else waits for it.
   */
  readonly stalledMs: number;
}

export const STREAM_TIMES: StreamTimes = Object.freeze({
  openMs: 5000,
  keepAliveMs: 15_000,
  stalledMs: 30_000,
});

export interface EventStream {
  /** Answers whether more can be taken now. */
  send(message: WireMessage): boolean;
  end(): void;
}

const EVENT_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};
const JSON_HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/**
 * Opens a stream. `onDrain` is told when more can be taken again, which is also so for a stream
 * that is gone.
 */
export function eventStream(
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  times: StreamTimes,
  onDrain: () => void,
): EventStream {
  let stalled: NodeJS.Timeout | undefined;
  response.writeHead(200, { ...EVENT_HEADERS, ...headers });
  response.flushHeaders();
  const beat = setInterval(() => response.write(': alive\n\n'), times.keepAliveMs).unref();
  response.on('drain', () => {
    clearTimeout(stalled);
    stalled = undefined;
    onDrain();
  });
  response.once('close', () => {
    clearInterval(beat);
    clearTimeout(stalled);
    onDrain();
  });
  return {
    send(message) {
      if (response.destroyed || response.writableEnded) return true;
      const took = response.write(eventText(message));
      if (!took) stalled ??= setTimeout(() => response.destroy(), times.stalledMs).unref();
      return took;
    },
    end: () => void response.end(),
  };
}

/**
 * The answer to one request: JSON where the response is all there is, a stream from the first other
 * message on.
 */
export interface OpenResponse {
  send(message: WireMessage): boolean;
  /** Sends the response and ends. */
  answer(message: WireMessage, status: number): void;
  /** Ends without a response. */
  abandon(): void;
}

export interface OpenResponseOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly times: StreamTimes;
  /** The client named the stream first among what it takes. */
  readonly prefersEvents: boolean;
  onDrain(): void;
}

export function openResponse(response: ServerResponse, options: OpenResponseOptions): OpenResponse {
  const { headers, times, prefersEvents } = options;
  let stream: EventStream | null = null;
  const opened = (): EventStream =>
    (stream ??= eventStream(response, headers, times, () => options.onDrain()));
  const isOver = (): boolean => response.destroyed || response.writableEnded;
  const waiting = setTimeout(() => isOver() || opened(), times.openMs).unref();
  response.once('close', () => clearTimeout(waiting));
  return {
    send: (message) => isOver() || opened().send(message),
    answer(message, status) {
      clearTimeout(waiting);
      if (isOver()) return;
      // A status can only be told before a stream was opened.
      if (stream === null && !(prefersEvents && status === 200))
        return sendJson(response, status, message, headers);
      opened().send(message);
      opened().end();
    },
    abandon() {
      clearTimeout(waiting);
      if (isOver()) return;
      if (stream === null)
        sendRefusal(response, { status: 503, message: 'the connection to the server has ended' });
      else stream.end();
    },
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: WireMessage,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(exactLine(body), 'utf8');
  response
    .writeHead(status, { ...JSON_HEADERS, ...headers, 'content-length': String(bytes.length) })
    .end(bytes);
}

export interface RefusedWith {
  readonly status: number;
  readonly message: string;
  readonly code?: number;
  readonly id?: RequestId | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Says no, and nothing about what was asked. */
export function sendRefusal(
  response: ServerResponse,
  { status, message, code, id, headers }: RefusedWith,
): void {
  if (response.headersSent || response.destroyed) return;
  sendJson(
    response,
    status,
    errorMessage(id ?? null, code ?? CODES.invalidRequest, message),
    headers,
  );
}
