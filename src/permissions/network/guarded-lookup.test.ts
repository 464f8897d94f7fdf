import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type RequestListener } from 'node:http';
import type { LookupAddress } from 'node:dns';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { makeRequest } from '../make-request.fixture.ts';
import { networkPolicy, networkRequestOf } from './network-policy.ts';
import type { PermissionAnswer } from '../permission.ts';
import { guardedLookup } from './guarded-lookup.ts';

const open = new Set<ReturnType<typeof createServer>>();
afterEach(() => {
  for (const server of open) server.close();
  open.clear();
});

/** A real server on this machine that counts who connects. */
async function serve(listener: RequestListener) {
  const seen = { connections: 0 };
  const server = createServer(listener).on('connection', () => (seen.connections += 1));
  open.add(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  // It listens on a port, not on a pipe.
  return { port: (server.address() as AddressInfo).port, seen };
}

/** A resolver that gives one answer after another, and the last one from then on. */
function resolver(...answers: readonly (readonly string[])[]): LookupFunction {
  let asked = 0;
  return (_hostname, _options, answer) => {
    const addresses = answers[Math.min(asked++, answers.length - 1)] ?? [];
    setImmediate(() =>
      answer(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
    );
  };
}

async function fetchOnce(url: string | URL, lookup: LookupFunction): Promise<IncomingMessage> {
  const request = get(url, { lookup, agent: false });
  // Events carry what they are typed as for this request.
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response.resume();
}

const look = (lookup: LookupFunction, name: string, options: object = { all: true }) =>
  new Promise<{ code?: unknown; found?: string | LookupAddress[]; family?: number | undefined }>(
    (resolve) => {
      lookup(name, options, (error, found, family) =>
        resolve(error === null ? { found, family } : { code: error.code }),
      );
    },
  );

const REFUSED = { code: 'ERR_ADDRESS_REFUSED' };

describe('guardedLookup', () => {
  it('lets a name pass that leads to public addresses, in the form that was asked for', async () => {
    const lookup = guardedLookup({ lookup: resolver(['8.8.8.8', '2606:4700::1111']) });

    expect(await look(lookup, 'example.org')).toEqual({
      found: [
        { address: '8.8.8.8', family: 4 },
        { address: '2606:4700::1111', family: 6 },
      ],
    });
    expect(await look(lookup, 'example.org', {})).toEqual({ found: '8.8.8.8', family: 4 });
  });

  it('hands on what was asked, and what the resolver failed with', async () => {
    const asked: object[] = [];
    const lookup = guardedLookup({
      lookup: (_name, options, answer) => {
        asked.push(options);
        answer(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), '', 0);
      },
    });

    expect(await look(lookup, 'example.org', { family: 4, hints: 32 })).toEqual({
      code: 'ENOTFOUND',
    });
    expect(asked).toEqual([{ family: 4, hints: 32, all: true }]);
  });

  it('refuses the real localhost: the system is asked, and no connection is made', async () => {
    const { port, seen } = await serve((_request, response) => response.end('inside'));

    await expect(fetchOnce(`http://localhost:${port}/`, guardedLookup())).rejects.toMatchObject(
      REFUSED,
    );
    await expect(
      fetch(`http://127.0.0.1:${port}/`).then((response) => response.text()),
    ).resolves.toBe('inside');
    expect(seen.connections).toBe(1);
  });

  it.each([
    ...[
      '127.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      '224.0.0.1',
      '::1',
      '::',
      'fe80::1',
      'fe80::1%eth0',
      'fd00:ec2::254',
    ],
    ...[
      '::ffff:127.0.0.1',
      '::127.0.0.1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '168.63.129.16',
      '127.1',
      'example.org',
      '',
    ],
  ])('refuses a name that leads to %j, alone and behind a public address', async (address) => {
    expect(await look(guardedLookup({ lookup: resolver([address]) }), 'example.org')).toEqual(
      REFUSED,
    );
    expect(
      await look(guardedLookup({ lookup: resolver(['8.8.8.8', address]) }), 'example.org', {}),
    ).toEqual(REFUSED);
  });

  it.each([[[]], [undefined], [null], [7], [[null]], [[{}]], [[{ address: 7 }]]])(
    'refuses when a resolver answers %j',
    async (found) => {
      const lookup: LookupFunction = (_name, _options, answer) => answer(null, found as never);

      expect(await look(guardedLookup({ lookup }), 'example.org')).toEqual(REFUSED);
    },
  );

  it('takes one address of a resolver that does not know how to give all', async () => {
    const lookup: LookupFunction = (_name, _options, answer) => answer(null, '8.8.8.8', 4);

    expect(await look(guardedLookup({ lookup }), 'example.org')).toEqual({
      found: [{ address: '8.8.8.8', family: 4 }],
    });
  });

  it('says neither the name nor the address', async () => {
    const failed = await fetchOnce(
      'http://sk-secret.example.org/',
      guardedLookup({ lookup: resolver(['10.9.8.7']) }),
    ).catch((error: unknown) => error);

    expect(failed).toMatchObject({
      ...REFUSED,
      message: 'the host leads to an address that must not be reached',
    });
    expect(JSON.stringify(failed)).not.toMatch(/secret|10\.9/);
  });

  it('reaches what it is told to, and never what it is told not to', async () => {
    const to = async (options: object, address: string) =>
      (await look(guardedLookup({ ...options, lookup: resolver([address]) }), 'a')).code ?? 'fine';

    expect(await to({ allow: ['10.1.0.0/16'] }, '10.1.2.3')).toBe('fine');
    expect(await to({ allow: ['10.1.0.0/16'] }, '::ffff:10.1.2.3')).toBe('fine');
    expect(await to({ allow: ['10.1.0.0/16'] }, '10.2.0.1')).toBe('ERR_ADDRESS_REFUSED');
    expect(await to({ allow: ['10.1.0.0/16'] }, '2002:a01:203::')).toBe('ERR_ADDRESS_REFUSED');
    expect(await to({ privateRanges: 'allow' }, '10.2.0.1')).toBe('fine');
    expect(await to({ privateRanges: 'allow', deny: ['10.2.0.1'] }, '2002:a02:1::')).toBe(
      'ERR_ADDRESS_REFUSED',
    );
    expect(await to({ deny: ['8.8.8.0/24'] }, '8.8.8.8')).toBe('ERR_ADDRESS_REFUSED');
    expect(await to({ allow: ['::1'], deny: ['::/0'] }, '::1')).toBe('ERR_ADDRESS_REFUSED');
  });

  it('leads a name that changes its address nowhere: the connection goes to what was looked at', async () => {
    const { port, seen } = await serve((_request, response) => response.end('inside'));
    const changing = resolver(['192.0.2.1'], ['127.0.0.1']);
    const url = `http://rebind.example.org:${port}/`;
    const byHand = async () => {
      const [{ address } = { address: '' }] = (await look(changing, 'rebind.example.org'))
        .found as LookupAddress[];
      return address === '127.0.0.1' ? null : fetchOnce(url, changing);
    };

    expect((await byHand())?.statusCode).toBe(200);
    expect(seen.connections).toBe(1);
    for (let round = 0; round < 20; round += 1) {
      const lookup = guardedLookup({
        allow: ['192.0.2.1'],
        lookup: resolver(['127.0.0.1'], ['192.0.2.1']),
      });
      await expect(fetchOnce(url, lookup)).rejects.toMatchObject(REFUSED);
    }
    expect(seen.connections).toBe(1);
  });

  it.each([
    [{ privateRanges: 'ask' }, 'privateRanges'],
    [{ allow: ['localhost'] }, 'allow'],
    [{ deny: '10.0.0.0/8' }, 'deny'],
    [{ lookup: 'system' }, 'lookup'],
    [{ ask: [] }, 'ask'],
  ])('is not made of %j', (wrong, option) => {
    const details = expect.objectContaining({ layer: 'guardedLookup', option }) as unknown;

    expect(() => guardedLookup(wrong as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', details }),
    );
  });
});

describe('a redirect', () => {
  const policy = networkPolicy({ allow: ['*.example.org:*'] });
  const judge = async (url: string, base?: string) =>
    (await policy.evaluate(makeRequest({}, networkRequestOf(url, base)))) as PermissionAnswer;

  /** Follows as a tool has to: every hop is judged before anybody connects. */
  async function follow(url: string, lookup: LookupFunction): Promise<string> {
    let at = url;
    for (let hop = 0; hop < 5; hop += 1) {
      const { decision, code = '' } = await judge(at);
      if (decision !== 'allow') return code;
      const { statusCode = 0, headers } = await fetchOnce(at, lookup);
      if (statusCode < 300 || statusCode > 399) return String(statusCode);
      at = new URL(headers.location ?? '', at).href;
    }
    return 'too many';
  }

  it('is judged hop by hop, by host and by what the host leads to', async () => {
    const inside = await serve((_request, response) => response.end('inside'));
    const to =
      (target: string): RequestListener =>
      (request, response) => {
        response.writeHead(request.url === '/done' ? 200 : 302, { location: target }).end();
      };
    const literal = await serve(to(`http://127.0.0.1:${inside.port}/`));
    const odd = await serve(to(`//2130706433:${inside.port}/`));
    const name = await serve(to(`http://inner.example.org:${inside.port}/`));
    const fine = await serve(to('/done'));
    // The outer servers are on this machine too: the test allows that address for them, and another
    // one for nobody.
    const lookup = guardedLookup({
      allow: ['127.0.0.1'],
      lookup: (host, options, answer) =>
        resolver([host === 'inner.example.org' ? '127.0.0.2' : '127.0.0.1'])(host, options, answer),
    });

    expect(await follow(`http://a.example.org:${literal.port}/`, lookup)).toBe('host_private');
    expect(await follow(`http://a.example.org:${odd.port}/`, lookup)).toBe('host_private');
    await expect(follow(`http://a.example.org:${name.port}/`, lookup)).rejects.toMatchObject(
      REFUSED,
    );
    expect(await follow(`http://a.example.org:${fine.port}/`, lookup)).toBe('200');
    expect(inside.seen.connections).toBe(0);
  });

  it('to an address passes by a lookup: whoever does not judge it is inside', async () => {
    const inside = await serve((_request, response) => response.end('inside'));

    expect((await fetchOnce(`http://127.0.0.1:${inside.port}/`, guardedLookup())).statusCode).toBe(
      200,
    );
    expect(inside.seen.connections).toBe(1);
  });
});
