import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRequest } from '../make-request.fixture.ts';
import { LOOK_ALIKES, PRIVATE_SPELLINGS } from './hostile-hosts.fixture.ts';
import { type NetworkPolicyOptions, networkPolicy } from './network-policy.ts';
import type { PermissionAnswer } from '../permission.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

/** Hostile fields are not of the type; ready-made policies answer with the object form. */
async function answerOf(options: NetworkPolicyOptions, fields: object): Promise<PermissionAnswer> {
  return (await networkPolicy(options).evaluate({
    ...makeRequest(),
    kind: 'network.connect',
    ...fields,
  } as never)) as PermissionAnswer;
}

async function codeOf(
  options: NetworkPolicyOptions,
  host: unknown,
  port: unknown = 443,
): Promise<string> {
  const { decision, code } = await answerOf(options, { host, port });
  return `${decision}: ${code}`;
}

const LISTS: NetworkPolicyOptions = { allow: ['example.org', '*.example.net'] };

/** What is written by hand everywhere: comparing text. */
const naive = {
  isPrivate: (host: string) =>
    /^(localhost$|127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|0\.0\.0\.0$|\[?::1\]?$|\[?f[cd])/.test(
      host,
    ),
  isListed: (host: string) =>
    host.toLowerCase().startsWith('example.org') ||
    host.toLowerCase().trim().endsWith('example.net'),
};

describe('networkPolicy', () => {
  it.each([
    ['example.org', 443, 'allow: host_allowed'],
    ['EXAMPLE.org.', 80, 'allow: host_allowed'],
    ['ｅxample。org', 443, 'allow: host_allowed'],
    ['a.example.net', 443, 'allow: host_allowed'],
    ['a.b.example.net', 443, 'allow: host_allowed'],
    ['münchen.example.net', 443, 'allow: host_allowed'],
    ['xn--mnchen-3ya.example.net', 443, 'allow: host_allowed'],
    ['_dmarc.example.net', 443, 'allow: host_allowed'],
    ['example.net', 443, 'deny: host_unknown'],
    ['bad.example.net', 443, 'deny: host_denied'],
    ['BAD.example.net.', 8443, 'deny: host_denied'],
    ['slow.example.net', 443, 'require_approval: host_asked'],
    ['slow.example.net', 22, 'deny: port_denied'],
    ['example.org', 22, 'deny: port_denied'],
    ['db.example.test', 5432, 'allow: host_allowed'],
    ['db.example.test', 5433, 'allow: host_allowed'],
    ['db.example.test', 443, 'deny: port_denied'],
    ['any.example.test', 65_535, 'allow: host_allowed'],
    ['8.8.8.8', 443, 'allow: host_allowed'],
    ['134744072', 443, 'allow: host_allowed'],
    ['::ffff:8.8.8.8', 443, 'allow: host_allowed'],
    ['64:ff9b::808:808', 443, 'allow: host_allowed'],
    ['8.8.4.4', 443, 'deny: host_unknown'],
    ['2606:4700::1111', 443, 'allow: host_allowed'],
    ['[2606:4700:0:0::1111]', 443, 'allow: host_allowed'],
    ['2606:4701::1', 443, 'deny: host_unknown'],
    ['1.1.1.1', 853, 'allow: host_allowed'],
    ['1.1.1.1', 443, 'deny: port_denied'],
    ['1.1.9.9', 443, 'deny: host_denied'],
    ['::ffff:1.1.9.9', 853, 'deny: host_denied'],
    ['64:ff9b::1.1.9.9', 853, 'deny: host_denied'],
    ['constructor.example.org', 443, 'deny: host_unknown'],
  ])('says of %s and port %i: %s', async (host, port, verdict) => {
    const options: NetworkPolicyOptions = {
      allow: [
        'example.org',
        '*.Example.NET',
        'db.example.test:5432,5433',
        'any.example.test:*',
        '8.8.8.8',
        '2606:4700::/32',
        '1.1.0.0/16:853',
      ],
      ask: ['slow.example.net'],
      deny: ['bad.example.net', '1.1.9.0/24'],
    };

    expect(await codeOf(options, host, port)).toBe(verdict);
  });

  it('has no opinion on other kinds, and refuses a kind nobody knows', async () => {
    expect(await networkPolicy({}).evaluate(makeRequest())).toEqual({ decision: 'no_opinion' });
    expect(
      await answerOf({ allow: ['*'] }, { kind: 'network.listen', host: 'example.org', port: 443 }),
    ).toMatchObject({
      decision: 'deny',
      code: 'network_kind',
    });
  });

  it.each([0, -1, 65_536, 443.5, Number.NaN, '443', null, [443]])(
    'refuses the port %j',
    async (port) => {
      expect(await codeOf({ allow: ['example.org:*'] }, 'example.org', port)).toBe(
        'deny: port_invalid',
      );
    },
  );

  it.each([undefined, null, 7, {}, ['example.org'], new String('example.org')])(
    'refuses the host %j',
    async (host) => {
      expect(await codeOf({ allow: ['*', 'example.org'] }, host)).toBe('deny: host_invalid');
    },
  );

  it('needs a port unless every port is allowed, and takes one that is not named for each that is denied', async () => {
    const without = async (options: NetworkPolicyOptions) =>
      (await answerOf(options, { host: 'example.org' })).code;

    expect(await without({ allow: ['example.org'] })).toBe('port_unknown');
    expect(await without({ allow: ['example.org'], ports: 'any' })).toBe('host_allowed');
    expect(await without({ allow: ['example.org:*'] })).toBe('host_allowed');
    expect(await without({ allow: ['example.org:*'], deny: ['example.org:22'] })).toBe(
      'host_denied',
    );
    expect(await without({ allow: ['example.org:*'], ask: ['example.org:22'] })).toBe('host_asked');
  });

  it('uses ports for entries that name none, and for hosts in no list', async () => {
    expect(await codeOf({ ...LISTS, ports: [8080] }, 'example.org', 8080)).toBe(
      'allow: host_allowed',
    );
    expect(await codeOf({ ...LISTS, ports: [8080] }, 'example.org', 443)).toBe('deny: port_denied');
    expect(await codeOf({ ...LISTS, ports: [] }, 'example.org', 443)).toBe('deny: port_denied');
    expect(await codeOf({ unknown: 'ask' }, 'example.org', 443)).toBe(
      'require_approval: host_unknown',
    );
    expect(await codeOf({ unknown: 'ask' }, 'example.org', 22)).toBe('deny: port_denied');
  });

  it('lets deny override ask, and ask override allow, however narrow the others are', async () => {
    const both: NetworkPolicyOptions = { allow: ['a.example.org:8443'], ask: ['*.example.org'] };

    expect(await codeOf(both, 'a.example.org', 8443)).toBe('require_approval: host_asked');
    expect(await codeOf({ ...both, deny: ['*'] }, 'a.example.org', 8443)).toBe('deny: host_denied');
    expect(
      await codeOf({ allow: ['example.org'], ask: ['example.org:80'] }, 'example.org', 443),
    ).toBe('allow: host_allowed');
    expect(
      await codeOf({ allow: ['example.org'], deny: ['example.org:80'] }, 'example.org', 443),
    ).toBe('allow: host_allowed');
    expect(await codeOf({}, 'example.org')).toBe('deny: host_unknown');
  });

  it('keeps what is private for entries that mean nothing else', async () => {
    const wide = { allow: ['*', '0.0.0.0/0', '::/0'], ports: 'any' } as const;

    expect(await codeOf(wide, '10.1.2.3')).toBe('deny: host_private');
    expect(await codeOf({ ...wide, privateRanges: 'ask' }, '10.1.2.3')).toBe(
      'require_approval: host_private',
    );
    expect(await codeOf({ ...wide, privateRanges: 'allow' }, '10.1.2.3')).toBe(
      'allow: host_allowed',
    );
    expect(await codeOf({ ...wide, privateRanges: 'allow', ask: ['*'] }, '10.1.2.3')).toBe(
      'require_approval: host_asked',
    );
    expect(
      await codeOf({ ...wide, privateRanges: 'allow', deny: ['10.0.0.0/8'] }, '2002:a01:203::'),
    ).toBe('deny: host_denied');
    expect(await codeOf({ privateRanges: 'allow' }, 'localhost', 3000)).toBe('deny: port_denied');
    for (const entry of ['10.1.2.3', '10.1.0.0/16', '10.0.0.0/8'])
      expect(await codeOf({ allow: [entry] }, '10.1.2.3')).toBe('allow: host_allowed');
    expect(await codeOf({ allow: ['10.1.2.3'] }, '10.1.2.4')).toBe('deny: host_private');
    expect(await codeOf({ allow: ['localhost:3000'] }, 'LOCALHOST.', 3000)).toBe(
      'allow: host_allowed',
    );
    expect(await codeOf({ allow: ['localhost:3000'] }, '127.0.0.1', 3000)).toBe(
      'deny: host_private',
    );
    expect(await codeOf({ allow: ['*.internal'] }, 'a.b.internal')).toBe('allow: host_allowed');
    expect(await codeOf({ ask: ['::1'] }, '[::1]')).toBe('require_approval: host_asked');
    expect(await codeOf({ unknown: 'ask' }, '10.1.2.3')).toBe('deny: host_private');
    for (const host of ['a.notlocal', 'localhost.example.org', 'internal.example.org'])
      expect(await codeOf(wide, host)).toBe('allow: host_allowed');
  });

  it('refuses what any way of reading refuses', async () => {
    expect(await codeOf({ allow: ['8.8.8.8'] }, '010.8.8.8')).toBe('deny: host_private');
    expect(
      await codeOf({ allow: ['*'], deny: ['strasse.example.net'] }, 'Straße.example.net'),
    ).toBe('deny: host_denied');
    expect(await codeOf({ allow: ['xn--strae-oqa.example.net'] }, 'Straße.example.net')).toBe(
      'deny: host_unknown',
    );
  });
});

describe('networkPolicy and hostile hosts', () => {
  it('knows many of them, each once', () => {
    expect(new Set([...PRIVATE_SPELLINGS, ...LOOK_ALIKES]).size).toBe(
      PRIVATE_SPELLINGS.length + LOOK_ALIKES.length,
    );
    expect(PRIVATE_SPELLINGS.length).toBeGreaterThan(100);
    expect(LOOK_ALIKES.length).toBeGreaterThan(100);
  });

  it.each(PRIVATE_SPELLINGS)('lets everything pass but %j', async (host) => {
    expect(await codeOf({ allow: ['*'], unknown: 'ask', ports: 'any' }, host)).toBe(
      'deny: host_private',
    );
  });

  it.each(LOOK_ALIKES)('does not take %j for a host of the list', async (host) => {
    expect(await codeOf(LISTS, host)).toMatch(/^deny: host_(?:unknown|invalid|private)$/);
    expect(await codeOf({ ...LISTS, privateRanges: 'ask' }, host)).not.toMatch(/^allow/);
  });

  it('is not what text comparison is: that lets a hundred of them pass', () => {
    expect(PRIVATE_SPELLINGS.filter((host) => !naive.isPrivate(host)).length).toBeGreaterThan(60);
    expect(LOOK_ALIKES.filter(naive.isListed).length).toBeGreaterThan(50);
  });

  it('judges an IPv4 address alike in every spelling', async () => {
    const spellings = ([a = 0, b = 0, c = 0, d = 0]: readonly number[]): readonly string[] => {
      const whole = ((a * 256 + b) * 256 + c) * 256 + d;
      return [
        ...[
          `${whole}`,
          `0x${whole.toString(16)}`,
          `${a}.${whole % 2 ** 24}`,
          `${a}.${b}.${c * 256 + d}`,
          `0x${a.toString(16)}.${b}.${c}.${d}`,
        ],
        ...[
          `${a}.${b}.${c}.${d}.`,
          `[::ffff:${a}.${b}.${c}.${d}]`,
          `64:ff9b::${a}.${b}.${c}.${d}`,
          `${a}。${b}．${c}｡${d}`,
        ],
      ];
    };

    await fc.assert(
      fc.asyncProperty(
        fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)),
        async (parts) => {
          const plain = await codeOf({ allow: ['*'] }, parts.join('.'));
          for (const host of spellings(parts))
            expect(await codeOf({ allow: ['*'] }, host), host).toBe(plain);
        },
      ),
    );
  });

  it('allows by a wildcard what ends in its labels, and nothing else', async () => {
    const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);

    await fc.assert(
      fc.asyncProperty(
        fc.array(label, { minLength: 1, maxLength: 3 }),
        label,
        async (labels, glued) => {
          const name = `${labels.join('.')}.example.net`;
          expect(await codeOf({ allow: ['*.example.net'] }, name)).toBe('allow: host_allowed');
          expect(await codeOf({ allow: ['*.example.net'] }, `${glued}example.net`)).toBe(
            'deny: host_unknown',
          );
          expect(await codeOf({ allow: ['*.example.net'] }, `${name}.${glued}`)).not.toMatch(
            /^allow/,
          );
        },
      ),
    );
  });

  it('never throws, and never allows what is in no list', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.webAuthority({ withUserInfo: true, withPort: true }),
          fc.anything(),
        ),
        async (host) => {
          const { decision, code } = await answerOf(
            { allow: ['only.example.org'], privateRanges: 'ask', unknown: 'ask' },
            { host, port: 443 },
          );
          expect([decision, typeof code]).not.toContain('allow');
          expect(code).toMatch(/^(?:host|port)_[a-z]+$/);
        },
      ),
      { numRuns: howMany(500, 2_000) },
    );
  });

  it('gets no wider by a deny, an ask or a port less', async () => {
    const order = ['deny', 'require_approval', 'allow'];
    const entry = fc.constantFrom(
      '*',
      'example.org',
      '*.example.org',
      'a.example.org',
      '10.0.0.0/8',
      '10.0.0.1',
      '8.8.8.8',
      'localhost',
      '::/0',
      'example.org:22',
    );
    const host = fc.constantFrom(
      'example.org',
      'a.example.org',
      '10.0.0.1',
      '8.8.8.8',
      'localhost',
      '::ffff:10.0.0.1',
      '2002:a00:1::',
      'example.net',
    );
    const lists = fc.record({
      allow: fc.array(entry),
      ask: fc.array(entry),
      deny: fc.array(entry),
      privateRanges: fc.constantFrom('deny', 'ask', 'allow'),
      unknown: fc.constantFrom('deny', 'ask'),
    });

    await fc.assert(
      fc.asyncProperty(
        lists,
        entry,
        host,
        fc.constantFrom(22, 443),
        async (options, added, asked, port) => {
          const rank = async (changed: object) =>
            order.indexOf(
              (await answerOf({ ...options, ...changed }, { host: asked, port })).decision,
            );
          const before = await rank({});
          expect(await rank({ deny: [...options.deny, added] })).toBeLessThanOrEqual(before);
          if (before === 2)
            expect(await rank({ ask: [...options.ask, added] })).toBeLessThanOrEqual(before);
          expect(await rank({ ports: [443] })).toBeLessThanOrEqual(before);
        },
      ),
      { numRuns: howMany(125, 500) },
    );
  });
});

