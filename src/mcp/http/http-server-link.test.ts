/* oxlint-disable typescript/no-misused-promises -- what a listener of the tests comes to is seen by its client */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Frame, Link } from '../proxy/link.ts';
import type { WireMessage } from '../wire.ts';
import { httpServerLink } from './http-server-link.ts';

const SECRET = 'Bearer sk-the-secret-of-the-upstream';
const servers: Server[] = [];
const links: Link[] = [];
afterEach(async () => {
  for (const link of links.splice(0)) await link.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  // It listens on a port, not on a path.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

interface Linked {
  readonly link: Link;
  readonly frames: Frame[];
  readonly garbage: string[];
  readonly ends: string[];
}

async function linkTo(url: string): Promise<Linked> {
  const link = httpServerLink(url, {
    headers: () => ({ authorization: SECRET, 'mcp-session-id': 'forged' }),
  });
  const linked: Linked = { link, frames: [], garbage: [], ends: [] };
  links.push(link);
  await link.start({
    onFrame: (frame) => void linked.frames.push(frame),
    onGarbage: (problem) => void linked.garbage.push(problem),
    onClose: (why) => void linked.ends.push(why),
  });
  return linked;
}

const ping = (id: number | string = 1): WireMessage => ({ jsonrpc: '2.0', id, method: 'ping' });
const modern = (id: number | string, method: string, params: WireMessage = {}): WireMessage => ({
  jsonrpc: '2.0',
  id,
  method,
  params: {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});
const HANDSHAKE: WireMessage = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25' },
};
const INITIALIZED: WireMessage = { jsonrpc: '2.0', method: 'notifications/initialized' };
const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };
const answerTo = (id: unknown, result: unknown = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result });
const bodyOf = async (request: IncomingMessage): Promise<WireMessage> =>
  JSON.parse(await text(request)) as WireMessage;

/** What a request comes to that a server answers like this. */
async function outcome(listener: RequestListener, message = ping(7)): Promise<Linked> {
  const linked = await linkTo(await serve(listener));
  linked.link.send({ message });
  await vi.waitFor(() => expect(linked.frames.length).toBeGreaterThan(0));
  return linked;
}

