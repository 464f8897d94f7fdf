/**
 * Clients of the revisions without sessions: everything of one principal is one link. Two clients may use the same ids at the same
 * time, so that every request gets one of its own on the way in, and its old one back on the way out.
 */

import type { ServerResponse } from 'node:http';
import type { JsonObject } from '../../core/json.ts';
import { isObject } from '../../core/json.ts';
import type { Frame, Link } from '../link.ts';
import {
  CODES,
  errorMessage,
  isRequestId,
  kindOf,
  metaOf,
  notificationMessage,
  paramsOf,
  type RequestId,
  type WireMessage,
} from '../wire.ts';
import { type Exchange, openExchange, sendRefusal } from './answer.ts';
import { HEADER_MISMATCH } from './classify.ts';
import { type ClientLink, type ClientLinkOptions, idleTimer, sendAccepted } from './client-link.ts';
import { createInbox } from './inbox.ts';

interface OpenRequest {
  readonly exchange: Exchange;
  readonly id: RequestId;
  readonly progressToken: RequestId | undefined;
  readonly wantsLog: boolean;
}

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** Errors that the protocol wants to be seen in the HTTP status, too. */
const STATUS_OF_ERROR: ReadonlyMap<unknown, number> = new Map([
  [CODES.parse, 400],
  [CODES.invalidRequest, 400],
  [CODES.noMethod, 404],
  [HEADER_MISMATCH, 400],
  [-32_021, 400],
  [-32_022, 400],
]);

export function sharedLink(options: ClientLinkOptions): ClientLink {
  const { times, maxOpenRequests, idleMs } = options;
  const inbox = createInbox();
  const open = new Map<RequestId, OpenRequest>();
  let lastId = 0;
  let drained: () => void = () => {};
  const isBusy = (): boolean => open.size > 0;
  const end = (why: string): void => {
    if (!inbox.isOpen()) return;
    idle.stop();
    inbox.end(why);
    for (const { exchange } of open.values()) exchange.abandon();
    open.clear();
    options.onEnd();
  };
  const idle = idleTimer(idleMs, isBusy, () => end('nobody used it for too long'));

  const request = (frame: Frame, response: ServerResponse, prefersEvents: boolean): void => {
    const { message } = frame;
    // The kind says that there is one.
    const id = message.id as RequestId;
    if (open.size >= maxOpenRequests)
      return sendRefusal(response, { status: 429, message: 'too many requests are open', id });
    const { progressToken, [LOG_LEVEL]: logLevel } = metaOf(message);
    const exchange = openExchange(response, {
      headers: {},
      times,
      prefersEvents,
      onDrain: () => drained(),
    });
    const own = ++lastId;
    open.set(own, {
      exchange,
      id,
      progressToken: isRequestId(progressToken) ? progressToken : undefined,
      wantsLog: logLevel !== undefined,
    });
    response.once('close', () => {
      // Closing the stream is how a client of these revisions cancels.
      if (open.delete(own)) inbox.push({ message: cancelled(own) });
    });
    inbox.push({ ...frame, message: withOwnIds(message, own) });
  };

  const ownerOf = (
    { message, about: origin }: Frame,
    about: RequestId | undefined,
  ): RequestId | undefined => {
    const token =
      message.method === 'notifications/progress' ? paramsOf(message).progressToken : undefined;
    const named = [about, origin, token, metaOf(message)[SUBSCRIPTION]];
    const owner = named.find((id): id is RequestId => isRequestId(id) && open.has(id));
    if (owner !== undefined || message.method !== 'notifications/message') return owner;
    // A log line that names nobody is for those who asked for a log.
    return [...open].findLast(([, { wantsLog }]) => wantsLog)?.[0];
  };

  const send = (frame: Frame, about: RequestId | undefined): boolean => {
    const { message } = frame;
    if (!inbox.isOpen()) return true;
    if (kindOf(message) === 'response') return answer(message);
    if (kindOf(message) === 'request') {
      inbox.push({
        message: errorMessage(
          message.id as RequestId,
          CODES.noMethod,
          'clients of this revision take no requests',
        ),
      });
      return true;
    }
    const own = ownerOf(frame, about);
    const owner = own === undefined ? undefined : open.get(own);
    return (
      own === undefined ||
      owner === undefined ||
      owner.exchange.send(withOldIds(message, own, owner))
    );
  };

  const answer = (message: WireMessage): boolean => {
    // The kind says that there is one.
    const own = message.id as RequestId;
    const asked = open.get(own);
    if (asked === undefined) return true;
    open.delete(own);
    const { error } = message;
    asked.exchange.answer(
      withOldIds(message, own, asked),
      (isObject(error) ? STATUS_OF_ERROR.get(error.code) : undefined) ?? 200,
    );
    return true;
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
    post(frame, response, prefersEvents) {
      const { message } = frame;
      idle.touch();
      if (kindOf(message) === 'request') return request(frame, response, prefersEvents);
      sendAccepted(response);
      // The id in it is one client's own: here it could be another one's request.
      if (message.method !== 'notifications/cancelled') inbox.push({ message });
    },
  };
}

const cancelled = (requestId: RequestId): WireMessage =>
  notificationMessage('notifications/cancelled', {
    requestId,
    reason: 'the client closed the stream',
  });

function withOwnIds(message: WireMessage, own: RequestId): WireMessage {
  const meta = metaOf(message);
  if (!isRequestId(meta.progressToken)) return { ...message, id: own };
  return {
    ...message,
    id: own,
    params: { ...paramsOf(message), _meta: { ...meta, progressToken: own } },
  };
}

function withOldIds(
  message: WireMessage,
  own: RequestId,
  { id, progressToken }: OpenRequest,
): WireMessage {
  const holder = isObject(message.params) ? 'params' : isObject(message.result) ? 'result' : null;
  const renamed: JsonObject = message.id === own ? { ...message, id } : message;
  if (holder === null) return renamed;
  // Either is one, as was just seen.
  let inner = message[holder] as JsonObject;
  if (
    message.method === 'notifications/progress' &&
    progressToken !== undefined &&
    inner.progressToken === own
  )
    inner = { ...inner, progressToken };
  const meta = inner._meta;
  if (isObject(meta) && meta[SUBSCRIPTION] === own)
    inner = { ...inner, _meta: { ...meta, [SUBSCRIPTION]: id } };
  return inner === message[holder] ? renamed : { ...renamed, [holder]: inner };
}
