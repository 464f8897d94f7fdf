/** One side of the proxy: a connection to a client or to a server, whatever carries it. */

import type { RequestId, WireMessage } from './wire.ts';

/** A message, and the bytes it came in. Bytes include the newline that ended them, and are forwarded as they are. */
export interface Frame {
  readonly message: WireMessage;
  readonly bytes?: Uint8Array;
  /** The request whose stream it came in on, where the transport has a stream for each. */
  readonly about?: RequestId;
  /** Arguments of a call that its client repeated in headers, by lower-case name. Absent where the transport has no headers, or the revision no such ones. */
  readonly paramHeaders?: ReadonlyMap<string, string>;
}

export interface LinkHandlers {
  onFrame(frame: Frame): void;
  /** Instead of frames, where the link is one of bytes: chunks as they arrive. */
  onChunk?(chunk: Uint8Array): void;
  /** Something arrived that is no message. Says what, never what was in it. */
  onGarbage(problem: string): void;
  /** The other side is gone. Called once, also after `close`. */
  onClose(why: string): void;
}

/**
 * The port behind which stdio, HTTP and tests stand. Messages arrive in order and one at a time. `send` after the end is ignored:
 * whoever is gone is owed nothing.
 */
export interface Link {
  /** For spans and messages: `pipe` for stdio, `tcp` for HTTP. */
  readonly transport: 'pipe' | 'tcp';
  /** Whether it can hand on what arrives as it arrives. */
  readonly isBytes?: boolean;
  start(handlers: LinkHandlers): Promise<void>;
  /**
   * Answers whether more can be taken now; where not, `onDrain` tells when. `about` is the request of the other side that a
   * notification or request of ours belongs to, for transports that have a stream for each.
   */
  send(frame: Frame, about?: RequestId): boolean;
  /** Tells once when a link that took no more takes more. */
  onDrain(listener: () => void): void;
  /** Stops and goes on reading. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
  /** Of a link that several servers stand behind. */
  readonly behind?: ServersBehind;
}

/** What becomes of servers behind one link that no message of the protocol tells. */
export interface ServersBehind {
  /** Told at once whenever the tools of one of them may be others than were listed: it said so, or it was opened again. */
  onToolsChanged(listener: () => void): void;
  /** Whether the server that this tool belongs to is there. A call for one that is not would open it again, whatever it lists then. */
  isThere(toolName: string): boolean;
  /** Opens it where it is not there, as far as that is possible now. */
  open(toolName: string): Promise<void>;
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