describe('a link to an HTTP server', () => {
  it.each<[string, RequestListener, RegExp]>([
    [
      '401',
      (_request, response) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('no'),
      /refused access \(HTTP 401\)/,
    ],
    [
      '403',
      (_request, response) => response.writeHead(403).end(SECRET),
      /refused access \(HTTP 403\)/,
    ],
    [
      '404 without a session',
      (_request, response) => response.writeHead(404).end('nothing'),
      /HTTP 404/,
    ],
    ['500', (_request, response) => response.writeHead(500).end(`stack of ${SECRET}`), /HTTP 500/],
    [
      '502 in HTML',
      (_request, response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>'),
      /HTTP 502/,
    ],
    ['202 to a request', (_request, response) => response.writeHead(202).end(), /did not answer/],
    ['200 and nothing', (_request, response) => response.writeHead(200).end(), /did not answer/],
    [
      'text',
      (_request, response) =>
        response.writeHead(200, { 'content-type': 'text/plain' }).end(answerTo(7)),
      /did not answer/,
    ],
    ['no JSON', (_request, response) => response.writeHead(200, json).end('{'), /did not answer/],
    [
      'a list',
      (_request, response) => response.writeHead(200, json).end(`[${answerTo(7)}]`),
      /did not answer/,
    ],
    [
      'another id',
      (_request, response) => response.writeHead(200, json).end(answerTo(8)),
      /did not answer/,
    ],
    [
      'the id as text',
      (_request, response) => response.writeHead(200, json).end(answerTo('7')),
      /did not answer/,
    ],
    [
      'a stream that ends',
      (_request, response) => response.writeHead(200, events).end(': nothing\n\n'),
      /did not answer/,
    ],
    ['a broken connection', (request) => request.socket.destroy(), /could not be reached/],
    [
      'a body that breaks off',
      (_request, response) =>
        void response.writeHead(200, json).write('{"a', () => response.destroy()),
      /./,
    ],
    [
      'a body that is too large',
      (_request, response) => response.writeHead(200, json).end(`"${'x'.repeat(11_000_000)}"`),
      /did not answer/,
    ],
    [
      'an event that is too large',
      (_request, response) =>
        response.writeHead(200, events).write(`data: ${'x'.repeat(11_000_000)}`),
      /did not answer/,
    ],
    [
      'another origin',
      (_request, response) => response.writeHead(307, { location: 'http://localhost:1/' }).end(),
      /not followed \(HTTP 307\)/,
    ],
    [
      'a redirect as GET',
      (_request, response) => response.writeHead(302, { location: '/other' }).end(),
      /not followed \(HTTP 302\)/,
    ],
    [
      'a redirect in a circle',
      (_request, response) => response.writeHead(307, { location: '/mcp' }).end(),
      /not followed \(HTTP 307\)/,
    ],
  ])('gives one error for the request and no secret: %s', async (_name, listener, problem) => {
    const { frames } = await outcome(listener);
    const { id, error } = frames[0]?.message ?? {};

    expect(frames).toHaveLength(1);
    expect({ id, error }).toEqual({
      id: 7,
      error: { code: -32_603, message: expect.stringMatching(problem) as string },
    });
    expect(JSON.stringify(frames)).not.toMatch(/sk-the-secret|127\.0\.0\.1/);
  });

  it('gives one error where nobody listens', async () => {
    const linked = await linkTo('http://127.0.0.1:9/mcp');
    linked.link.send({ message: ping() });

    await vi.waitFor(() => expect(linked.frames).toHaveLength(1));
    expect(linked.frames[0]?.message).toMatchObject({ id: 1, error: { code: -32_603 } });
    expect(linked.ends).toEqual([]);
  });

  it.each([
    ['its id', 7],
    ['no id', null],
  ])('hands on an error that came with a bad status and %s', async (_name, id) => {
    const error = {
      code: -32_022,
      message: 'not that one',
      data: { supported: ['2026-07-28'] },
      more: 1,
    };
    const { frames } = await outcome((_request, response) =>
      response.writeHead(400, json).end(JSON.stringify({ jsonrpc: '2.0', id, error })),
    );

    expect(frames[0]?.message).toEqual({ jsonrpc: '2.0', id: 7, error });
  });

  it('follows a redirect on the same origin, with the body', async () => {
    const { frames } = await outcome(async (request, response) => {
      if (request.url === '/mcp') return response.writeHead(307, { location: '/mcp/' }).end();
      return response
        .writeHead(200, json)
        .end(answerTo((await bodyOf(request)).id, { at: request.url }));
    });

    expect(frames[0]?.message.result).toEqual({ at: '/mcp/' });
  });

  it('keeps members that nobody knows, and says on which stream a message came', async () => {
    const odd =
      '{"jsonrpc":"2.0","method":"notifications/odd","params":{"__proto__":{"a":1}},"vendor":true}';
    const { frames } = await outcome((_request, response) =>
      response
        .writeHead(200, events)
        .end(`data: ${odd}\n\ndata: {"jsonrpc":"2.0","id":7,"result":{},"trace":"t"}\n\n`),
    );

    await vi.waitFor(() => expect(frames).toHaveLength(2));
    expect(frames.map(({ message }) => JSON.stringify(message))).toEqual([
      odd,
      '{"jsonrpc":"2.0","id":7,"result":{},"trace":"t"}',
    ]);
    expect(frames.map(({ about }) => about)).toEqual([7, 7]);
  });

  it('drops a second answer, and one to the request of another stream', async () => {
    const { frames, garbage } = await outcome((_request, response) =>
      response
        .writeHead(200, events)
        .end([8, 7, 7].map((id) => `data: ${answerTo(id)}\n\n`).join('')),
    );
    await vi.waitFor(() => expect(garbage).toHaveLength(1));

    expect(frames.map(({ message }) => message.id)).toEqual([7]);
  });

  it('writes the headers of a revision without sessions from what is sent', async () => {
    const seen: IncomingMessage['headers'][] = [];
    const listed = {
      tools: [
        {
          name: 'grüße',
          inputSchema: {
            properties: {
              to: { 'x-mcp-header': 'To' },
              in: { properties: { n: { 'x-mcp-header': 'N' } } },
            },
          },
        },
      ],
    };
    const linked = await linkTo(
      await serve(async (request, response) => {
        seen.push(request.headers);
        response.writeHead(200, json).end(answerTo((await bodyOf(request)).id, listed));
      }),
    );
    linked.link.send({ message: modern(1, 'tools/list') });
    await vi.waitFor(() => expect(linked.frames).toHaveLength(1));
    linked.link.send({
      message: modern(2, 'tools/call', { name: 'grüße', arguments: { to: ' Ann', in: { n: 3 } } }),
    });
    await vi.waitFor(() => expect(linked.frames).toHaveLength(2));

    expect(seen[1]).toMatchObject({
      authorization: SECRET,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': '=?base64?Z3LDvMOfZQ==?=',
      'mcp-param-to': '=?base64?IEFubg==?=',
      'mcp-param-n': '3',
    });
    expect(seen[1]).not.toHaveProperty('mcp-session-id');
  });

  it('cancels a request without a session by closing its stream, and says nothing besides', async () => {
    const seen: string[] = [];
    const linked = await linkTo(
      await serve(async (request, response) => {
        const { id, method } = await bodyOf(request);
        seen.push(JSON.stringify(method));
        response.writeHead(200, events).flushHeaders();
        response.once('close', () => seen.push(`closed ${JSON.stringify(id)}`));
      }),
    );
    for (const id of [1, '1']) linked.link.send({ message: modern(id, 'subscriptions/listen') });
    await vi.waitFor(() => expect(seen).toHaveLength(2));
    linked.link.send({
      message: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: '1' } },
    });

    await vi.waitFor(() => expect(seen).toContain('closed "1"'));
    expect(seen).toEqual(['"subscriptions/listen"', '"subscriptions/listen"', 'closed "1"']);
    expect(linked.frames).toEqual([]);
  });

  /** A server with sessions that writes down what it saw. `refuse` makes it forget them. */
  async function sessionServer() {
    const seen: string[] = [];
    const state = { isGone: false };
    const url = await serve(async (request, response) => {
      const body = request.method === 'POST' ? await bodyOf(request) : {};
      const { id } = body;
      const method = typeof body.method === 'string' ? body.method : '';
      seen.push(
        [
          request.method,
          method,
          request.headers['mcp-session-id'],
          request.headers['mcp-protocol-version'],
        ].join(' '),
      );
      if (request.method === 'GET') return response.writeHead(200, events).flushHeaders();
      if (request.method === 'DELETE') return void response.writeHead(200).end();
      if (state.isGone)
        return void response
          .writeHead(404, json)
          .end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"gone"}}');
      if (id === undefined) return void response.writeHead(202).end();
      response
        .writeHead(200, { ...json, 'mcp-session-id': 'the-session' })
        .end(answerTo(id, { protocolVersion: '2025-06-18' }));
    });
    return { url, seen, state };
  }

  it('keeps a session: handshake, stream, requests in order, and an end', async () => {
    const { url, seen } = await sessionServer();
    const { link, frames, ends } = await linkTo(url);
    link.send({ message: HANDSHAKE });
    await vi.waitFor(() => expect(frames).toHaveLength(1));
    for (const message of [INITIALIZED, ping(1)]) link.send({ message });
    await vi.waitFor(() => expect(frames).toHaveLength(2));
    await link.close();

    expect(seen).toEqual([
      'POST initialize  ',
      'POST notifications/initialized the-session 2025-06-18',
      'GET  the-session 2025-06-18',
      'POST ping the-session 2025-06-18',
      'DELETE  the-session 2025-06-18',
    ]);
    expect(ends).toEqual(['closed']);
  });

  it('ends when the server has forgotten the session, after it answered who asked', async () => {
    const { url, state, seen } = await sessionServer();
    const { link, frames, ends } = await linkTo(url);
    link.send({ message: HANDSHAKE });
    await vi.waitFor(() => expect(frames).toHaveLength(1));
    state.isGone = true;
    link.send({ message: ping(5) });

    await vi.waitFor(() => expect(ends).toEqual(['it has ended the session']));
    expect(frames[1]?.message).toMatchObject({ id: 5, error: { code: -32_001 } });
    await link.close();
    expect(seen.some((line) => line.startsWith('DELETE'))).toBe(false);
  });

  it('reads no more while it is paused', async () => {
    let finish = (): void => {};
    const written = new Promise<void>((resolve) => void (finish = resolve));
    const linked = await linkTo(
      await serve((_request, response) =>
        response.writeHead(200, json).end(answerTo(1), () => finish()),
      ),
    );
    linked.link.pause();
    linked.link.send({ message: ping() });
    await written;
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(linked.frames).toEqual([]);

    linked.link.resume();
    await vi.waitFor(() => expect(linked.frames).toHaveLength(1));
  });
});
