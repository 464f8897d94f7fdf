/** A link to a server that speaks streamable HTTP, in the revisions with sessions and in those without. */

import type { MessageReading } from '../../core/json-rpc.ts';
import type { Frame, Link, LinkHandlers } from '../link.ts';
import {
  answerInstead,
  CODES,
  errorMessage,
  idKey,
  isRequestId,
  kindOf,
  modernVersionOf,
  objectAt,
  paramsOf,
  type RequestId,
  type WireMessage,
} from '../wire.ts';
import { createCaller, discard, type HttpServerOptions, problemOf } from './call-server.ts';
import { createFollower, type Follower } from './follow-stream.ts';
import { createInbox } from './inbox.ts';
import { errorFor, isEventStream, isJson, readWhole } from './read-response.ts';
import { paramHeaders } from './param-headers.ts';

interface OpenRequest {
  readonly id: RequestId;
  readonly message: WireMessage;
  /** What its client repeated in headers, where that is only handed on. */
  readonly repeated: ReadonlyMap<string, string> | undefined;
  readonly abort: AbortController;
}

/** How long the end of a session may take to be told. */
const FAREWELL_MS = 2000;

/** How long the first requests of a session wait for the stream that the server's own messages come in. */
const LISTEN_MS = 500;

/** How many messages wait for those before them. */
const MAX_WAITING = 64;

/**
 * Starts nothing until the first message. Every request that is sent gets exactly one answer, also where the server gives none; a
 * message of ours never holds a header, an address, or text of an error. Redirects are followed on the same origin only. A request
 * that the server leaves without a sign of life for five minutes is given up by the `fetch` of Node.
 */
