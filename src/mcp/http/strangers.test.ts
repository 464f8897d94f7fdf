import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpListener, listenHttp } from './listen-http.ts';
import { TOKEN } from './peers.fixture.ts';
import { limitStrangers } from './guard-request.ts';

const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

/** Connections that begin a request and never end its headers. */
async function slowHeaders(port: number, count: number): Promise<void> {
  for (let each = 0; each < count; each += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write('POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
  }
}

const held = (): number =>
  sockets.filter((socket) => !socket.destroyed && socket.readyState === 'open').length;

const HELLO = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} });

function open(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => {});
  return socket;
}

/**
 * The first line of what somebody with a token is answered; nothing where the connection is cut.
 */
async function statusLine(port: number, socket = open(port)): Promise<string> {
  if (socket.destroyed) return '';
  socket.write(hello(port));
  return new Promise((resolve) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString().split('\r\n', 1)[0] ?? ''));
    socket.once('close', () => resolve(''));
  });
}

function hello(port: number): string {
  const headers = [
    'POST /mcp HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${TOKEN}`,
    'Accept: application/json, text/event-stream',
    'Content-Type: application/json',
    `Content-Length: ${HELLO.length}`,
  ];
  return `${headers.join('\r\n')}\r\n\r\n${HELLO}`;
}

const listening = (): Promise<HttpListener> =>
  listenHttp({
    port: 0,
    token: TOKEN,
    ...{ headersMs: 60_000, requestMs: 60_000 },
    async onClient(link) {
      const onFrame = () =>
        void link.send({
          message: { jsonrpc: '2.0', id: 0, result: { protocolVersion: '2025-11-25' } },
        });
      await link.start({ onFrame, onGarbage() {}, onClose() {} });
    },
  });

describe('connections without a token', () => {
  it('do not keep out who has one, however many send slow headers', async () => {
    const listener = await listening();
    await slowHeaders(listener.port, 700);

    const status = await statusLine(listener.port);
    const strangers = held();
    await listener.close();

    expect(status).toBe('HTTP/1.1 200 OK');
    expect(strangers).toBeLessThan(200);
  });

  it('do not cut a connection that has shown one', async () => {
    const listener = await listening();
    const socket = open(listener.port);
    expect(await statusLine(listener.port, socket)).toBe('HTTP/1.1 200 OK');

    await slowHeaders(listener.port, 150);

    expect(await statusLine(listener.port, socket)).toBe('HTTP/1.1 200 OK');
    await listener.close();
  });

  it.each<[string, (server: Server) => void, boolean]>([
    [
      'keep everybody out of a server that only counts',
      (server) => void (server.maxConnections = 64),
      false,
    ],
    [
      'cut everybody where nobody is vouched for',
      (server) => void limitStrangers(server, 64),
      true,
    ],
  ])('%s: the twins that the cases above catch', async (_name, limit, isFirst) => {
    const server = createServer((_request, response) => response.end('{}'));
    limit(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // It listens on a port.
    const early = isFirst ? open(port) : undefined;
    if (early !== undefined) await statusLine(port, early);
    await slowHeaders(port, 64);

    expect(await statusLine(port, early)).toBe('');
    server.closeAllConnections();
    server.close();
  });
});
