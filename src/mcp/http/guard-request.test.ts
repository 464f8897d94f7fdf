import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpListener, listenHttp } from './listen-http.ts';
import { TOKEN } from './peers.fixture.ts';
import { postRaw, rawStatus } from './raw-client.fixture.ts';

const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });

/** A handshake with the header lines that are given. */
const handshake = (lines: readonly string[], target = '/mcp'): string =>
  [
    `POST ${target} HTTP/1.1`,
    ...lines,
    `Authorization: Bearer ${TOKEN}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Content-Length: ${BODY.length}`,
    'Connection: close',
    '',
    BODY,
  ].join('\r\n');

/** Forms of the Host header that are not one of ours, `PORT` being the right port. */
const HOSTS = [
  '',
  'localhost',
  '127.0.0.1',
  '[::1]',
  'localhost:1',
  'localhost:PORT0',
  'localhost:0PORT',
  'localhost: PORT',
  'localhost:PORT,evil.example',
  'localhost:+PORT',
  'localhost:PORT@evil.example',
  'LOCALHOST:PORT',
  'LocalHost:PORT',
  'localhost.:PORT',
  'localhost..:PORT',
  '.localhost:PORT',
  'foo.localhost:PORT',
  'localhost.evil.example:PORT',
  'localhost.localdomain:PORT',
  'evil.example',
  'evil.example:PORT',
  'user@localhost:PORT',
  'user:secret@localhost:PORT',
  'localhost%00:PORT',
  'localhost%2eevil.example:PORT',
  'localhost/:PORT',
  'localhost\\evil.example:PORT',
  'localhost#:PORT',
  'http://localhost:PORT',
  '//localhost:PORT',
  '0.0.0.0:PORT',
  '0:PORT',
  '127.1:PORT',
  '127.0.1:PORT',
  '127.0.0.2:PORT',
  '127.0.0.1.:PORT',
  '127.0.0.1.evil.example:PORT',
  '127.0.0.1.nip.io:PORT',
  '2130706433:PORT',
  '0x7f000001:PORT',
  '0x7f.0.0.1:PORT',
  '0177.0.0.1:PORT',
  '017700000001:PORT',
  '127.000.000.001:PORT',
  '127。0。0。1:PORT',
  '①②⑦.0.0.1:PORT',
  '[::]:PORT',
  '[0:0:0:0:0:0:0:1]:PORT',
  '[0000::1]:PORT',
  '[::ffff:127.0.0.1]:PORT',
  '[::ffff:7f00:1]:PORT',
  '[::127.0.0.1]:PORT',
  '[::1%25lo]:PORT',
  '[fe80::1]:PORT',
  '::1:PORT',
  '::1',
  '[::1',
  '192.168.0.1:PORT',
  '10.0.0.1:PORT',
  '169.254.169.254:PORT',
];

/** Forms of the Origin header that are not ours. */
const ORIGINS = [
  'null',
  '',
  'http://evil.example',
  'http://evil.example:PORT',
  'https://localhost:PORT',
  'https://127.0.0.1:PORT',
  'http://localhost',
  'http://localhost:1',
  'http://localhost:PORT0',
  'http://LOCALHOST:PORT',
  'HTTP://localhost:PORT',
  'http://localhost.:PORT',
  'http://localhost:PORT/',
  'http://localhost:PORT/mcp',
  'http://localhost:PORT@evil.example',
  'http://user@localhost:PORT',
  'http://localhost.evil.example:PORT',
  'http://evil.localhost:PORT',
  'http://127.0.0.1.nip.io:PORT',
  'http://0.0.0.0:PORT',
  'http://[::]:PORT',
  'http://[::ffff:127.0.0.1]:PORT',
  'http://2130706433:PORT',
  'http://0x7f000001:PORT',
  'http://0177.0.0.1:PORT',
  'http://localhost:PORT http://evil.example',
  'http://localhost:PORT, http://evil.example',
  'file://',
  'file:///etc/hosts',
  'data:text/html,x',
  'javascript:alert(1)',
  'chrome-extension://abcdefgh',
  'vscode-webview://abcdefgh',
  'localhost:PORT',
  '//localhost:PORT',
  'ws://localhost:PORT',
];