describe('an answer of networkPolicy', () => {
  it('says which argument failed and what would pass, and not what was asked for', async () => {
    const reasonOf = async (host: string, port?: number) =>
      (await answerOf({ allow: ['example.org', '*.example.net:8443'] }, { host, port })).reason;

    expect(await reasonOf('sk-secret.evil.test', 443)).toBe(
      '`host` is not on the list; allowed: example.org, *.example.net:8443',
    );
    expect(await reasonOf('sk-secret.local', 443)).toBe(
      '`host` is no public address: it is on this machine, inside a network, or reserved; allowed: example.org, *.example.net:8443',
    );
    expect(await reasonOf('sk secret', 443)).toBe(
      '`host` must be a plain name or address, without scheme, user, port, path or anything encoded',
    );
    expect(await reasonOf('sk-secret.example.net', 443)).toBe(
      '`port` is not allowed for this host; allowed: 8443',
    );
    expect(await reasonOf('example.org')).toBe(
      '`port` must be named; allowed for this host: 80, 443',
    );
  });

  it('shows the beginning of a long list', async () => {
    const allow = Array.from({ length: 30 }, (_, index) => `h${index}.example.org`);

    expect((await answerOf({ allow }, { host: 'x.example.org', port: 443 })).reason).toMatch(
      /allowed: h0\.example\.org, .*, h19\.example\.org and 10 more$/,
    );
  });

  it('comes from rules that nobody can change later, and that the digest stands for', async () => {
    const allow = ['example.org'];
    const policy = networkPolicy({ allow });
    allow.push('evil.test');
    const made = [
      {},
      { allow: ['a'] },
      { ask: ['a'] },
      { deny: ['a'] },
      { ports: [1] },
      { privateRanges: 'ask' as const },
      { unknown: 'ask' as const },
    ];

    expect(
      await policy.evaluate(
        makeRequest({}, { kind: 'network.connect', host: 'evil.test', port: 443 }),
      ),
    ).toMatchObject({
      decision: 'deny',
    });
    expect(new Set(made.map((each) => networkPolicy(each).digest)).size).toBe(made.length);
    expect(networkPolicy({}).digest).toBe(
      networkPolicy({ ports: [80, 443], privateRanges: 'deny' }).digest,
    );
    expect(policy.name).toBe('networkPolicy');
  });
});

