/** Without a stack there is nothing to look at: bytes go through as they come, and nothing is governed. */

import { readMessage } from '../core/json-rpc.ts';
import { lineSplitter } from './lines.ts';
import type { Link } from './link.ts';
import type { Relay, RelayEnd } from './relay.ts';
import { CODES, errorMessage, idKey, kindOf, type RequestId, type WireMessage } from './wire.ts';

/**
 * Forwards first and reads afterwards, and only to know which requests are open: when the server goes away, they are answered for it.
 * Both links must be of bytes.
 */
export async function byteRelay(client: Link, server: Link): Promise<Relay> {
  const open = new Map<string, RequestId>();
  let finish: (end: RelayEnd) => void = () => {};
  const ended = new Promise<RelayEnd>((resolve) => void (finish = resolve));
  let isOver = false;
  const end = (by: RelayEnd['by'], why: string): void => {
    if (isOver) return;
    isOver = true;
    const unanswered = by === 'server' ? open.values() : [];
    for (const id of unanswered)
      client.send({ message: errorMessage(id, CODES.internal, `the server is gone: ${why}`) });
    void Promise.allSettled([client.close(), server.close()]).then(() => finish({ by, why }));
  };
  // Both kinds have an id.
  const asked = reader(
    (message) =>
      kindOf(message) === 'request' &&
      open.set(idKey(message.id as RequestId), message.id as RequestId),
  );
  const answered = reader(
    (message) => kindOf(message) === 'response' && open.delete(idKey(message.id as RequestId)),
  );
  await server.start({
    ...carrying(server, client, answered),
    onClose: (why) => end('server', why),
  });
  await client.start({ ...carrying(client, server, asked), onClose: (why) => end('client', why) });
  return {
    toClient: (message) => void client.send({ message }),
    toServer: (message) => void server.send({ message }),
    isOpen: (id) => open.has(idKey(id)),
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

function reader(onMessage: (message: WireMessage) => unknown): (chunk: Uint8Array) => void {
  const splitter = lineSplitter(
    (bytes) => {
      const reading = readMessage(bytes);
      if ('message' in reading) onMessage(reading.message);
    },
    () => {},
  );
  return (chunk) => splitter.push(chunk);
}
