/** A client of the revisions with sessions: everything of one session is one link. */

import type { ServerResponse } from 'node:http';
import type { Frame, Link } from '../link.ts';
import {
  CODES,
  errorMessage,
  idKey,
  isRequestId,
  kindOf,
  metaOf,
  objectAt,
  paramsOf,
  type RequestId,
  type WireMessage,
} from '../wire.ts';
import {
  type EventStream,
  type Exchange,
  eventStream,
  openExchange,
  sendRefusal,
} from './answer.ts';
import { LEGACY_VERSIONS } from './classify.ts';
import { type ClientLink, type ClientLinkOptions, idleTimer, sendAccepted } from './client-link.ts';
import { createInbox } from './inbox.ts';

export interface SessionLink extends ClientLink {
  /** A GET: a stream for what belongs to no request. `false` where there are too many. */
  listen(response: ServerResponse): boolean;
  knowsVersion(version: string): boolean;
}

interface OpenRequest {
  readonly exchange: Exchange;
  readonly progressToken: string | null;
  readonly isHandshake: boolean;
}

/** Clients open one. More are for one that lost its first and came back before that was noticed. */
const MAX_STREAMS = 4;

/** What is kept for a client that has no stream open. */
const MAX_QUEUED = 1000;

/** Notifications that never belong to a request. */
const ABOUT_NOTHING =
  /^notifications\/(?:.+\/list_changed|resources\/updated|elicitation\/complete|tasks\/status)$/;

export function sessionLink(sessionId: string, options: ClientLinkOptions): SessionLink {
  const { times, maxOpenRequests, idleMs } = options;
  const inbox = createInbox();
  const open = new Map<string, OpenRequest>();
  const streams: EventStream[] = [];
  const queued: WireMessage[] = [];
  const headers = { 'mcp-session-id': sessionId };
  let negotiated: string | null = null;
  let drained: () => void = () => {};
  const onDrain = (): void => drained();
  const isBusy = (): boolean => open.size > 0 || streams.length > 0;
  const end = (why: string): void => {
    if (!inbox.isOpen()) return;
    idle.stop();
    inbox.end(why);
    for (const { exchange } of open.values()) exchange.abandon();
    for (const stream of streams) stream.end();
    options.onEnd();
  };
  const idle = idleTimer(idleMs, isBusy, () => end('the session was idle for too long'));

  const flush = (target: Pick<EventStream, 'send'>): void => {
    for (const message of queued.splice(0)) target.send(message);
  };

  const request = (
    message: WireMessage,
    response: ServerResponse,
    prefersEvents: boolean,
  ): void => {
    // The kind says that there is one.
    const id = message.id as RequestId;
    const key = idKey(id);
    if (open.has(key))
      return sendRefusal(response, {
        status: 400,
        message: 'a request with this id is still open',
        id,
        headers,
      });
    if (open.size >= maxOpenRequests)
      return sendRefusal(response, {
        status: 429,
        message: 'too many requests are open',
        id,
        headers,
      });
    const exchange = openExchange(response, { headers, times, prefersEvents, onDrain });
    const mine = {
      exchange,
      progressToken: tokenOf(metaOf(message).progressToken),
      isHandshake: message.method === 'initialize',
    };
    open.set(key, mine);
    // A client that goes away has not cancelled what it asked for.
    response.once('close', () => open.get(key) === mine && open.delete(key));
    if (!mine.isHandshake) flush(exchange);
    inbox.push({ message });
  };

  const answer = (message: WireMessage): boolean => {
    const key = isRequestId(message.id) ? idKey(message.id) : '';
    const asked = open.get(key);
    if (asked === undefined) return true;
    open.delete(key);
    asked.exchange.answer(message, 200);
    if (!asked.isHandshake) return true;
    const { protocolVersion } = objectAt(message, 'result');
    if (typeof protocolVersion === 'string') negotiated = protocolVersion;
    else end('the handshake failed');
    return true;
  };

  const targetOf = (
    message: WireMessage,
    about: RequestId | undefined,
  ): Pick<EventStream, 'send'> | undefined => {
    const named = about === undefined ? undefined : open.get(idKey(about));
    const token =
      message.method === 'notifications/progress' ? tokenOf(paramsOf(message).progressToken) : null;
    const owner =
      named ??
      (token === null
        ? undefined
        : [...open.values()].find(({ progressToken }) => progressToken === token));
    const newest = owner ?? [...open.values()].findLast(({ isHandshake }) => !isHandshake);
    const isAboutNothing =
      owner === undefined &&
      typeof message.method === 'string' &&
      ABOUT_NOTHING.test(message.method);
    return isAboutNothing
      ? (streams.at(-1) ?? newest?.exchange)
      : (newest?.exchange ?? streams.at(-1));
  };

  const keep = (message: WireMessage): boolean => {
    if (queued.length < MAX_QUEUED) queued.push(message);
    // Whoever asks must not wait for somebody who does not listen.
    else if (isRequestId(message.id))
      inbox.push({
        message: errorMessage(message.id, CODES.internal, 'the client does not take messages'),
      });
    return true;
  };

  const send = (frame: Frame, about: RequestId | undefined): boolean => {
    if (!inbox.isOpen()) return true;
    const { message } = frame;
    if (kindOf(message) === 'response' || message.method === undefined) return answer(message);
    return targetOf(message, about ?? frame.about)?.send(message) ?? keep(message);
  };

  const link: Link = {
    transport: 'tcp',
    start: async (handlers) => inbox.start(handlers),
    send,
    onDrain: (listener) => void (drained = listener),
    pause: () => inbox.pause(),
    resume: () => inbox.resume(),
    close: async () => end('closed'),
  };

  return {
    link,
    ready: () => inbox.ready(),
    isBusy,
    end,
    knowsVersion: (version) => LEGACY_VERSIONS.includes(version) || version === negotiated,
    post({ message }, response, prefersEvents) {
      idle.touch();
      if (kindOf(message) === 'request') return request(message, response, prefersEvents);
      sendAccepted(response, headers);
      inbox.push({ message });
    },
    listen(response) {
      idle.touch();
      if (streams.length >= MAX_STREAMS) return false;
      const stream = eventStream(response, headers, times, onDrain);
      streams.push(stream);
      response.once('close', () => void streams.splice(streams.indexOf(stream), 1));
      flush(stream);
      return true;
    },
  };
}

const tokenOf = (value: unknown): string | null => (isRequestId(value) ? idKey(value) : null);