describe('networkPolicy is not made of', () => {
  it.each([
    ...[
      '',
      'https://example.org',
      'example.org/',
      'example.org:',
      'example.org:0',
      'example.org:65536',
      'example.org:80-90',
      'example.org:08',
      'a b',
    ],
    ...[
      '*.',
      '*example.org',
      'a.*.org',
      '*.*.org',
      '*.1.2.3.4',
      '127.1',
      '0x7f.1',
      '2130706433',
      '10/8',
      '10.0.0.0/33',
      '[10.0.0.1]',
      '[::1',
      '::1:443x',
    ],
    ...[
      'user@example.org',
      'ex%61mple.org',
      '[example.org]:443',
      'fe80::1%eth0',
      'straße.de',
      '10.0.0.1:443,',
      '*:',
    ],
  ])('the entry %j', (entry) => {
    for (const list of ['allow', 'ask', 'deny']) {
      const details = expect.objectContaining({ layer: 'networkPolicy', option: list }) as unknown;

      expect(() => networkPolicy({ [list]: [entry] })).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_OPTION', details }),
      );
    }
  });

  it.each([
    [{ allow: 'example.org' }, 'allow'],
    [{ deny: [7] }, 'deny'],
    [{ ports: 443 }, 'ports'],
    [{ ports: ['443'] }, 'ports'],
    [{ ports: [0] }, 'ports'],
    [{ privateRanges: true }, 'privateRanges'],
    [{ unknown: 'allow' }, 'unknown'],
    [{ hosts: [] }, 'hosts'],
  ])('the options %j', (wrong, option) => {
    const details = expect.objectContaining({ option }) as unknown;

    expect(() => networkPolicy(wrong as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', details }),
    );
  });
});
