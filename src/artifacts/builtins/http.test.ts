import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { testClock } from '../../../conformance/test-kit.ts';
import type { BuiltinGrants } from './builtin-use.ts';
import { useBuiltins } from './use.fixture.ts';

const open = new Set<ReturnType<typeof createServer>>();
afterEach(() => {
  for (const server of open) {
    server.closeAllConnections();
    server.close();
  }
  open.clear();
});

/** A real server on this machine that keeps what it was asked. */
async function serve(listener: RequestListener) {
  const seen = {
    connections: 0,
    requests: [] as Pick<IncomingMessage, 'method' | 'url' | 'headers'>[],
  };
  const server = createServer((request, response) => {
    seen.requests.push(request);
    listener(request, response);
  }).on('connection', () => (seen.connections += 1));
  open.add(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  // It listens on a port, not on a pipe.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    seen,
    url: `http://127.0.0.1:${port}`,
    grants: { allowLoopback: [`127.0.0.1:${port}`] },
  };
}

const get = (url: string, grants: BuiltinGrants, kwargs: JsonObject = {}) =>
  useBuiltins(grants).call('http.get', [url], kwargs);
const post = (url: string, grants: BuiltinGrants, kwargs: JsonObject = {}) =>
  useBuiltins(grants).call('http.post', [url], kwargs);
/** Every name is on this machine. */
const here: LookupFunction = (_name, _options, answer) =>
  answer(null, [{ address: '127.0.0.1', family: 4 }]);
const echo: RequestListener = (request, response) =>
  void request.pipe(response.writeHead(200, { 'x-method': request.method ?? '' }));

