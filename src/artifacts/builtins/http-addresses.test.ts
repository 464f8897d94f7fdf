import { once } from 'node:events';
import { createServer, get as plainGet } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PRIVATE_SPELLINGS } from '../../permissions/network/hostile-hosts.fixture.ts';
import type { BuiltinGrants } from './builtin-use.ts';
import { HostError } from '../sandbox/host-function.ts';
import { exchange } from './http.ts';
import { httpTargets } from './http-targets.ts';
import { useBuiltins } from './use.fixture.ts';

/** Listens on every address of this machine, by both versions, and counts who comes. */
const inside = createServer((_request, response) => response.end('inside'));
let connections = 0;
let port = 0;
/** Sends whoever asks to where its query says. */
const pointer = createServer((request, response) => {
  const target = new URL(request.url ?? '', 'http://x').searchParams.get('to') ?? '';
  // As bytes: a header holds nothing else.
  response.writeHead(302, { location: Buffer.from(target).toString('latin1') }).end();
});
let pointerPort = 0;

beforeAll(async () => {
  inside.on('connection', () => (connections += 1)).listen(0, '::');
  pointer.listen(0, '127.0.0.1');
  await Promise.all([once(inside, 'listening'), once(pointer, 'listening')]);
  // Both listen on ports, not on pipes.
  [port, pointerPort] = [
    (inside.address() as AddressInfo).port,
    (pointer.address() as AddressInfo).port,
  ];
});
beforeEach(() => {
  connections = 0;
});
afterAll(() => {
  for (const server of [inside, pointer]) {
    server.closeAllConnections();
    server.close();
  }
});

/** As wide as grants can be: every name, and the very port that listens. */
const widest = (more: BuiltinGrants = {}): BuiltinGrants => ({
  allowedDomains: ['*'],
  allowedPorts: [port],
  ...more,
});
const reach = (url: string, grants: BuiltinGrants = widest(), timeoutMs = 20_000) =>
  useBuiltins(grants)
    .call('http.get', [url], { timeout_ms: timeoutMs })
    .then(
      () => 'reached',
      (error: unknown) => String(error),
    );

