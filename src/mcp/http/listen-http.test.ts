import { connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Link } from '../proxy/link.ts';
import type { WireMessage } from '../wire.ts';
import type { HttpClient } from './links.ts';
import { type ListenOptions, listenHttp } from './listen-http.ts';
import { TOKEN } from './peers.fixture.ts';
import { type Posted, postRaw, postTo, readEvent } from './raw-client.fixture.ts';

const OTHER_TOKEN = 'another-token-of-the-tests';
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Session {
  readonly link: Link;
  readonly client: HttpClient;
  readonly taken: WireMessage[];
  readonly ends: string[];
}

/** A listener whose links answer handshakes and `ping`, and keep everything else. */
async function listen(options: Partial<ListenOptions> = {}) {
  const sessions: Session[] = [];
  const front = await listenHttp({
    port: 0,
    token: TOKEN,
    async onClient(link, client) {
      const session: Session = { link, client, taken: [], ends: [] };
      sessions.push(session);
      await link.start({
        onFrame({ message }) {
          session.taken.push(message);
          const result =
            message.method === 'initialize'
              ? { protocolVersion: '2025-11-25' }
              : message.method === 'ping'
                ? {}
                : null;
          if (result !== null)
            link.send({ message: { jsonrpc: '2.0', id: message.id ?? null, result } });
        },
        onGarbage() {},
        onClose: (why) => void session.ends.push(why),
      });
    },
    ...options,
  });
  closing.push(() => front.close());
  const post = (message: object, headers: Record<string, string | null> = {}) =>
    postRaw(front.url, JSON.stringify(message), headers);
  const handshake = async (headers: Record<string, string | null> = {}) => {
    const posted = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} }, headers);
    return { posted, session: { 'mcp-session-id': posted.headers.get('mcp-session-id') } };
  };
  return { front, sessions, post, handshake };
}

const ping = (id: number | string) => ({ jsonrpc: '2.0', id, method: 'ping' });
const wait = (id: number | string, meta = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'x', _meta: meta },
});
const message = (method: string, params = {}): WireMessage => ({ jsonrpc: '2.0', method, params });
const idOf = (event: WireMessage): unknown => event.id ?? event.method;