describe('http', () => {
  it('gets and posts, and answers with status, headers and body', async () => {
    const server = await serve(echo);
    const use = useBuiltins(server.grants);

    expect(
      await use.call('http.get', [`${server.url}/a?b=c#d`], { headers: { Accept: 'text/plain' } }),
    ).toMatchObject({
      status: 200,
      body: '',
    });
    const posted = await use.call('http.post', [server.url], {
      body: 'né',
      headers: { 'Content-Type': 'text/plain' },
    });
    expect(posted).toMatchObject({ status: 200, headers: { 'x-method': 'POST' }, body: 'né' });
    expect(Object.keys(posted as object)).toEqual(['status', 'headers', 'body']);
    expect(server.seen.requests.map(({ method, url }) => [method, url])).toEqual([
      ['GET', '/a?b=c'],
      ['POST', '/'],
    ]);
    expect(server.seen.requests[0]?.headers).toMatchObject({
      accept: 'text/plain',
      'accept-encoding': 'identity',
    });
    expect(use.asked).toEqual(
      Array.from({ length: 2 }, () => ({
        kind: 'network.connect',
        host: '127.0.0.1',
        port: server.port,
      })),
    );
  });

  it('does not wait for ever for a server that speaks of another protocol', async () => {
    const server = await serve(() => {});
    for (const one of open)
      one.on('connection', (socket) =>
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
        ),
      );

    await expect(get(server.url, server.grants, { timeout_ms: 20_000 })).rejects.toThrow(
      'http.get: the exchange failed',
    );
  });

  it('answers with what a server refuses, too', async () => {
    const server = await serve((_request, response) =>
      response.writeHead(404, { 'set-cookie': ['a=1', 'b=2'] }).end('gone'),
    );

    expect(await get(server.url, server.grants)).toMatchObject({
      status: 404,
      headers: { 'set-cookie': 'a=1, b=2' },
      body: 'gone',
    });
  });

  it('connects to nobody without permission', async () => {
    const server = await serve(echo);
    const use = useBuiltins(server.grants, { denies: 'network.' });

    await expect(use.call('http.get', [server.url])).rejects.toThrow('not permitted');
    expect(server.seen.connections).toBe(0);
    expect(use.recorded).toMatchObject([{ builtin: 'http.get', outcome: 'refused' }]);
  });

  it('reaches granted names and those below them, on granted ports', async () => {
    const server = await serve(echo);
    const grants = {
      ...server.grants,
      lookup: here,
      allowedDomains: ['Example.org', '*.example.net'],
      allowedPorts: [server.port],
    };
    const to = (host: string, port = server.port) =>
      get(`http://${host}:${port}/`, grants).then(
        () => 'reached',
        (error: unknown) => String(error),
      );

    for (const host of [
      'example.org',
      'EXAMPLE.ORG',
      'a.example.org',
      'a.b.example.org',
      'a.example.net',
      'example.org.',
    ])
      expect(await to(host)).toBe('reached');
    for (const host of [
      'example.net',
      'evilexample.org',
      'example.org.evil.test',
      'evil.test',
      'example.orgs',
    ])
      expect(await to(host)).toContain('not on the list');
    expect(await to('example.org', 81)).toContain('`port` is not allowed');
    expect(server.seen.connections).toBe(6);
  });

  it('reaches nothing where nothing is granted', async () => {
    const server = await serve(echo);

    for (const grants of [{}, { allowedDomains: [] }, { allowedDomains: ['*'] }])
      await expect(get(server.url, grants)).rejects.toThrow('not allowed');
    expect(server.seen.connections).toBe(0);
  });

  it.each([
    'ftp://example.org/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'javascript:1',
    'ws://example.org',
    '/path',
    '',
    'http://',
  ])('refuses %j', async (url) => {
    await expect(get(url, { allowedDomains: ['*'] })).rejects.toThrow(
      /only http and https|is not a URL/,
    );
  });

  it('sends no user and password that stand in a URL', async () => {
    await expect(get('http://user:pass@example.org/', { allowedDomains: ['*'] })).rejects.toThrow(
      'use a header',
    );
  });

  it.each([
    ...[
      'Host',
      'content-length',
      'Transfer-Encoding',
      'connection',
      'Upgrade',
      'proxy-authorization',
      'Expect',
      'accept-encoding',
    ],
  ])('lets no script set the header %s', async (name) => {
    const server = await serve(echo);

    await expect(get(server.url, server.grants, { headers: { [name]: 'x' } })).rejects.toThrow(
      "not the script's to set",
    );
    expect(server.seen.connections).toBe(0);
  });

  it.each([
    { 'a b': 'x' },
    { '': 'x' },
    { a: 'x\r\nb: y' },
    { 'a\r\nb': 'x' },
    { a: 'x\0' },
    { a: '\u2028' },
  ])('sends no header that would become two: %j', async (headers) => {
    const server = await serve(echo);

    await expect(get(server.url, server.grants, { headers })).rejects.toThrow('cannot be sent');
    expect(server.seen.connections).toBe(0);
  });

  it('cuts what is too long, and the connection with it', async () => {
    let closed = () => {};
    const gone = new Promise<void>((resolve) => (closed = resolve));
    const server = await serve((_request, response) => {
      response.on('close', closed);
      const more = (): void => {
        if (response.write('x'.repeat(1000))) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    });
    const answer = (await get(server.url, { ...server.grants, maxOutputBytes: 100 })) as {
      body: string;
    };

    expect(answer.body).toBe(`${'x'.repeat(100)}\n[cut: more than 100 bytes]`);
    await gone;
  });

  it('waits for all hops together as long as it was told, and not for a caller that has gone', async () => {
    const server = await serve(() => {});
    const clock = testClock();
    const use = useBuiltins(server.grants, { clock });
    const waiting = use.call('http.get', [server.url], { timeout_ms: 5000 });
    waiting.catch(() => {});
    await vi.waitFor(() => expect(server.seen.requests.length).toBe(1));
    await clock.advance(5000);
    await expect(waiting).rejects.toThrow('http.get: no answer within 5000 ms');

    const second = use.call('http.get', [server.url]);
    second.catch(() => {});
    await vi.waitFor(() => expect(server.seen.requests.length).toBe(2));
    use.controller.abort();
    await expect(second).rejects.toThrow('http.get: cancelled');
    expect(use.recorded.map(({ outcome }) => outcome)).toEqual(['failed', 'cancelled']);
  });

  it('does not ask proxies that the environment names', async () => {
    const [server, proxy] = [await serve(echo), await serve(echo)];
    vi.stubEnv('http_proxy', proxy.url)
      .stubEnv('HTTP_PROXY', proxy.url)
      .stubEnv('ALL_PROXY', proxy.url)
      .stubEnv('NODE_USE_ENV_PROXY', '1');
    await get(server.url, server.grants).finally(() => vi.unstubAllEnvs());

    expect([server.seen.connections, proxy.seen.connections]).toEqual([1, 0]);
  });

  it('tells nothing of the inside when a connection fails', async () => {
    const server = await serve((request) => request.socket.destroy());

    await expect(get(server.url, server.grants)).rejects.toThrow(
      /^http\.get: the exchange failed \(ECONNRESET\)$/,
    );
  });

  it.each([
    [[], {}, 'http.get: missing argument "url", a string'],
    [
      ['http://example.org'],
      { header: {} },
      'http.get: has no argument "header"; did you mean "headers"?',
    ],
    [
      ['http://example.org'],
      { headers: { a: 1 } },
      'http.get: "headers" must be a dict of strings, got a dict',
    ],
    [['http://example.org'], { body: 'x' }, 'http.get: takes no "body": use http.post'],
    [
      ['http://example.org'],
      { timeout_ms: 0 },
      'http.get: "timeout_ms" must be a whole number from 1 to 600000',
    ],
  ])('refuses %j %j', async (args, kwargs, message) => {
    await expect(
      useBuiltins({ allowedDomains: ['example.org'] }).call('http.get', args, kwargs),
    ).rejects.toThrow(message);
  });

  it.each([
    [{ allowedDomains: ['localhost'] }, 'allowedDomains'],
    [{ allowedDomains: ['127.0.0.1'] }, 'allowedDomains'],
    [{ allowedDomains: ['10.0.0.0/8'] }, 'allowedDomains'],
    [{ allowedDomains: ['a.internal'] }, 'allowedDomains'],
    [{ allowedDomains: ['https://example.org'] }, 'allowedDomains'],
    [{ allowedDomains: ['example.org:8080'] }, 'allowedDomains'],
    [{ allowLoopback: ['10.0.0.1:80'] }, 'allowLoopback'],
    [{ allowLoopback: ['127.0.0.1'] }, 'allowLoopback'],
    [{ allowLoopback: ['localhost:80'] }, 'allowLoopback'],
    [{ allowedPorts: [70_000] }, 'allowedPorts'],
    [{ allowPrivateNetwork: true }, 'allowPrivateNetwork'],
    [{ allowedDomain: [] }, 'allowedDomain'],
  ])('is not made of the grants %j', (grants, option) => {
    expect(() => useBuiltins(grants as BuiltinGrants)).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_OPTION',
        details: expect.objectContaining({ option }) as unknown,
      }),
    );
  });
});

