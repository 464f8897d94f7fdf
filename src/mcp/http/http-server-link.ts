/**
 * A link to a server that speaks streamable HTTP, in the revisions with sessions and in those
 * without.
 */

import type { MessageReading } from '../../core/wire/json-rpc.ts';
import { type PendingRequests, pendingRequests } from '../../system/pending-requests.ts';
import type { Frame, Link } from '../proxy/link.ts';
import {
  answerInstead,
  CODES,
  errorMessage,
  kindOf,
  METHODS,
  modernVersionOf,
  objectAt,
  paramsOf,
  type RequestId,
  type WireMessage,
} from '../wire.ts';
import {
  type Caller,
  createCaller,
  discard,
  type HttpServerOptions,
  problemOf,
} from './call-server.ts';
import { createFollower, type Follower } from './follow-stream.ts';
import { createInbox, type Inbox, inboxLink } from './inbox.ts';
import { errorFor, isEventStream, isJson, readWhole } from './read-response.ts';
import { type ParamHeaders, paramHeaders } from './param-headers.ts';

interface OpenRequest {
  readonly id: RequestId;
  readonly message: WireMessage;
  /** What its client repeated in headers, where that is only handed on. */
  readonly repeated: ReadonlyMap<string, string> | undefined;
  readonly abort: AbortController;
}

/** How long the end of a session may take to be told. */
const FAREWELL_MS = 2000;

/**
 * How long the first requests of a session wait for the stream that the server's own messages come
 * in.
 */
const LISTEN_MS = 500;

/** How many messages wait for those before them. */
const MAX_WAITING = 64;

/** What the requests of one link share. */
interface Shared {
  readonly caller: Caller;
  readonly inbox: Inbox;
  readonly params: ParamHeaders;
  /** Aborts with the link. */
  readonly life: AbortController;
  /** Of the requests that are sent and not answered to the end. */
  readonly running: Set<AbortController>;
  readonly open: PendingRequests<OpenRequest>;
  readonly follower: Follower;
  readonly tasks: Tasks;
}

/**
 * Starts nothing until the first message. Every request that is sent gets exactly one answer, also
 * where the server gives none; a message of ours never holds a header, an address, or text of an
 * error. Redirects are followed on the same origin only. A request that the server leaves without a
 * sign of life for five minutes is given up by the `fetch` of Node.
 */
export function httpServerLink(url: string | URL, options: HttpServerOptions = {}): Link {
  const caller = createCaller(new URL(url), options);
  const inbox = createInbox();
  const life = new AbortController();
  const tasks = tasksInOrder();
  const shared: Shared = {
    caller,
    inbox,
    life,
    tasks,
    params: paramHeaders(),
    running: new Set(),
    open: pendingRequests(),
    follower: createFollower({ caller, gate: inbox, signal: life.signal }),
  };
  return inboxLink(inbox, {
    send(frame) {
      const { message } = frame;
      if (!inbox.isOpen() || cancel(shared, message)) return true;
      if (kindOf(message) === 'request') request(shared, frame);
      else tasks.add(() => tell(shared, message));
      return !tasks.isFull();
    },
    onDrain: (listener) => tasks.onDrain(listener),
    async close() {
      const hasSession = caller.sessionId !== null && inbox.isOpen();
      end(shared, 'closed');
      if (!hasSession) return;
      const farewell = caller.call({ method: 'DELETE', signal: AbortSignal.timeout(FAREWELL_MS) });
      await farewell.then(discard).catch(() => {});
    },
  });
}

interface Tasks {
  add(task: () => Promise<void>): void;
  /** Resolves when everything that was added before is done. */
  before(): Promise<unknown>;
  isFull(): boolean;
  onDrain(listener: () => void): void;
}

/**
 * What was accepted before comes first: a server must not see a call before the end of the
 * handshake.
 */
function tasksInOrder(): Tasks {
  let waiting = 0;
  let drained: () => void = () => {};
  let last: Promise<unknown> = Promise.resolve();
  return {
    add(task) {
      waiting += 1;
      last = last.then(task).finally(() => {
        waiting -= 1;
        if (waiting === MAX_WAITING - 1) drained();
      });
    },
    before: () => last,
    isFull: () => waiting >= MAX_WAITING,
    onDrain: (listener) => void (drained = listener),
  };
}

function end({ life, running, inbox }: Shared, why: string): void {
  life.abort();
  for (const abort of running) abort.abort();
  inbox.end(why);
}

function sessionGone(shared: Shared): void {
  shared.caller.sessionId = null;
  end(shared, 'it has ended the session');
}

/** The one answer to a request. Whatever comes after it is dropped. */
function answer(
  { open, params, caller, inbox }: Shared,
  to: OpenRequest,
  message: WireMessage,
): void {
  if (open.get(to.id) !== to) return;
  open.take(to.id);
  const { method } = to.message;
  if (method === METHODS.listTools) params.learn(message);
  const { protocolVersion } = objectAt(message, 'result');
  if (method === METHODS.initialize && typeof protocolVersion === 'string')
    caller.version = protocolVersion;
  inbox.push({ message, about: to.id });
}

