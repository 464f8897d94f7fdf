/**
 * One side of the proxy: a connection to a client or a server over stdio, HTTP or in process, and
 * its messages.
 */

import type { MessageReading } from '../../core/wire/json-rpc.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import {
  answerInstead,
  kindOf,
  methodOf,
  modernVersionIn,
  objectAt,
  type RequestId,
  type WireMessage,
} from '../wire.ts';

/**
 * A message on its way. It is written anew wherever it goes: bytes that one reader took for this
 * message could be another to the next.
 */
export interface Frame {
  readonly message: WireMessage;
  /** The request whose stream it came in on, where the transport has a stream for each. */
  readonly about?: RequestId;
  /** The host's name for the server it came from, where several are behind one link. */
  readonly from?: string;
  /**
   * Arguments of a call that its client repeated in headers, by lower-case name. Absent where the
   * transport has no headers, or the revision no such ones.
   */
  readonly paramHeaders?: ReadonlyMap<string, string>;
}

interface Read {
  readonly frame: Frame;
  /** Empty for a response. */
  readonly method: string;
  readonly params: JsonObject;
  readonly meta: JsonObject;
  /** The revision it says it speaks; `null` in the revisions that agree on one in a handshake. */
  readonly modernVersion: string | null;
}

/** A request: it gets one answer. */
export interface IncomingRequest extends Read {
  readonly kind: 'request';
  readonly id: RequestId;
}

/** One message, taken apart once for the hooks and for forwarding. */
export type Incoming =
  | IncomingRequest
  | (Read & { readonly kind: 'notification'; readonly id: null })
  | (Read & { readonly kind: 'response'; readonly id: RequestId });

/** `null` for what is no message of JSON-RPC 2.0. */
export function readIncoming(frame: Frame): Incoming | null {
  const { message } = frame;
  const kind = kindOf(message);
  if (kind === null) return null;
  const params = objectAt(message, 'params');
  const meta = objectAt(params, '_meta');
  // Requests and responses have an id: that is how the kind is told.
  return {
    kind,
    id: kind === 'notification' ? null : message.id,
    frame,
    method: methodOf(message),
    params,
    meta,
    modernVersion: modernVersionIn(meta),
  } as Incoming;
}

export interface LinkHandlers {
  onFrame(frame: Frame): void;
  /** Instead of frames, where the link is one of bytes: chunks as they arrive. */
  onChunk?(chunk: Uint8Array): void;
  /**
   * A message was refused. `problem` names the kind of fault and quotes no content; `id` is given
   * for a request that can be answered.
   */
  onGarbage(problem: string, id?: RequestId): void;
  /** The other side is gone. Called once, also after `close`. */
  onClose(why: string): void;
}

/**
 * The port that stdio, HTTP and tests implement. Messages arrive in order and one at a time. `send`
 * after the end does nothing.
 */
export interface Link {
  /** For spans and messages: `pipe` for stdio, `tcp` for HTTP. */
  readonly transport: 'pipe' | 'tcp';
  /** The host's name for the server behind it. */
  readonly name?: string;
  /**
   * The host's name for the server that a tool belongs to, where several are behind it; `null` for
   * a tool of no server.
   */
  serverOf?(toolName: string): string | null;
  start(handlers: LinkHandlers): Promise<void>;
  /**
   * Answers whether more can be taken now; where not, `onDrain` tells when. `about` is the request
   * of the other side that a notification or request of ours belongs to, for transports that have a
   * stream for each.
   */
  send(frame: Frame, about?: RequestId): boolean;
  /**
   * Sends bytes as they are. Only links that give chunks to `onChunk` have it, and only what
   * governs nothing uses it.
   */
  sendChunk?(chunk: Uint8Array): boolean;
  /** Tells once when a link that took no more takes more. */
  onDrain(listener: () => void): void;
  /** Stops and goes on reading. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
  /** Of a link that several servers stand behind. */
  readonly behind?: ServersBehind;
}

/** Changes of the servers behind one link that the protocol has no message for. */
export interface ServersBehind {
  /**
   * Told at once whenever the tools of one of them may be others than were listed: it said so, or
   * it was opened again.
   */
  onToolsChanged(listener: () => void): void;
  /**
   * Whether the server that this tool belongs to is there. A call for one that is not would open it
   * again, whatever it lists then.
   */
  isThere(toolName: string): boolean;
  /** Opens it where it is not there, as far as that is possible now. */
  open(toolName: string): Promise<void>;
}

/** Hands on a reading: the message, an error in the place of a refused answer, or the problem. */
export function deliver(
  reading: MessageReading,
  { onFrame, onGarbage }: Pick<LinkHandlers, 'onFrame' | 'onGarbage'>,
): void {
  if ('message' in reading) return onFrame(reading);
  const answer = answerInstead(reading);
  if (answer !== null) onFrame({ message: answer });
  else onGarbage(reading.problem, reading.id);
}

/** Two links that are each other's other side, in this process. */
export function linkPair(): readonly [Link, Link] {
  const handlers: (LinkHandlers | null)[] = [null, null];
  const waiting: Frame[][] = [[], []];
  let isOpen = true;
  const end = (why: string): void => {
    if (!isOpen) return;
    isOpen = false;
    for (const each of handlers) queueMicrotask(() => each?.onClose(why));
  };
  const side = (own: 0 | 1): Link => {
    const other = own === 0 ? 1 : 0;
    return {
      transport: 'pipe',
      async start(given) {
        handlers[own] = given;
        for (const frame of waiting[own]?.splice(0) ?? []) given.onFrame(frame);
      },
      send(frame) {
        if (!isOpen) return true;
        const target = handlers[other];
        if (target === null || target === undefined) waiting[other]?.push(frame);
        else queueMicrotask(() => isOpen && target.onFrame(frame));
        return true;
      },
      onDrain() {},
      pause() {},
      resume() {},
      close: async () => end('closed'),
    };
  };
  return [side(0), side(1)];
}