/** A resolver that gives one answer after another, and the last one from then on. */
function resolver(...answers: readonly (readonly string[])[]): LookupFunction {
  let asked = 0;
  return (_name, _options, answer) => {
    const addresses = answers[Math.min(asked++, answers.length - 1)] ?? [];
    setImmediate(() =>
      answer(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
    );
  };
}

/** Without the one that is octal to a URL, and so a public address. */
const SPELLINGS = PRIVATE_SPELLINGS.filter((host) => host !== '010.0.0.1');

const bracketed = (host: string): string =>
  host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
const urlsOf = (host: string): readonly string[] => [
  `http://${bracketed(host)}:${port}/`,
  `HTTP://${bracketed(host).toUpperCase()}:${port}/`,
  `http:\\\\${bracketed(host)}:${port}\\`,
  `http:/${bracketed(host)}:${port}/`,
  ` \thttp://${bracketed(host)}:${port}/\n`,
  `http://example.org@${bracketed(host)}:${port}/`,
  `http://example.org:80@${bracketed(host)}:${port}/`,
  `http://${bracketed(host)}:${port}/?example.org#@example.org`,
  `http://${bracketed(host)}:0${port}/`,
];

const ADDRESSES: readonly string[] = [
  ...[
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
  ],
  ...[
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '::ffff:a9fe:a9fe',
    'fe80::1',
    'fd00:ec2::254',
    '100.100.100.200',
  ],
  ...['168.63.129.16', '192.0.0.192', '100.64.0.1', '255.255.255.255', '224.0.0.1'],
];

describe('addresses inside', () => {
  it('are there: whoever does not look gets in', async () => {
    const spellings = [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '[::1]',
      '[::ffff:7f00:1]',
      '0.0.0.0',
      '[::]',
      '127.1',
      '127。0。0。1',
    ];
    const answers = await Promise.all(
      spellings.map(async (host) => (await fetch(`http://${host}:${port}/`)).text()),
    );

    expect(answers).toEqual(spellings.map(() => 'inside'));
    expect(connections).toBeGreaterThan(0);
  });

  it('are not connected to by any spelling', async () => {
    const urls = SPELLINGS.flatMap(urlsOf);
    const answers = await Promise.all(urls.map((url) => reach(url)));

    expect(urls.length).toBeGreaterThan(1100);
    expect(
      urls.filter(
        (_url, index) =>
          !/: (?:not allowed|"url" is not a URL|a user and a password)/.test(answers[index] ?? ''),
      ),
    ).toEqual([]);
    expect(connections).toBe(0);
  });

  it('are not connected to by a name that leads there', async () => {
    const names = [
      '127.0.0.1.nip.example.org',
      '7f000001.example.org',
      'metadata.example.org',
      'example.org.',
    ];
    for (const address of ADDRESSES) {
      for (const answers of [[address], ['8.8.8.8', address], [address, '8.8.8.8']]) {
        for (const name of names)
          expect(
            await reach(`http://${name}:${port}/`, widest({ lookup: resolver(answers) })),
          ).toContain('not allowed');
      }
    }

    expect(connections).toBe(0);
  });

  it('are not connected to when the resolver changes its mind', async () => {
    for (const first of [['8.8.8.8'], [], ['127.0.0.1'], ['192.0.2.1']]) {
      for (let round = 0; round < 3; round += 1) {
        const lookup = resolver(...Array.from({ length: round }, () => first), first, [
          '127.0.0.1',
        ]);
        expect(await reach(`http://rebind.example.org:${port}/`, widest({ lookup }), 300)).not.toBe(
          'reached',
        );
      }
    }

    expect(connections).toBe(0);
  });

  it('are not told anything where a lookup has led there all the same: the connection itself is looked at', async () => {
    const requests: string[] = [];
    const told = createServer((request, response) =>
      response.end(`${requests.push(request.url ?? '')}`),
    ).listen(0, '127.0.0.1');
    await once(told, 'listening');
    const url = `http://example.org:${(told.address() as AddressInfo).port}/secret`;
    const call = {
      builtin: 'http.get',
      signal: new AbortController().signal,
      ask: async () => {},
      error: (text: string) => new HostError(text),
    };
    const target = await httpTargets({
      allowedDomains: ['example.org'],
      allowedPorts: [Number(new URL(url).port)],
    }).check(url, undefined, call);
    const limits = { maxBytes: 100, signal: call.signal };
    const led = exchange(
      { ...target, lookup: resolver(['127.0.0.1']) },
      { method: 'GET', headers: {}, body: Buffer.alloc(0) },
      limits,
    );

    await expect(led).rejects.toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
    // Closed when all that came over its connections was read.
    await once(told.close(), 'close');
    expect(requests).toEqual([]);
    expect(ADDRESSES.filter((address) => target.mayTalkTo(address))).toEqual([]);
    expect([
      target.mayTalkTo('8.8.8.8'),
      target.mayTalkTo(undefined),
      target.mayTalkTo('nowhere'),
    ]).toEqual([true, false, false]);
  });

  it('are not connected to by redirect', async () => {
    const from = (to: string) => `http://127.0.0.1:${pointerPort}/?to=${encodeURIComponent(to)}`;
    const grants = widest({
      allowLoopback: [`127.0.0.1:${pointerPort}`],
      lookup: resolver(['127.0.0.1']),
    });
    const targets = [
      ...SPELLINGS.map((host) => `http://${bracketed(host)}:${port}/`),
      `//127.1:${port}/`,
      `\\\\127.1:${port}/`,
    ];
    const names = ['inner.example.org', 'a.nip.io'].map((name) => `http://${name}:${port}/`);
    const answers = await Promise.all([...targets, ...names].map((to) => reach(from(to), grants)));

    expect(
      [...targets, ...names].filter(
        (_to, index) => !/not allowed|is not a URL/.test(answers[index] ?? ''),
      ),
    ).toEqual([]);
    expect(connections).toBe(0);
  });

  it('are not connected to where one of them is granted on another port, or by another address', async () => {
    expect(
      await reach(
        `http://127.0.0.1:${port}/`,
        widest({ allowLoopback: [`127.0.0.1:${pointerPort}`] }),
      ),
    ).toContain('not allowed');
    expect(
      await reach(`http://127.0.0.2:${port}/`, widest({ allowLoopback: [`127.0.0.1:${port}`] })),
    ).toContain('not allowed');
    expect(
      await reach(`http://[::1]:${port}/`, widest({ allowLoopback: [`127.0.0.1:${port}`] })),
    ).toContain('not allowed');
    const lookup = resolver(['127.0.0.2']);
    expect(
      await reach(
        `http://a.example.org:${port}/`,
        widest({ lookup, allowLoopback: [`127.0.0.1:${port}`] }),
      ),
    ).toContain('not allowed');
    expect(connections).toBe(0);

    expect(await reach(`http://127.0.0.1:${port}/`, { allowLoopback: [`127.0.0.1:${port}`] })).toBe(
      'reached',
    );
    expect(connections).toBe(1);
  });
});

describe('whoever checks the name and connects then', () => {
  /** Looks the name up, judges what came, and lets the request look it up again. */
  async function naiveGet(url: string, lookup: LookupFunction): Promise<string> {
    const found = await new Promise<string>((resolve) => {
      lookup(new URL(url).hostname, { all: true }, (_error, addresses) =>
        resolve(Array.isArray(addresses) ? (addresses[0]?.address ?? '') : addresses),
      );
    });
    if (/^(?:127|10|169\.254)\./.test(found)) return 'refused';
    const request = plainGet(url, { lookup, agent: false });
    await once(request, 'response');
    return 'reached';
  }

  it('is led inside by a resolver that changes its mind', async () => {
    const url = `http://rebind.example.org:${port}/`;

    expect(await naiveGet(url, resolver(['127.0.0.1']))).toBe('refused');
    expect(await naiveGet(url, resolver(['8.8.8.8'], ['127.0.0.1']))).toBe('reached');
    expect(connections).toBe(1);
  });

  it('is led inside by a redirect', async () => {
    const response = await fetch(
      `http://127.0.0.1:${pointerPort}/?to=${encodeURIComponent(`http://2130706433:${port}/`)}`,
    );

    expect(await response.text()).toBe('inside');
  });
});