describe('a listener with sessions', () => {
  it('gives each handshake a link and an id of 128 bits, and answers as JSON where there is nothing else', async () => {
    const { handshake, sessions, post } = await listen();
    const [first, second] = [await handshake(), await handshake()];
    const answered = await post(ping('a'), first.session);

    expect(first.session['mcp-session-id']).toMatch(/^[0-9a-f]{32}$/);
    expect(second.session['mcp-session-id']).not.toBe(first.session['mcp-session-id']);
    expect(sessions.map(({ client }) => client)).toEqual(
      [0, 0].map(() => ({ era: 'legacy', principal: 0 })),
    );
    expect(answered.headers.get('content-type')).toBe('application/json');
    expect(await answered.json()).toEqual({ jsonrpc: '2.0', id: 'a', result: {} });
  });

  it('sends what belongs to a request on its stream, before its answer', async () => {
    const { handshake, sessions, post } = await listen();
    const { session } = await handshake();
    const [first, second] = [
      post(wait(1, { progressToken: 'p' }), session),
      post(wait(2), session),
    ];
    await vi.waitFor(() => expect(sessions[0]?.taken).toHaveLength(3));
    const link = sessions[0]?.link;
    link?.send({ message: message('notifications/message') }, 1);
    link?.send({ message: message('notifications/progress', { progressToken: 'p' }) });
    link?.send({ message: { jsonrpc: '2.0', id: 's', method: 'roots/list' }, about: 1 });
    link?.send({ message: message('notifications/message') });
    for (const id of [1, 2]) link?.send({ message: { jsonrpc: '2.0', id, result: {} } });

    const read = async (posted: Posted, count: number) => {
      const ids: unknown[] = [];
      for (let left = count; left > 0; left--) ids.push(idOf(await readEvent(posted)));
      return ids;
    };
    expect(await read(await first, 4)).toEqual([
      'notifications/message',
      'notifications/progress',
      's',
      1,
    ]);
    expect(await read(await second, 2)).toEqual(['notifications/message', 2]);
  });

  it('keeps for a stream to come what has none, and no more than a bound', async () => {
    const { front, handshake, sessions } = await listen();
    const { session } = await handshake();
    const link = sessions[0]?.link;
    for (let index = 0; index < 1000; index++)
      link?.send({ message: message('notifications/message', { index }) });
    link?.send({ message: message('notifications/message', { index: 'dropped' }) });
    link?.send({ message: { jsonrpc: '2.0', id: 'asked', method: 'roots/list' } });

    expect(sessions[0]?.taken.at(-1)).toMatchObject({ id: 'asked', error: { code: -32_603 } });
    const stream = await postRaw(
      front.url,
      undefined,
      { ...session, accept: 'text/event-stream', 'content-type': null },
      'GET',
    );
    for (let index = 0; index < 1000; index++)
      expect(await readEvent(stream)).toMatchObject({ params: { index } });
    link?.send({ message: message('notifications/tools/list_changed') });
    expect(await readEvent(stream)).toMatchObject({ method: 'notifications/tools/list_changed' });
  });

  it('goes on when a client leaves before its answer, and cancels nothing', async () => {
    const { handshake, sessions, post } = await listen();
    const { session } = await handshake();
    const left = post(wait(1, { progressToken: 1 }), session);
    await vi.waitFor(() => expect(sessions[0]?.taken).toHaveLength(2));
    sessions[0]?.link.send({ message: message('notifications/progress', { progressToken: 1 }) });
    await (await left).leave();
    await vi.waitFor(async () => expect((await post(ping(1), session)).status).toBe(200));
    sessions[0]?.link.send({ message: { jsonrpc: '2.0', id: 1, result: {} } });

    expect((await post(ping(2), session)).status).toBe(200);
    expect(sessions[0]?.taken.map(({ method }) => method)).not.toContain('notifications/cancelled');
  });

  it('ends with DELETE, and is then not there', async () => {
    const { front, handshake, sessions, post } = await listen();
    const { session } = await handshake();
    const open = post(wait(1), session);
    await vi.waitFor(() => expect(sessions[0]?.taken).toHaveLength(2));

    expect(
      (await postRaw(front.url, undefined, { ...session, 'content-type': null }, 'DELETE')).status,
    ).toBe(200);
    expect((await open).status).toBe(503);
    expect(sessions[0]?.ends).toEqual(['the client ended the session']);
    expect((await post(ping(2), session)).status).toBe(404);
  });

  it('belongs to the token that it was made with', async () => {
    const { handshake, post } = await listen({ token: [TOKEN, OTHER_TOKEN] });
    const { session } = await handshake();
    const other = { ...session, authorization: `Bearer ${OTHER_TOKEN}` };

    expect((await post(ping(1), other)).status).toBe(404);
    expect((await post(ping(1), session)).status).toBe(200);
  });

  it('refuses what does not belong into one', async () => {
    const { front, handshake, post } = await listen();
    const { session } = await handshake();
    const status = async (
      body: object | string,
      headers: Record<string, string | null> = session,
    ) =>
      (
        await postRaw(front.url, typeof body === 'string' ? body : JSON.stringify(body), {
          ...session,
          ...headers,
        })
      ).status;

    expect(await status(ping(1), { 'mcp-session-id': null })).toBe(400);
    expect(await status(ping(1), { 'mcp-session-id': 'f'.repeat(32) })).toBe(404);
    expect(await status(ping(1), { 'mcp-protocol-version': '2023-01-01' })).toBe(400);
    expect(await status({ jsonrpc: '2.0', id: 9, method: 'initialize' })).toBe(400);
    expect(
      await status(
        { jsonrpc: '2.0', id: 9, method: 'initialize' },
        { 'mcp-session-id': null, 'mcp-protocol-version': '2026-07-28' },
      ),
    ).toBe(400);
    expect(await status([ping(1)])).toBe(400);
    expect(await status('{')).toBe(400);
    expect(
      await status('{"status":200,"message":"x","headers":{"access-control-allow-origin":"*"}}'),
    ).toBe(400);
    expect(await status({ jsonrpc: '2.0', id: {}, method: 'ping' })).toBe(400);
    expect(await status(ping(1), { 'content-type': 'text/plain' })).toBe(415);
    expect(await status(ping(1), { accept: 'application/json' })).toBe(406);
    expect((await post({ jsonrpc: '2.0', method: 'notifications/x' }, session)).status).toBe(202);
    expect((await postRaw(`${front.url}/other`, '{}', session)).status).toBe(404);
    expect((await postRaw(front.url, '{}', session, 'PUT')).status).toBe(405);
  });

  it('answers one of two open requests with the same id with a refusal', async () => {
    const { handshake, sessions, post } = await listen();
    const { session } = await handshake();
    void post(wait(1), session);
    await vi.waitFor(() => expect(sessions[0]?.taken).toHaveLength(2));

    expect((await post(ping(1), session)).status).toBe(400);
    expect((await post(ping('1'), session)).status).toBe(200);
  });
});

