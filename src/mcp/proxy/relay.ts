/** Two links and the messages between them. A message that no hook takes is forwarded. */

import { describeThrown } from '../../core/contract/errors.ts';
import { type PendingRequests, pendingRequests } from '../../system/pending-requests.ts';
import { type Frame, type Incoming, type Link, readIncoming } from './link.ts';
import { refusalOf } from './doubtful-message.ts';
import {
  answerInstead,
  CODES,
  errorMessage,
  METHODS,
  refusalMessage,
  type RequestId,
  type WireMessage,
} from '../wire.ts';

/** Look at messages before they are forwarded. `true` says that a message was dealt with. */
export interface RelayHooks {
  fromClient?(incoming: Incoming): boolean;
  fromServer?(incoming: Incoming): boolean;
  /**
   * The server is gone. Requests that a hook took are answered now; the client link closes
   * afterwards.
   */
  onServerGone?(why: string): Promise<void>;
  /** The client is gone: no request needs an answer any more. */
  onClientGone?(): void;
}

export interface Relay {
  toClient(message: WireMessage, about?: RequestId): void;
  toServer(message: WireMessage): void;
  /** A request of the client that was forwarded and not answered yet. */
  isOpen(id: RequestId): boolean;
  /** Resolves when both sides are closed, with why. */
  readonly ended: Promise<RelayEnd>;
  close(): Promise<void>;
}

export interface RelayEnd {
  readonly by: 'client' | 'server' | 'close';
  readonly why: string;
}

/**
 * How often a server is told that a request of its own was refused. A server that never reads these
 * answers would fill the memory of this process.
 */
const MAX_REFUSED = 1000;

/** One relay while it runs. */
interface Running {
  readonly client: Link;
  readonly server: Link;
  readonly hooks: RelayHooks;
  readonly report: (problem: string) => void;
  /** Ids of requests of the client that were forwarded. */
  readonly open: PendingRequests<RequestId>;
  readonly finish: (end: RelayEnd) => void;
  /** How often the server was told that a request of its own was refused. */
  refused: number;
  isOver: boolean;
}

/**
 * Starts both links. A client that leaves ends the server; a server that leaves has every open
 * request answered for it, and ends the connection. `report` is told what was dropped, without its
 * content.
 */
export async function relay(
  client: Link,
  server: Link,
  hooks: RelayHooks,
  report: (problem: string) => void,
): Promise<Relay> {
  let finish: (end: RelayEnd) => void = () => {};
  const ended = new Promise<RelayEnd>((resolve) => void (finish = resolve));
  const open = pendingRequests<RequestId>();
  const running: Running = {
    client,
    server,
    hooks,
    report,
    open,
    finish,
    refused: 0,
    isOver: false,
  };
  await server.start({
    onFrame: (frame) => fromServer(running, frame),
    onGarbage: (problem, id) => refuseServer(running, problem, id),
    onClose: (why) => end(running, { by: 'server', why }),
  });
  await client.start({
    onFrame: (frame) => fromClient(running, frame),
    onGarbage: (problem, id) => refuseClient(running, problem, id),
    onClose: (why) => end(running, { by: 'client', why }),
  });
  return {
    toClient: (message, about) => void client.send({ message }, about),
    toServer: (message) => void server.send({ message }),
    isOpen: (id) => open.get(id) !== undefined,
    ended,
    async close() {
      end(running, { by: 'close', why: 'closed' });
      await ended;
    },
  };
}

function end(running: Running, { by, why }: RelayEnd): void {
  const { client, server, hooks, open, finish } = running;
  if (running.isOver) return;
  running.isOver = true;
  if (by !== 'server') hooks.onClientGone?.();
  const unanswered = open.takeAll();
  for (const id of by === 'server' ? unanswered : [])
    client.send({ message: errorMessage(id, CODES.internal, `the server is gone: ${why}`) });
  void (async () => {
    if (by === 'server') await hooks.onServerGone?.(why);
    await Promise.allSettled([client.close(), server.close()]);
    finish({ by, why });
  })();
}

function refuseServer(running: Running, problem: string, id?: RequestId): void {
  running.report(`the server sent ${problem}`);
  if (id === undefined || running.refused >= MAX_REFUSED) return;
  running.refused += 1;
  running.server.send({ message: refusalMessage(problem, id) });
}

function refuseClient({ client, report }: Running, problem: string, id?: RequestId): void {
  report(`the client sent ${problem}`);
  client.send({ message: refusalMessage(problem, id) });
}

function fromClient(running: Running, given: Frame): void {
  const { client, server, open } = running;
  const frame = unmistakable(running, given, refuseClient);
  if (frame === null) return;
  const incoming = readIncoming(frame);
  if (incoming === null) return refuseUnread(client, frame.message);
  const { kind, id, method, params } = incoming;
  const outcome = offer(running, 'fromClient', incoming);
  if (outcome === 'failed' && kind === 'request') refuseUnread(client, frame.message);
  if (outcome !== 'left') return;
  if (kind === 'request') open.add(id, id);
  // A cancelled request gets no answer, also if the server dies.
  if (method === METHODS.cancelled) open.take(params.requestId);
  forward(client, server, frame);
}

function fromServer(running: Running, given: Frame): void {
  const { client, server, open, report } = running;
  const frame = unmistakable(running, given, refuseServer);
  if (frame === null) return;
  const incoming = readIncoming(frame);
  if (incoming === null) return report('the server sent something that is no message');
  if (offer(running, 'fromServer', incoming) !== 'left') return;
  // A second answer, or one that was not asked for, could be taken for the answer to another
  // request.
  if (incoming.kind === 'response' && open.take(incoming.id) === undefined)
    return report('the server answered a request that is not open');
  forward(server, client, frame);
}

/** A message that a hook fails on goes nowhere, and ends nothing else. */
function offer(
  { hooks, report }: Running,
  hook: 'fromClient' | 'fromServer',
  incoming: Incoming,
): 'handled' | 'left' | 'failed' {
  try {
    return hooks[hook]?.(incoming) === true ? 'handled' : 'left';
  } catch (thrown) {
    report(`a message could not be handled: ${describeThrown(thrown)}`);
    return 'failed';
  }
}

/**
 * The frame where every reader takes it for the same message; an error in the place of an answer
 * of which that is not so; `null` for any other, which is refused.
 */
function unmistakable(
  running: Running,
  frame: Frame,
  refuse: (running: Running, problem: string, id?: RequestId) => void,
): Frame | null {
  const refused = refusalOf(frame.message);
  if (refused === null) return frame;
  const message = answerInstead(refused);
  if (message !== null)
    return { message, ...(frame.about === undefined ? {} : { about: frame.about }) };
  refuse(running, refused.problem, refused.id);
  return null;
}

function forward(from: Link, to: Link, frame: Frame): void {
  if (to.send(frame)) return;
  from.pause();
  to.onDrain(() => from.resume());
}

/** What cannot be read cannot be governed, so it goes nowhere. */
function refuseUnread(client: Link, { id }: WireMessage): void {
  const known = typeof id === 'string' || typeof id === 'number' ? id : null;
  client.send({
    message: errorMessage(
      known,
      CODES.invalidRequest,
      'allium was sent something that is no JSON-RPC 2.0 message',
    ),
  });
}
