/**
 * Without a stack there is nothing to look at: bytes go through as they come, and nothing is
 * governed.
 */

import { readMessage } from '../../core/wire/json-rpc.ts';
import { splitLines } from '../../system/lines.ts';
import { pendingRequests } from '../../system/pending-requests.ts';
import type { Link } from '../proxy/link.ts';
import type { Relay, RelayEnd } from '../proxy/relay.ts';
import {
  CODES,
  errorMessage,
  kindOf,
  MAX_LINE_BYTES,
  type RequestId,
  type WireMessage,
} from '../wire.ts';

/** Some hundred calls, which are read in a moment. */
const MAX_UNREAD_BYTES = 32 * 1024;

/**
 * Forwards first and reads afterwards, and only to know which requests are open: when the server
 * goes away, they are answered for it. Both links must be of bytes.
 */
export async function byteRelay(client: Link, server: Link): Promise<Relay> {
  const open = pendingRequests<RequestId>();
  let finish: (end: RelayEnd) => void = () => {};
  const ended = new Promise<RelayEnd>((resolve) => void (finish = resolve));
  let isOver = false;
  let unread: (() => void)[] = [];
  let unreadBytes = 0;
  const readAll = (): void => {
    for (const read of unread) read();
    unread = [];
    unreadBytes = 0;
  };
  /** Many at a time: to read a request while its answer is on the way would keep that waiting. */
  const later =
    (read: (chunk: Uint8Array) => void) =>
    (chunk: Uint8Array): void => {
      unread.push(() => read(chunk));
      unreadBytes += chunk.length;
      if (unreadBytes >= MAX_UNREAD_BYTES) readAll();
    };
  const end = (by: RelayEnd['by'], why: string): void => {
    if (isOver) return;
    isOver = true;
    readAll();
    const unanswered = by === 'server' ? open.all() : [];
    for (const id of unanswered)
      client.send({ message: errorMessage(id, CODES.internal, `the server is gone: ${why}`) });
    void Promise.allSettled([client.close(), server.close()]).then(() => finish({ by, why }));
  };
  // Requests and responses have an id: that is how the kind is told.
  const asked = reader((message) => {
    const id = message.id as RequestId;
    if (kindOf(message) === 'request') open.add(id, id);
  });
  const answered = reader((message) => {
    if (kindOf(message) === 'response') open.take(message.id);
  });
  await server.start({
    ...carrying(server, client, later(answered)),
    onClose: (why) => end('server', why),
  });
  await client.start({
    ...carrying(client, server, later(asked)),
    onClose: (why) => end('client', why),
  });
  return {
    toClient: (message) => void client.send({ message }),
    toServer: (message) => void server.send({ message }),
    isOpen(id) {
      readAll();
      return open.get(id) !== undefined;
    },
    ended,
    async close() {
      end('close', 'closed');
      await ended;
    },
  };
}

const carrying = (from: Link, to: Link, read: (chunk: Uint8Array) => void) => ({
  onFrame: () => {},
  onGarbage: () => {},
  onChunk(chunk: Uint8Array): void {
    if (to.sendChunk?.(chunk) === false) {
      from.pause();
      to.onDrain(() => from.resume());
    }
    read(chunk);
  },
});

function reader(onMessage: (message: WireMessage) => void): (chunk: Uint8Array) => void {
  return splitLines({
    maxBytes: MAX_LINE_BYTES,
    tellLong: 'at_once',
    onLine(line) {
      const reading = readMessage(line);
      if ('message' in reading) onMessage(reading.message);
    },
    onLongLine: () => {},
  });
}