describe('the guard of the listener', () => {
  let front: HttpListener;
  let naive: number;
  const server = createServer((request, response) =>
    request.resume().on('end', () => response.end('served')),
  );
  beforeAll(async () => {
    front = await listenHttp({
      port: 0,
      token: TOKEN,
      allowedHosts: ['proxy.example'],
      allowedOrigins: ['https://app.example'],
      async onClient(link) {
        await link.start({
          onFrame: ({ message }) =>
            void link.send({
              message: {
                jsonrpc: '2.0',
                id: message.id ?? 0,
                result: { protocolVersion: '2025-11-25' },
              },
            }),
          onGarbage() {},
          onClose() {},
        });
      },
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    naive = (server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    server.close();
    await front.close();
  });

  const withPort = (text: string, port = front.port) => text.replaceAll('PORT', String(port));
  const status = async (lines: readonly string[], target?: string) =>
    (
      await rawStatus(
        front.port,
        handshake(
          lines.map((line) => withPort(line)),
          target,
        ),
      )
    ).status;

  it.each(['localhost:PORT', '127.0.0.1:PORT', '[::1]:PORT', 'proxy.example'])(
    'lets in the host %s',
    async (host) => {
      expect(await status([`Host: ${host}`])).toBe(200);
    },
  );

  it.each([
    'http://localhost:PORT',
    'http://127.0.0.1:PORT',
    'http://[::1]:PORT',
    'https://app.example',
  ])('lets in the origin %s', async (origin) => {
    expect(await status(['Host: localhost:PORT', `Origin: ${origin}`])).toBe(200);
  });

  it(`refuses ${HOSTS.length} forms of other hosts`, async () => {
    const found = await Promise.all(
      HOSTS.map(async (host) => [host, await status([`Host: ${host}`])]),
    );

    expect(found.filter(([, got]) => got !== 403 && got !== 400)).toEqual([]);
  });

  it(`refuses ${ORIGINS.length} forms of other origins, and never says what a page may read`, async () => {
    const found = await Promise.all(
      ORIGINS.map(async (origin) => {
        const { status: got, text } = await rawStatus(
          front.port,
          handshake([withPort('Host: localhost:PORT'), `Origin: ${withPort(origin)}`]),
        );
        return [origin, got, /access-control/i.test(text)];
      }),
    );

    expect(found.filter(([, got, isShared]) => (got !== 403 && got !== 400) || isShared)).toEqual(
      [],
    );
  });

  it('refuses a header that is there twice, in any order, and a target with a host of its own', async () => {
    const good = 'Host: localhost:PORT';

    expect(await status([good, 'Host: evil.example'])).toBe(400);
    expect(await status(['Host: evil.example', good])).toBe(400);
    expect(await status([good, good])).toBe(400);
    expect(
      await status([good, 'Origin: http://localhost:PORT', 'Origin: http://evil.example']),
    ).toBe(400);
    expect(await status([good, 'Authorization: Bearer another-token-of-theirs'])).toBe(400);
    expect(await status([good, 'Mcp-Session-Id: a', 'Mcp-Session-Id: b'])).toBe(400);
    expect(await status([good, 'Mcp-Param-Region: eu', 'mcp-param-region: eu'])).toBe(400);
    expect(await status([])).toBe(400);
    expect(await status([good], 'http://evil.example/mcp')).toBe(400);
    expect(await status([good], withPort('http://localhost:PORT/mcp'))).toBe(400);
    expect(await status([good], '//evil.example/mcp')).toBe(404);
  });

  it('finds a server that does not look', async () => {
    // The twin: nobody asks where a request comes from.
    const got = await rawStatus(
      naive,
      handshake([`Host: ${withPort('evil.example:PORT', naive)}`, 'Origin: http://evil.example']),
    );

    expect(got.status).toBe(200);
  });

  it('gives a page that asks beforehand nothing', async () => {
    const asked = await rawStatus(
      front.port,
      withPort(
        'OPTIONS /mcp HTTP/1.1\r\nHost: localhost:PORT\r\nOrigin: http://localhost:PORT\r\nConnection: close\r\n\r\n',
      ),
    );

    expect(asked.status).toBe(401);
    expect(asked.text).not.toMatch(/access-control/i);
  });

  it.each([
    ['no token', null],
    ['another token', 'Bearer another-token-of-theirs'],
    ['a part of the token', `Bearer ${TOKEN.slice(0, -1)}`],
    ['more than the token', `Bearer ${TOKEN}x`],
    ['the token in capitals', `Bearer ${TOKEN.toUpperCase()}`],
    ['another scheme', `Basic ${TOKEN}`],
    ['two tokens', `Bearer ${TOKEN} ${TOKEN}`],
    ['nothing after the scheme', 'Bearer '],
  ])('refuses %s', async (_what, authorization) => {
    const posted = await postRaw(front.url, BODY, { authorization });

    expect(posted.status).toBe(401);
    expect(posted.headers.get('www-authenticate')).toMatch(/^Bearer realm="allium"/);
    expect(JSON.stringify(await posted.json())).not.toContain(TOKEN.slice(0, 8));
  });

  it('does not take the token from the address', async () => {
    expect(
      (
        await postRaw(`${front.url}?token=${TOKEN}&access_token=${TOKEN}`, BODY, {
          authorization: null,
        })
      ).status,
    ).toBe(401);
  });

  it.each(['', 'short', 'with a space in the middle of it', 'tökens-of-sixteen-letters'])(
    'refuses to listen with the token "%s"',
    async (token) => {
      await expect(listenHttp({ port: 0, token, onClient() {} })).rejects.toMatchObject({
        code: 'ERR_INVALID_OPTION',
      });
    },
  );
});
