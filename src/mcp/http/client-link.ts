/** What the two links of the listener have in common, one for each era. */

import type { ServerResponse } from 'node:http';
import type { Frame, Link } from '../proxy/link.ts';
import type { StreamTimes } from './answer.ts';

/** A link whose other side speaks in HTTP requests. */
export interface ClientLink {
  readonly link: Link;
  /**
   * A message that was POSTed. Its response is answered sooner or later, whatever the message is.
   */
  post(frame: Frame, response: ServerResponse, prefersEvents: boolean): void;
  /** Resolves when more messages can be taken. */
  ready(): Promise<void>;
  /** Whether somebody waits for something. */
  isBusy(): boolean;
  end(why: string): void;
}

export interface ClientLinkOptions {
  readonly times: StreamTimes;
  /** How many requests may be open at once. */
  readonly maxOpenRequests: number;
  /** After this long without a request, and without anybody who waits, the link ends. */
  readonly idleMs: number;
  onEnd(): void;
}

export interface IdleTimer {
  /** It is used now. */
  touch(): void;
  stop(): void;
}

/** Ends what is not used, unless it is busy. */
export function idleTimer(idleMs: number, isBusy: () => boolean, onIdle: () => void): IdleTimer {
  const timer = setTimeout(() => (isBusy() ? timer.refresh() : onIdle()), idleMs).unref();
  return { touch: () => void timer.refresh(), stop: () => clearTimeout(timer) };
}

/** A notification or a response is taken, and that is all there is to say about it. */
export const sendAccepted = (
  response: ServerResponse,
  headers: Readonly<Record<string, string>> = {},
): void => void response.writeHead(202, headers).end();
