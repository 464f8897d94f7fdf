/**
 * One connection to one server: requests under numbers of our own, and each of them answered once.
 */

import { pendingRequests } from '../../system/pending-requests.ts';
import type { Frame, Link } from '../proxy/link.ts';
import { idKey, isRequestId, kindOf, metaOf, refusalMessage, type RequestId } from '../wire.ts';
import { type Edit, editFrame } from './edit-frame.ts';

export interface ConnectionHandlers {
  onRequest(frame: Frame): void;
  onNotification(frame: Frame): void;
  /** It is over. What was open is answered with `null` after this. */
  onGone(why: string): void;
  /** It takes no more now (`true`), or takes more again. */
  onCongestion(isCongested: boolean): void;
  report(problem: string): void;
}

/** Called once: with the answer, or with `null` when there will be none. */
export type OnAnswer = (answer: Frame | null) => void;

export interface Connection {
  /** Rejects where the link cannot be started. */
  start(): Promise<void>;
  /**
   * Sends a request with these changes. `onNumber` is told which number it has there, before
   * anything can come back.
   */
  request(
    frame: Frame,
    edits: readonly Edit[],
    onAnswer: OnAnswer,
    onNumber?: (id: number) => void,
  ): void;
  /** Nobody waits for this answer any more. Answers whether somebody did. */
  forget(id: number): boolean;
  /** Whether progress under this token belongs to something that is open here. */
  hasToken(token: RequestId): boolean;
  /** Progress of a task goes on after the request that began it was answered. */
  keepToken(token: RequestId): void;
  send(frame: Frame): void;
  pause(): void;
  resume(): void;
  /** Ends it, or waits for the end. Never rejects. */
  close(why: string): Promise<void>;
}

/** How much may wait for a server that reads nothing, before it counts as broken. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
const MAX_KEPT_TOKENS = 1000;

interface OpenRequest {
  readonly onAnswer: OnAnswer;
  readonly token: string | null;
}

/**
 * Answers that nobody waits for are dropped: a second one could be taken for the answer to another
 * request.
 */
export function connect(link: Link, handlers: ConnectionHandlers): Connection {
  const open = pendingRequests<OpenRequest>();
  const tokens = tokenSet();
  let lastId = 0;
  let isOver = false;

  const end = (why: string): void => {
    if (isOver) return;
    isOver = true;
    handlers.onGone(why);
    for (const { onAnswer } of open.takeAll()) onAnswer(null);
  };
  let closed: Promise<void> | null = null;
  const close = (why: string): Promise<void> => {
    // Marked before anybody is told: whoever is told closes as well.
    closed ??= Promise.resolve()
      .then(() => link.close())
      .catch(() => handlers.report('could not be closed'));
    end(why);
    return closed;
  };
  const sendWatched = watchedSend(link, handlers, (why) => void close(why));
  const send = (frame: Frame): void => {
    if (!isOver) sendWatched(frame);
  };
  const take = (id: unknown): OpenRequest | undefined => {
    const request = open.take(id);
    if (request !== undefined) tokens.release(request.token);
    return request;
  };
  const onFrame = (frame: Frame): void => {
    if (!isOver) receive(frame, handlers, take);
  };
  const onGarbage = (problem: string, id?: RequestId): void => {
    handlers.report(`sent ${problem}`);
    if (id !== undefined) send({ message: refusalMessage(problem, id) });
  };

  return {
    start: async () => link.start({ onFrame, onGarbage, onClose: end }),
    request(frame, edits, onAnswer, onNumber) {
      if (isOver) return onAnswer(null);
      lastId += 1;
      const id = lastId;
      open.add(id, { onAnswer, token: tokens.hold(metaOf(frame.message).progressToken) });
      onNumber?.(id);
      send(editFrame(frame, [...edits, { path: ['id'], value: id }]));
    },
    forget: (id) => take(id) !== undefined,
    hasToken: (token) => tokens.has(token),
    keepToken: (token) => tokens.keep(token),
    send,
    pause: () => link.pause(),
    resume: () => link.resume(),
    close,
  };
}

/** Gives a frame to its handler, and an answer to the request that it belongs to. */
function receive(
  frame: Frame,
  handlers: ConnectionHandlers,
  take: (id: unknown) => OpenRequest | undefined,
): void {
  const kind = kindOf(frame.message);
  if (kind === 'request') return handlers.onRequest(frame);
  if (kind === 'notification') return handlers.onNotification(frame);
  if (kind === null) return handlers.report('sent something that is no message');
  const request = take(frame.message.id);
  if (request === undefined) handlers.report('answered a request that is not open');
  else request.onAnswer(frame);
}

/** Sends, and tells whether the server keeps up. `onStuck` is told of one that reads nothing. */
function watchedSend(
  link: Link,
  handlers: ConnectionHandlers,
  onStuck: (why: string) => void,
): (frame: Frame) => void {
  let unreadBytes: number | null = null;
  const drained = (): void => {
    if (unreadBytes !== null) handlers.onCongestion(false);
    unreadBytes = null;
  };
  return (frame) => {
    if (link.send(frame)) return drained();
    link.onDrain(drained);
    if (unreadBytes === null) handlers.onCongestion(true);
    unreadBytes = (unreadBytes ?? 0) + JSON.stringify(frame.message).length;
    if (unreadBytes > MAX_UNREAD_BYTES) onStuck('it does not read what is sent to it');
  };
}

/**
 * The progress tokens of what is open, and a bounded number of those that outlive their request.
 */
function tokenSet() {
  const held = new Map<string, number>();
  const kept = new Set<string>();
  return {
    hold(token: unknown): string | null {
      if (!isRequestId(token)) return null;
      const key = idKey(token);
      held.set(key, (held.get(key) ?? 0) + 1);
      return key;
    },
    release(key: string | null): void {
      if (key === null) return;
      const left = (held.get(key) ?? 1) - 1;
      if (left > 0) held.set(key, left);
      else held.delete(key);
    },
    keep(token: RequestId): void {
      kept.add(idKey(token));
      for (const oldest of kept.size > MAX_KEPT_TOKENS ? [...kept].slice(0, 1) : [])
        kept.delete(oldest);
    },
    has: (token: RequestId): boolean => held.has(idKey(token)) || kept.has(idKey(token)),
  };
}
