/** Two links, and what goes between them. Whatever no hook takes is forwarded as the message it was read as. */

import { describeThrown } from '../core/errors.ts';
import type { Frame, Link, LinkHandlers } from './link.ts';
import { refusalOf } from './doubtful-message.ts';
import {
  answerInstead,
  CODES,
  errorMessage,
  idKey,
  isRequestId,
  kindOf,
  paramsOf,
  refusalMessage,
  type RequestId,
  type WireMessage,
} from './wire.ts';

/** Who looks at frames before they are forwarded. `true` says that a frame was dealt with. */
export interface RelayHooks {
  fromClient?(frame: Frame): boolean;
  fromServer?(frame: Frame): boolean;
  /** The server is gone. What was taken has to be answered now; the client is there until this is done. */
  onServerGone?(why: string): Promise<void>;
  /** The client is gone: nobody waits for anything any more. */
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

/** How often a server is told that a request of its own was refused. One that goes on need not read it, and what it does not read is kept here. */
const MAX_TOLD = 1000;

/**
 * Starts both links. A client that leaves ends the server; a server that leaves has every open request answered for it, and ends the
 * connection. `report` is told what was dropped, without its content.
 */
export async function relay(
  client: Link,
  server: Link,
  hooks: RelayHooks,
  report: (problem: string) => void,
): Promise<Relay> {
  const open = new Map<string, RequestId>();
  let finish: (end: RelayEnd) => void = () => {};
  const ended = new Promise<RelayEnd>((resolve) => void (finish = resolve));
  let isOver = false;
  let told = 0;

  const end = (by: RelayEnd['by'], why: string): void => {
    if (isOver) return;
    isOver = true;
    if (by !== 'server') hooks.onClientGone?.();
    else
      for (const id of open.values())
        client.send({ message: errorMessage(id, CODES.internal, `the server is gone: ${why}`) });
    open.clear();
    void (async () => {
      if (by === 'server') await hooks.onServerGone?.(why);
      await Promise.allSettled([client.close(), server.close()]);
      finish({ by, why });
    })();
  };

  const garbageOfServer = (problem: string, id?: RequestId): void => {
    report(`the server sent ${problem}`);
    if (id === undefined || told >= MAX_TOLD) return;
    told += 1;
    server.send({ message: refusalMessage(problem, id) });
  };
  const garbageOfClient = (problem: string, id?: RequestId): void => {
    report(`the client sent ${problem}`);
    client.send({ message: refusalMessage(problem, id) });
  };
  const forget = (id: unknown): void => {
    if (isRequestId(id)) open.delete(idKey(id));
  };
  const forward = (from: Link, to: Link, frame: Frame): void => {
    if (to.send(frame)) return;
    from.pause();
    to.onDrain(() => from.resume());
  };

  /** Whatever cannot be handled goes nowhere, and ends nothing else. */
  const taken = (hook: () => boolean, orElse: () => unknown = () => {}): boolean => {
    try {
      return hook();
    } catch (thrown) {
      report(`a message could not be handled: ${describeThrown(thrown)}`);
      orElse();
      return true;
    }
  };

  /** The frame where every reader takes it for the same message; an error in the place of an answer of which that is not so. */
  const unmistakable = (frame: Frame, onGarbage: LinkHandlers['onGarbage']): Frame | null => {
    const refused = refusalOf(frame.message);
    if (refused === null) return frame;
    const answer = answerInstead(refused);
    if (answer === null) onGarbage(refused.problem, refused.id);
    return answer === null
      ? null
      : { message: answer, ...(frame.about === undefined ? {} : { about: frame.about }) };
  };

  const fromClient = (given: Frame): void => {
    const frame = unmistakable(given, garbageOfClient);
    if (frame === null) return;
    const { message } = frame;
    const kind = kindOf(message);
    if (kind === null) return refuse(client, message);
    if (
      taken(
        () => hooks.fromClient?.(frame) === true,
        () => kind === 'request' && refuse(client, message),
      )
    )
      return;
    // It has just been seen to be a request, and those have an id.
    if (kind === 'request') open.set(idKey(message.id as RequestId), message.id as RequestId);
    // Whoever takes a request back gets no answer, and nobody has to make one up.
    if (message.method === 'notifications/cancelled') forget(paramsOf(message).requestId);
    forward(client, server, frame);
  };

  const fromServer = (given: Frame): void => {
    const frame = unmistakable(given, garbageOfServer);
    if (frame === null) return;
    const { message } = frame;
    const kind = kindOf(message);
    if (kind === null) return report('the server sent something that is no message');
    if (taken(() => hooks.fromServer?.(frame) === true)) return;
    if (kind !== 'response') return forward(server, client, frame);
    // A second answer, or one that nobody asked for, could be taken for the answer to another request.
    if (!open.delete(idKey(message.id as RequestId)))
      return report('the server answered a request that is not open');
    forward(server, client, frame);
  };

  await server.start({
    onFrame: fromServer,
    onGarbage: garbageOfServer,
    onClose: (why) => end('server', why),
  });
  await client.start({
    onFrame: fromClient,
    onGarbage: garbageOfClient,
    onClose: (why) => end('client', why),
  });
  return {
    toClient: (message, about) => void client.send({ message }, about),
    toServer: (message) => void server.send({ message }),
    isOpen: (id) => open.has(idKey(id)),
    ended,
    async close() {
      end('close', 'closed');
      await ended;
    },
  };
}

/** What cannot be read cannot be governed, so it goes nowhere. */
function refuse(client: Link, { id }: WireMessage): void {
  const known = typeof id === 'string' || typeof id === 'number' ? id : null;
  client.send({
    message: errorMessage(
      known,
      CODES.invalidRequest,
      'allium was sent something that is no JSON-RPC 2.0 message',
    ),
  });
}
