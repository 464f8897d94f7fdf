/** Connections over which no valid token has come yet. */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface Strangers {
  /** A request with a valid token came over this connection: it stays. */
  readonly vouchFor: (socket: Socket) => void;
}

/**
 * Holds at most `max` of them, and cuts the oldest for each new one. Whoever sends slow headers, or none, can only push out others who do the
 * same: a client with a token shows it with its first bytes, and is one of the newest then.
 */
export function limitStrangers(server: Server, max: number): Strangers {
  const unknown = new Set<Socket>();
  server.on('connection', (socket) => {
    unknown.add(socket);
    socket.once('close', () => unknown.delete(socket));
    const [oldest] = unknown.size > max ? unknown : [];
    if (oldest === undefined) return;
    unknown.delete(oldest);
    oldest.destroy();
  });
  return { vouchFor: (socket) => void unknown.delete(socket) };
}