export function httpServerLink(url: string | URL, options: HttpServerOptions = {}): Link {
  const caller = createCaller(new URL(url), options);
  const inbox = createInbox();
  const params = paramHeaders();
  const life = new AbortController();
  const running = new Set<AbortController>();
  const open = new Map<string, OpenRequest>();
  let waiting = 0;
  let drained: () => void = () => {};
  let before: Promise<unknown> = Promise.resolve();

  const end = (why: string): void => {
    life.abort();
    for (const abort of running) abort.abort();
    inbox.end(why);
  };
  const sessionGone = (): void => {
    caller.sessionId = null;
    end('it has ended the session');
  };
  const follower: Follower = createFollower({ caller, gate: inbox, signal: life.signal });

  /** The one answer to a request. Whatever comes after it is dropped. */
  const answer = (request: OpenRequest, message: WireMessage): void => {
    const key = idKey(request.id);
    if (open.get(key) !== request) return;
    open.delete(key);
    if (request.message.method === 'tools/list') params.learn(message);
    const { protocolVersion } = objectAt(message, 'result');
    if (request.message.method === 'initialize' && typeof protocolVersion === 'string')
      caller.version = protocolVersion;
    inbox.push({ message, about: request.id });
  };
  const fail = (request: OpenRequest, problem: string): void =>
    answer(request, errorMessage(request.id, CODES.internal, problem));

  const take = (reading: MessageReading, request: OpenRequest | null): void => {
    if (!('message' in reading) && answerInstead(reading) === null)
      return inbox.complain(reading.problem, reading.id);
    const message = 'message' in reading ? reading.message : (answerInstead(reading) ?? {});
    if (kindOf(message) !== 'response') {
      if (kindOf(message) === null) inbox.complain('something that is no message');
      else inbox.push(request === null ? { message } : { message, about: request.id });
    } else if (request !== null && message.id === request.id) answer(request, message);
    else inbox.complain('an answer on the stream of something else');
  };

  const refused = async (request: OpenRequest, response: Response): Promise<void> => {
    const { status } = response;
    const isModern = modernVersionOf(request.message) !== null;
    const told = errorFor(request.id, isJson(response) ? await readWhole(response, inbox) : null);
    await discard(response);
    if (told === null) fail(request, problemOfStatus(status));
    else answer(request, told);
    if (status === 404 && caller.sessionId !== null && !isModern) sessionGone();
  };

  const read = async (request: OpenRequest, response: Response): Promise<void> => {
    if (isEventStream(response)) {
      await follower.follow(response, {
        signal: request.abort.signal,
        canResume: modernVersionOf(request.message) === null,
        isDone: () => open.get(idKey(request.id)) !== request,
        onMessage: (message) => take(message, request),
      });
      return;
    }
    const body = isJson(response) ? await readWhole(response, inbox) : null;
    await discard(response);
    const told = errorFor(request.id, body);
    if (told !== null) answer(request, told);
    else take(body ?? NO_MESSAGE, request);
  };

  const exchange = async (request: OpenRequest): Promise<void> => {
    const { message, repeated, abort } = request;
    running.add(abort);
    try {
      const response = await caller.call({
        method: 'POST',
        message,
        params: repeated ?? params.of(message),
        signal: abort.signal,
      });
      if (!response.ok) return await refused(request, response);
      if (message.method === 'initialize')
        caller.sessionId = response.headers.get('mcp-session-id');
      await read(request, response);
      fail(request, 'the server did not answer');
    } catch (error) {
      fail(request, problemOf(error));
    } finally {
      running.delete(abort);
    }
  };

  const tell = async (message: WireMessage): Promise<void> => {
    try {
      const response = await caller.call({ method: 'POST', message, signal: life.signal });
      await discard(response);
      if (response.status === 404 && caller.sessionId !== null) return sessionGone();
      if (message.method !== 'notifications/initialized' || caller.version === null || !response.ok)
        return;
      await Promise.race([follower.listen((heard) => take(heard, null)), wait(LISTEN_MS)]);
    } catch {
      // Whoever sends it expects no answer, and the next request will find out.
    }
  };

  const cancel = (message: WireMessage): boolean => {
    const { requestId } = paramsOf(message);
    const request =
      message.method === 'notifications/cancelled' && isRequestId(requestId)
        ? open.get(idKey(requestId))
        : undefined;
    if (request === undefined) return false;
    open.delete(idKey(request.id));
    // Where there are sessions, a server has to be told: a stream that ends means nothing to it.
    if (modernVersionOf(request.message) === null)
      inOrder(() => tell(message).finally(() => request.abort.abort()));
    else request.abort.abort();
    return true;
  };

  /** What was accepted before comes first: a server must not see a call before the end of the handshake. */
  const inOrder = (task: () => Promise<void>): void => {
    waiting += 1;
    before = before.then(task).finally(() => {
      waiting -= 1;
      if (waiting === MAX_WAITING - 1) drained();
    });
  };

  const request = ({ message, paramHeaders: repeated }: Frame): void => {
    // The kind says that there is one.
    const made: OpenRequest = {
      id: message.id as RequestId,
      message,
      repeated,
      abort: new AbortController(),
    };
    open.set(idKey(made.id), made);
    void before.then(() =>
      life.signal.aborted || made.abort.signal.aborted ? undefined : exchange(made),
    );
  };

  return {
    transport: 'tcp',
    start: async (handlers: LinkHandlers) => inbox.start(handlers),
    send(frame) {
      const { message } = frame;
      if (!inbox.isOpen() || cancel(message)) return true;
      if (kindOf(message) === 'request') request(frame);
      else inOrder(() => tell(message));
      return waiting < MAX_WAITING;
    },
    onDrain: (listener) => void (drained = listener),
    pause: () => inbox.pause(),
    resume: () => inbox.resume(),
    async close() {
      const hasSession = caller.sessionId !== null && inbox.isOpen();
      end('closed');
      if (!hasSession) return;
      const farewell = caller.call({ method: 'DELETE', signal: AbortSignal.timeout(FAREWELL_MS) });
      await farewell.then(discard).catch(() => {});
    },
  };
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
