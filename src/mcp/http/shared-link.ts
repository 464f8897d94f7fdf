/**
 * Clients of the revisions without sessions: everything of one principal is one link. Two clients
 * may use the same ids at the same time, so that every request gets one of its own on the way in,
 * and its old one back on the way out.
 */

import type { ServerResponse } from 'node:http';
import { isObject } from '../../core/json/json.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { type PendingRequests, pendingRequests } from '../../system/pending-requests.ts';
import type { Frame } from '../proxy/link.ts';
import {
  CODES,
  errorMessage,
  isRequestId,
  kindOf,
  metaOf,
  METHODS,
  notificationMessage,
  paramsOf,
  type RequestId,
  type WireMessage,
} from '../wire.ts';
import { type OpenResponse, openResponse, sendRefusal } from './answer.ts';
import { HEADER_MISMATCH } from './classify.ts';
import {
  type ClientLink,
  type ClientLinkOptions,
  idleTimer,
  type IdleTimer,
  sendAccepted,
} from './client-link.ts';
import { createInbox, type Inbox, inboxLink } from './inbox.ts';

interface OpenRequest {
  readonly reply: OpenResponse;
  /** The client's id of it. */
  readonly id: RequestId;
  /** The id it has in this link. */
  readonly own: number;
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

/** One link while it lives. */
interface Shared {
  readonly options: ClientLinkOptions;
  readonly inbox: Inbox;
  /** By the ids they have in this link. */
  readonly open: PendingRequests<OpenRequest>;
  readonly idle: IdleTimer;
  lastId: number;
  onDrain: () => void;
}

/** Makes the link of one principal, which ends when it is not used for too long. */
export function sharedLink(options: ClientLinkOptions): ClientLink {
  const inbox = createInbox();
  const isBusy = (): boolean => shared.open.size > 0;
  const shared: Shared = {
    options,
    inbox,
    open: pendingRequests(),
    idle: idleTimer(options.idleMs, isBusy, () => end(shared, 'nobody used it for too long')),
    lastId: 0,
    onDrain: () => {},
  };
  return {
    link: inboxLink(inbox, {
      send: (frame, about) => send(shared, frame, about),
      onDrain: (listener) => void (shared.onDrain = listener),
      close: async () => end(shared, 'closed'),
    }),
    ready: () => inbox.ready(),
    isBusy,
    end: (why) => end(shared, why),
    post(frame, response, prefersEvents) {
      const { message } = frame;
      shared.idle.touch();
      if (kindOf(message) === 'request') return request(shared, frame, response, prefersEvents);
      sendAccepted(response);
      // The id in it is one client's own: here it could be another one's request.
      if (message.method !== METHODS.cancelled) inbox.push({ message });
    },
  };
}

function end({ inbox, idle, open, options }: Shared, why: string): void {
  if (!inbox.isOpen()) return;
  idle.stop();
  inbox.end(why);
  for (const { reply } of open.takeAll()) reply.abandon();
  options.onEnd();
}

function request(
  shared: Shared,
  frame: Frame,
  response: ServerResponse,
  prefersEvents: boolean,
): void {
  const { open, inbox, options } = shared;
  const { message } = frame;
  // The kind says that there is one.
  const id = message.id as RequestId;
  if (open.size >= options.maxOpenRequests)
    return sendRefusal(response, { status: 429, message: 'too many requests are open', id });
  const { progressToken, [LOG_LEVEL]: logLevel } = metaOf(message);
  shared.lastId += 1;
  const own = shared.lastId;
  open.add(own, {
    reply: openResponse(response, {
      headers: {},
      times: options.times,
      prefersEvents,
      onDrain: () => shared.onDrain(),
    }),
    id,
    own,
    progressToken: isRequestId(progressToken) ? progressToken : undefined,
    wantsLog: logLevel !== undefined,
  });
  response.once('close', () => {
    // Closing the stream is how a client of these revisions cancels.
    if (open.take(own) !== undefined) inbox.push({ message: cancelled(own) });
  });
  inbox.push({ ...frame, message: withOwnIds(message, own) });
}

function send(shared: Shared, frame: Frame, about: RequestId | undefined): boolean {
  const { inbox } = shared;
  const { message } = frame;
  if (!inbox.isOpen()) return true;
  const kind = kindOf(message);
  if (kind === 'response') return answer(shared, message);
  if (kind === 'request') {
    // The kind says that there is one.
    const id = message.id as RequestId;
    inbox.push({
      message: errorMessage(id, CODES.noMethod, 'clients of this revision take no requests'),
    });
    return true;
  }
  const owner = ownerOf(shared, frame, about);
  return owner === undefined || owner.reply.send(withOldIds(message, owner));
}

function answer({ open }: Shared, message: WireMessage): boolean {
  const asked = open.take(message.id);
  if (asked === undefined) return true;
  const { error } = message;
  const status = isObject(error) ? STATUS_OF_ERROR.get(error.code) : undefined;
  asked.reply.answer(withOldIds(message, asked), status ?? 200);
  return true;
}

/** The request whose stream a notification belongs on. */
function ownerOf(
  { open }: Shared,
  { message, about: origin }: Frame,
  about: RequestId | undefined,
): OpenRequest | undefined {
  const token = message.method === METHODS.progress ? paramsOf(message).progressToken : undefined;
  for (const id of [about, origin, token, metaOf(message)[SUBSCRIPTION]]) {
    const owner = open.get(id);
    if (owner !== undefined) return owner;
  }
  if (message.method !== METHODS.logged) return undefined;
  // A log line that belongs to no request is for a client that asked for a log.
  return open.all().findLast(({ wantsLog }) => wantsLog);
}

const cancelled = (requestId: RequestId): WireMessage =>
  notificationMessage(METHODS.cancelled, {
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

function withOldIds(message: WireMessage, { id, own, progressToken }: OpenRequest): WireMessage {
  const holder = isObject(message.params) ? 'params' : isObject(message.result) ? 'result' : null;
  const renamed: JsonObject = message.id === own ? { ...message, id } : message;
  if (holder === null) return renamed;
  // Either is one, as was just seen.
  let inner = message[holder] as JsonObject;
  if (
    message.method === METHODS.progress &&
    progressToken !== undefined &&
    inner.progressToken === own
  )
    inner = { ...inner, progressToken };
  const meta = inner._meta;
  if (isObject(meta) && meta[SUBSCRIPTION] === own)
    inner = { ...inner, _meta: { ...meta, [SUBSCRIPTION]: id } };
  return inner === message[holder] ? renamed : { ...renamed, [holder]: inner };
}