describe('a redirect', () => {
  const to =
    (target: string, status = 302): RequestListener =>
    (_request, response) =>
      void response.writeHead(status, { location: target }).end();

  it('is followed where it may be, with the method and the body that it keeps', async () => {
    const end = await serve(echo);
    const grants = (port: number) => ({
      allowLoopback: [...end.grants.allowLoopback, `127.0.0.1:${port}`],
    });
    const statuses = await Promise.all(
      [301, 302, 303, 307, 308].map(async (status) => {
        const first = await serve(to(`${end.url}/next`, status));
        const answer = (await post(first.url, grants(first.port), { body: 'sent' })) as {
          headers: { 'x-method': string };
          body: string;
        };
        return [status, answer.headers['x-method'], answer.body];
      }),
    );

    expect(statuses).toEqual([
      [301, 'GET', ''],
      [302, 'GET', ''],
      [303, 'GET', ''],
      [307, 'POST', 'sent'],
      [308, 'POST', 'sent'],
    ]);
  });

  it('carries no secret to another host or port', async () => {
    const end = await serve(echo);
    const first = await serve((request, response) =>
      to(request.url === '/same' ? '/other' : `${end.url}/end`)(request, response),
    );
    const headers = {
      Authorization: 'canary',
      Cookie: 'canary',
      'X-Api-Key': 'canary',
      Accept: 'text/plain',
    };
    await get(
      `${first.url}/same`,
      { allowLoopback: [...first.grants.allowLoopback, ...end.grants.allowLoopback] },
      { headers },
    );

    expect(first.seen.requests.map(({ url, headers: sent }) => [url, sent['x-api-key']])).toEqual([
      ['/same', 'canary'],
      ['/other', 'canary'],
    ]);
    expect(end.seen.requests[0]?.headers).toMatchObject({ accept: 'text/plain' });
    expect(JSON.stringify(end.seen.requests[0]?.headers)).not.toContain('canary');
  });

  it('is asked about hop by hop, and not followed for ever', async () => {
    const server = await serve(
      (_request, response) => void response.writeHead(302, { location: '/again' }).end(),
    );
    const use = useBuiltins(server.grants);

    await expect(use.call('http.get', [server.url])).rejects.toThrow(
      'http.get: redirected more than 5 times',
    );
    expect(server.seen.connections).toBe(6);
    expect(use.asked.length).toBe(7);
  });

  it('to another kind of place is refused', async () => {
    for (const target of [
      'file:///etc/passwd',
      'ftp://example.org/',
      'http://user@example.org/',
      'https://evil.test/',
      'http://[',
    ]) {
      const server = await serve(to(target));
      await expect(
        get(server.url, { ...server.grants, allowedDomains: ['example.org'] }),
      ).rejects.toThrow('http.get:');
    }
  });
});
