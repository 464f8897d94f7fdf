import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { listenHttp } from './listen-http.ts';
import { TOKEN } from './peers.fixture.ts';

const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

/** Connections that begin a request and never end its headers. */
async function slowHeaders(port: number, count: number): Promise<void> {
  for (let each = 0; each < count; each += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.on('close', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write('POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
  }
}

const HELLO = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} });

/** What somebody with a token is answered first; nothing where the connection is cut. */
async function statusLine(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => {});
  const headers = [
    'POST /mcp HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${TOKEN}`,
    'Accept: application/json, text/event-stream',
    'Content-Type: application/json',
    `Content-Length: ${HELLO.length}`,
  ];
  socket.write(`${headers.join('\r\n')}\r\n\r\n${HELLO}`);
  return new Promise((resolve) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString().split('\r\n', 1)[0] ?? ''));
    socket.once('close', () => resolve(''));
  });
}

describe('connections without a token', () => {
  it('do not keep out who has one, however many send slow headers', async () => {
    const listener = await listenHttp({
      port: 0,
      token: TOKEN,
      ...{ headersMs: 60_000, requestMs: 60_000 },
      async onClient(link) {
        const onFrame = () => void link.send({ message: { jsonrpc: '2.0', id: 0, result: { protocolVersion: '2025-11-25' } } });
        await link.start({ onFrame, onGarbage() {}, onClose() {} });
      },
    });
    await slowHeaders(listener.port, 700);

    const status = await statusLine(listener.port);
    const held = sockets.filter((socket) => !socket.destroyed && socket.readyState === 'open').length;
    await listener.close();

    expect(status).toBe('HTTP/1.1 200 OK');
    expect(held).toBeLessThan(200);
  });

  it('keep everybody out of a server that only counts', async () => {
    const server = createServer((_request, response) => response.end('{}'));
    server.maxConnections = 64;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // It listens on a port.
    await slowHeaders(port, 64);

    expect(await statusLine(port)).toBe('');
    server.closeAllConnections();
    server.close();
  });
});