describe('a listener has bounds', () => {
  it('for a body, told and untold', async () => {
    const { front, handshake } = await listen({ maxBodyBytes: 1000 });
    const { session } = await handshake();
    const large = JSON.stringify({ ...ping(1), more: 'x'.repeat(2000) });
    const untold = new ReadableStream({
      start: (controller) => (controller.enqueue(Buffer.from(large)), controller.close()),
    });
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      accept: '*/*',
      'content-type': 'application/json',
    };

    expect((await postRaw(front.url, large, session)).status).toBe(413);
    expect(
      (await fetch(front.url, { method: 'POST', headers, body: untold, duplex: 'half' })).status,
    ).toBe(413);
  });

  it('for open requests', async () => {
    const { front, handshake, sessions, post } = await listen({ maxOpenRequests: 2 });
    const { session } = await handshake();
    for (const id of [1, 2]) void post(wait(id), session);
    await vi.waitFor(() => expect(sessions[0]?.taken).toHaveLength(3));
    expect((await post(wait(3), session)).status).toBe(429);

    for (const id of [1, 2]) void postTo(front.url, wait(id));
    await vi.waitFor(() => expect(sessions[1]?.taken).toHaveLength(2));
    expect((await postTo(front.url, wait(3))).status).toBe(429);
  });

  it('for sessions: one that nobody uses makes room, one that somebody waits on does not', async () => {
    const { handshake, sessions, post } = await listen({ maxSessions: 1 });
    await handshake();
    const { posted, session } = await handshake();
    expect(posted.status).toBe(200);
    expect(sessions[0]?.ends).toEqual(['another session took its place']);

    void post(wait(1), session);
    await vi.waitFor(() => expect(sessions[1]?.taken).toHaveLength(2));
    expect((await handshake()).posted.status).toBe(503);
  });

  it('for idle links of both kinds', async () => {
    const { front, handshake, sessions } = await listen({ idleMs: 50 });
    await handshake();
    await (await postTo(front.url, ping(1))).json();

    await vi.waitFor(() => expect(sessions.map(({ ends }) => ends.length)).toEqual([1, 1]));
    expect((await postTo(front.url, ping(1))).status).toBe(200);
  });

  it.each([
    ['headers', 'POST /mcp HTTP/1.1\r\nHost: local'],
    [
      'a body',
      `POST /mcp HTTP/1.1\r\nHost: localhost:PORT\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: 100\r\n\r\n{`,
    ],
  ])('for somebody who never finishes %s', async (_name, start) => {
    const { front } = await listen({ headersMs: 100, requestMs: 200 });
    const socket = connect(front.port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    socket.resume().write(start.replace('PORT', String(front.port)));

    await closed;
  });

  it('for somebody who does not read', async () => {
    const { front, sessions } = await listen({ times: { stalledMs: 100 } });
    const posted = postTo(front.url, wait(1, { progressToken: 1 }));
    await vi.waitFor(() => expect(sessions[0]?.taken).toHaveLength(1));
    const progress = message('notifications/progress', {
      progressToken: sessions[0]?.taken[0]?.id ?? 0,
      text: 'x'.repeat(1_000_000),
    });
    for (let sent = 0; sent < 40; sent++) sessions[0]?.link.send({ message: progress });
    await posted;

    await vi.waitFor(
      () =>
        expect(sessions[0]?.taken.map(({ method }) => method)).toContain('notifications/cancelled'),
      { timeout: 5000 },
    );
  });

  it('and holds back who sends while the other side takes no more', async () => {
    const { front, sessions } = await listen();
    await (await postTo(front.url, ping(1))).json();
    sessions[0]?.link.pause();
    const held = postTo(front.url, ping(2));
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(sessions[0]?.taken).toHaveLength(1);

    sessions[0]?.link.resume();
    expect((await held).status).toBe(200);
  });

  it('and ends everything when it is closed', async () => {
    const { front, handshake, sessions, post } = await listen();
    const { session } = await handshake();
    const open = [post(wait(1), session), postTo(front.url, wait(1))];
    await vi.waitFor(() => expect(sessions.map(({ taken }) => taken.length)).toEqual([2, 1]));
    await front.close();
    closing.length = 0;
    await Promise.allSettled(open);

    expect(sessions.map(({ ends }) => ends)).toEqual([
      ['the listener was closed'],
      ['the listener was closed'],
    ]);
    await expect(fetch(front.url)).rejects.toThrow();
  });

  it('and refuses what its owner cannot serve', async () => {
    const { handshake } = await listen({ onClient: () => Promise.reject(new Error('no server')) });

    expect((await handshake()).posted.status).toBe(503);
  });
});
