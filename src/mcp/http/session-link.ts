/** A client of the revisions with sessions: everything of one session is one link. */

import type { ServerResponse } from 'node:http';
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
  objectAt,
  paramsOf,
  type RequestId,
  type WireMessage,
} from '../wire.ts';
import {
  type EventStream,
  eventStream,
  type OpenResponse,
  openResponse,
  sendRefusal,
} from './answer.ts';
import { LEGACY_VERSIONS } from './classify.ts';
import {
  type ClientLink,
  type ClientLinkOptions,
  idleTimer,
  type IdleTimer,
  sendAccepted,
} from './client-link.ts';
import { createInbox, type Inbox, inboxLink } from './inbox.ts';

export interface SessionLink extends ClientLink {
  /** A GET: a stream for what belongs to no request. `false` where there are too many. */
  listen(response: ServerResponse): boolean;
  knowsVersion(version: string): boolean;
}

interface OpenRequest {
  readonly reply: OpenResponse;
  readonly progressToken: RequestId | null;
  readonly isHandshake: boolean;
}

/** Clients open one. More are for one that lost its first and came back before that was noticed. */
const MAX_STREAMS = 4;

/** What is kept for a client that has no stream open. */
const MAX_QUEUED = 1000;

/** Notifications that never belong to a request. */
const ABOUT_NOTHING =
  /^notifications\/(?:.+\/list_changed|resources\/updated|elicitation\/complete|tasks\/status)$/;

/** One session while it lives. */
interface Session {
  readonly options: ClientLinkOptions;
  /** Of every response. */
  readonly headers: Readonly<Record<string, string>>;
  readonly inbox: Inbox;
  readonly open: PendingRequests<OpenRequest>;
  readonly streams: EventStream[];
  readonly queued: WireMessage[];
  readonly idle: IdleTimer;
  /** The revision of the handshake; `null` before it. */
  negotiated: string | null;
  onDrain: () => void;
}

/** Makes the link of one session, which ends when it is idle for too long. */
export function sessionLink(sessionId: string, options: ClientLinkOptions): SessionLink {
  const inbox = createInbox();
  const isBusy = (): boolean => session.open.size > 0 || session.streams.length > 0;
  const session: Session = {
    options,
    inbox,
    headers: { 'mcp-session-id': sessionId },
    open: pendingRequests(),
    streams: [],
    queued: [],
    idle: idleTimer(options.idleMs, isBusy, () =>
      end(session, 'the session was idle for too long'),
    ),
    negotiated: null,
    onDrain: () => {},
  };
  const { headers, streams, idle } = session;
  return {
    link: inboxLink(inbox, {
      send: (frame, about) => send(session, frame, about),
      onDrain: (listener) => void (session.onDrain = listener),
      close: async () => end(session, 'closed'),
    }),
    ready: () => inbox.ready(),
    isBusy,
    end: (why) => end(session, why),
    knowsVersion: (version) => LEGACY_VERSIONS.includes(version) || version === session.negotiated,
    post({ message }, response, prefersEvents) {
      idle.touch();
      if (kindOf(message) === 'request') return request(session, message, response, prefersEvents);
      sendAccepted(response, headers);
      inbox.push({ message });
    },
    listen(response) {
      idle.touch();
      if (streams.length >= MAX_STREAMS) return false;
      const stream = eventStream(response, headers, options.times, () => session.onDrain());
      streams.push(stream);
      response.once('close', () => void streams.splice(streams.indexOf(stream), 1));
      flush(session, stream);
      return true;
    },
  };
}

function end({ inbox, idle, open, streams, options }: Session, why: string): void {
  if (!inbox.isOpen()) return;
  idle.stop();
  inbox.end(why);
  for (const { reply } of open.all()) reply.abandon();
  for (const stream of streams) stream.end();
  options.onEnd();
}

/** What a message can be sent on. */
type Target = Pick<EventStream, 'send'>;

function flush({ queued }: Session, target: Target): void {
  for (const message of queued.splice(0)) target.send(message);
}

function request(
  session: Session,
  message: WireMessage,
  response: ServerResponse,
  prefersEvents: boolean,
): void {
  const { open, headers, inbox, options } = session;
  // The kind says that there is one.
  const id = message.id as RequestId;
  const refuse = (status: number, why: string): void =>
    sendRefusal(response, { status, message: why, id, headers });
  if (open.get(id) !== undefined) return refuse(400, 'a request with this id is still open');
  if (open.size >= options.maxOpenRequests) return refuse(429, 'too many requests are open');
  const mine: OpenRequest = {
    reply: openResponse(response, {
      headers,
      times: options.times,
      prefersEvents,
      onDrain: () => session.onDrain(),
    }),
    progressToken: tokenIn(metaOf(message)),
    isHandshake: message.method === METHODS.initialize,
  };
  open.add(id, mine);
  // A client that goes away has not cancelled what it asked for.
  response.once('close', () => open.get(id) === mine && open.take(id));
  if (!mine.isHandshake) flush(session, mine.reply);
  inbox.push({ message });
}

function send(session: Session, frame: Frame, about: RequestId | undefined): boolean {
  if (!session.inbox.isOpen()) return true;
  const { message } = frame;
  if (kindOf(message) === 'response' || message.method === undefined)
    return answer(session, message);
  const target = targetOf(session, message, about ?? frame.about);
  return target === undefined ? keep(session, message) : target.send(message);
}

function answer(session: Session, message: WireMessage): boolean {
  const asked = session.open.take(message.id);
  if (asked === undefined) return true;
  asked.reply.answer(message, 200);
  if (!asked.isHandshake) return true;
  const { protocolVersion } = objectAt(message, 'result');
  if (typeof protocolVersion === 'string') session.negotiated = protocolVersion;
  else end(session, 'the handshake failed');
  return true;
}

/**
 * The request that a message belongs to, and else the newest one; for what belongs to none, a
 * stream of its own.
 */
function targetOf(
  { open, streams }: Session,
  message: WireMessage,
  about: RequestId | undefined,
): Target | undefined {
  const { method } = message;
  const requests = open.all();
  const token = method === METHODS.progress ? tokenIn(paramsOf(message)) : null;
  const withToken = requests.find(({ progressToken }) => token !== null && progressToken === token);
  const owner = open.get(about) ?? withToken;
  if (owner !== undefined) return owner.reply;
  const newest = requests.findLast(({ isHandshake }) => !isHandshake)?.reply;
  const stream = streams.at(-1);
  const isAboutNothing = typeof method === 'string' && ABOUT_NOTHING.test(method);
  return isAboutNothing ? (stream ?? newest) : (newest ?? stream);
}

function keep({ queued, inbox }: Session, message: WireMessage): boolean {
  if (queued.length < MAX_QUEUED) queued.push(message);
  // A server that asks must not wait for a client that does not listen.
  else if (isRequestId(message.id))
    inbox.push({
      message: errorMessage(message.id, CODES.internal, 'the client does not take messages'),
    });
  return true;
}

const tokenIn = ({ progressToken }: JsonObject): RequestId | null =>
  isRequestId(progressToken) ? progressToken : null;