const fail = (shared: Shared, request: OpenRequest, problem: string): void =>
  answer(shared, request, errorMessage(request.id, CODES.internal, problem));

/** A message of the server's; `request` is the one whose response it came in, if any. */
function take(shared: Shared, reading: MessageReading, request: OpenRequest | null): void {
  const { inbox } = shared;
  const message = 'message' in reading ? reading.message : answerInstead(reading);
  if (message === null) {
    if (!('message' in reading)) inbox.complain(reading.problem, reading.id);
    return;
  }
  const kind = kindOf(message);
  if (kind === null) inbox.complain('something that is no message');
  else if (kind !== 'response')
    inbox.push(request === null ? { message } : { message, about: request.id });
  else if (request !== null && message.id === request.id) answer(shared, request, message);
  else inbox.complain('an answer on the stream of something else');
}

/** Sends a request once what was accepted before it was sent. */
function request(shared: Shared, { message, paramHeaders: repeated }: Frame): void {
  const made: OpenRequest = {
    // The kind says that there is one.
    id: message.id as RequestId,
    message,
    repeated,
    abort: new AbortController(),
  };
  shared.open.add(made.id, made);
  void shared.tasks
    .before()
    .then(() =>
      shared.life.signal.aborted || made.abort.signal.aborted ? undefined : exchange(shared, made),
    );
}

async function exchange(shared: Shared, request: OpenRequest): Promise<void> {
  const { caller, params, running } = shared;
  const { message, repeated, abort } = request;
  running.add(abort);
  try {
    const response = await caller.call({
      method: 'POST',
      message,
      params: repeated ?? params.of(message),
      signal: abort.signal,
    });
    if (!response.ok) return await refused(shared, request, response);
    if (message.method === METHODS.initialize)
      caller.sessionId = response.headers.get('mcp-session-id');
    await read(shared, request, response);
    fail(shared, request, 'the server did not answer');
  } catch (error) {
    fail(shared, request, problemOf(error));
  } finally {
    running.delete(abort);
  }
}

async function refused(shared: Shared, request: OpenRequest, response: Response): Promise<void> {
  const { status } = response;
  const isModern = modernVersionOf(request.message) !== null;
  const body = isJson(response) ? await readWhole(response, shared.inbox) : null;
  const error = errorFor(request.id, body);
  await discard(response);
  if (error === null) fail(shared, request, problemOfStatus(status));
  else answer(shared, request, error);
  if (status === 404 && shared.caller.sessionId !== null && !isModern) sessionGone(shared);
}

async function read(shared: Shared, request: OpenRequest, response: Response): Promise<void> {
  if (isEventStream(response)) {
    await shared.follower.follow(response, {
      signal: request.abort.signal,
      canResume: modernVersionOf(request.message) === null,
      isDone: () => shared.open.get(request.id) !== request,
      onMessage: (message) => take(shared, message, request),
    });
    return;
  }
  const body = isJson(response) ? await readWhole(response, shared.inbox) : null;
  await discard(response);
  const error = errorFor(request.id, body);
  if (error !== null) answer(shared, request, error);
  else take(shared, body ?? NO_MESSAGE, request);
}

/** Sends what has no answer. */
async function tell(shared: Shared, message: WireMessage): Promise<void> {
  const { caller, life, follower } = shared;
  try {
    const response = await caller.call({ method: 'POST', message, signal: life.signal });
    await discard(response);
    if (response.status === 404 && caller.sessionId !== null) return sessionGone(shared);
    if (message.method !== METHODS.initialized || caller.version === null || !response.ok) return;
    await Promise.race([follower.listen((heard) => take(shared, heard, null)), wait(LISTEN_MS)]);
  } catch {
    // Its sender expects no answer, and the next request will find out.
  }
}

/** Whether the message takes back a request that is open. */
function cancel(shared: Shared, message: WireMessage): boolean {
  if (message.method !== METHODS.cancelled) return false;
  const request = shared.open.take(paramsOf(message).requestId);
  if (request === undefined) return false;
  const { abort } = request;
  // Where there are sessions, a server has to be told: a stream that ends means nothing to it.
  if (modernVersionOf(request.message) === null)
    shared.tasks.add(() => tell(shared, message).finally(() => abort.abort()));
  else abort.abort();
  return true;
}

const NO_MESSAGE: MessageReading = { problem: 'something that is no message', isAnswer: false };

function problemOfStatus(status: number): string {
  if (status === 401 || status === 403) return `the server refused access (HTTP ${status})`;
  if (status >= 300 && status < 400)
    return `the server redirects to another place, which is not followed (HTTP ${status})`;
  return `the server answered with HTTP ${status}`;
}

const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
