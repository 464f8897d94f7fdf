import { isIP } from 'node:net';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { isWithin, readAddress, readCidr } from './address.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const rangeOf = (text: string) => readAddress(text)?.range;

/**
 * IANA's registries of special-purpose addresses, and multicast: what is not reached in the
 * internet, with its first and last address.
 */
const SPECIAL: readonly (readonly [string, string, string])[] = [
  ['this network', '0.0.0.0', '0.255.255.255'],
  ['private, 10/8', '10.0.0.0', '10.255.255.255'],
  ['shared by carriers', '100.64.0.0', '100.127.255.255'],
  ['loopback', '127.0.0.0', '127.255.255.255'],
  ['link-local, with the metadata of clouds', '169.254.0.0', '169.254.255.255'],
  ['private, 172.16/12', '172.16.0.0', '172.31.255.255'],
  ['protocol assignments', '192.0.0.0', '192.0.0.255'],
  ['documentation 1', '192.0.2.0', '192.0.2.255'],
  ['AS112', '192.31.196.0', '192.31.196.255'],
  ['AMT', '192.52.193.0', '192.52.193.255'],
  ['6to4 relays', '192.88.99.0', '192.88.99.255'],
  ['private, 192.168/16', '192.168.0.0', '192.168.255.255'],
  ['direct delegation AS112', '192.175.48.0', '192.175.48.255'],
  ['benchmarks', '198.18.0.0', '198.19.255.255'],
  ['documentation 2', '198.51.100.0', '198.51.100.255'],
  ['documentation 3', '203.0.113.0', '203.0.113.255'],
  ['multicast, reserved and broadcast', '224.0.0.0', '255.255.255.255'],
  ['the platform of Azure', '168.63.129.16', '168.63.129.16'],
  ['everything below 2000::', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  [
    'IETF protocols, with Teredo, benchmarks and ORCHID',
    '2001::',
    '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['direct delegation AS112 of IPv6', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['documentation, new', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['everything from 4000:: on', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
];

const numberOf = (text: string): bigint => {
  const [first] = readAddress(text)?.forms ?? [];
  return (first?.toByteArray() ?? []).reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
};

/** The address so many places on, or the same at the end of all. */
function moved(text: string, by: bigint): string {
  const size = isIP(text) === 4 ? 4 : 16;
  const at = numberOf(text) + by;
  if (at < 0n || at >= 256n ** BigInt(size)) return text;
  return String(
    ipaddr.fromByteArray(
      Array.from({ length: size }, (_, index) =>
        Number((at >> BigInt(8 * (size - 1 - index))) & 0xffn),
      ),
    ),
  );
}

/** A second opinion, by arithmetic alone. */
const isSpecial = (text: string): boolean =>
  SPECIAL.some(([, first, last]) => {
    return (
      isIP(first) === isIP(text) &&
      numberOf(first) <= numberOf(text) &&
      numberOf(text) <= numberOf(last)
    );
  });

/** These stand for the IPv4 address in them, which may be public. */
const isTranslated = (text: string): boolean =>
  /^(?:::ffff:|64:ff9b::)/.test(readAddress(text)?.forms[0]?.toString() ?? '');

const v4 = fc.ipV4();
const v6 = fc.oneof(
  fc.ipV6(),
  fc
    .tuple(
      fc.constantFrom('2001', '2002', '2606', '3fff', '64', 'fe80', 'fc00', '0', '5f00'),
      fc.ipV6(),
    )
    .map(([head, tail]) => {
      const rest = tail.split(':').slice(-2).join(':');
      return isIP(`${head}::${rest}`) === 6 ? `${head}::${rest}` : `${head}::1`;
    }),
);

describe('readAddress', () => {
  it.each(SPECIAL)('finds %s, from %s to %s', (_name, first, last) => {
    expect(rangeOf(first)).not.toBe('public');
    expect(rangeOf(last)).not.toBe('public');
  });

  it.each([
    ...[
      '1.0.0.0',
      '9.255.255.255',
      '11.0.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '126.255.255.255',
      '128.0.0.0',
      '169.253.255.255',
    ],
    ...[
      '169.255.0.0',
      '172.15.255.255',
      '172.32.0.0',
      '192.0.1.0',
      '192.167.255.255',
      '192.169.0.0',
      '198.17.255.255',
      '198.20.0.0',
    ],
    ...[
      '223.255.255.255',
      '8.8.8.8',
      '168.63.129.15',
      '2001:200::',
      '2001:4860:4860::8888',
      '2001:db9::',
      '2003::',
      '2606:4700::1111',
    ],
    ...['2001:db7:ffff::', '3ffe::', '3fff:1000::', '2000::', '::ffff:8.8.8.8', '64:ff9b::808:808'],
  ])('lets %s pass as public', (text) => {
    expect(rangeOf(text)).toBe('public');
  });

  it('agrees with arithmetic on the registries about any address', () => {
    const agrees = (text: string) =>
      isTranslated(text) ||
      (rangeOf(text) === 'public') === (!isSpecial(text) && !/:0?200:5efe:|:0?:5efe:/.test(text));

    fc.assert(fc.property(fc.oneof(v4, v6), agrees), { numRuns: howMany(1_250, 5_000) });
  });

  it('reads everything that the system reads', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          v4,
          v6,
          fc.string(),
          v6.map((text) => `${text}%eth0`),
        ),
        (text) => {
          expect(readAddress(text) !== null || isIP(text) === 0 || text.includes('%')).toBe(true);
        },
      ),
      { numRuns: howMany(500, 2_000) },
    );
  });

  it.each([
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:169.254.169.254', 'linkLocal'],
    ['::127.0.0.1', 'reserved'],
    ['::a00:1', 'reserved'],
    ['::ffff:0:127.0.0.1', 'rfc6145'],
    ['64:ff9b::10.0.0.1', 'private'],
    ['64:ff9b:1::8.8.8.8', 'rfc6052'],
    ['2002:7f00:1::', '6to4'],
    ['2001:0:7f00:1::', 'teredo'],
    ['2606:4700::5efe:10.0.0.1', 'reserved'],
    ['2606:4700::200:5efe:10.0.0.1', 'reserved'],
    ['fd00:ec2::254', 'uniqueLocal'],
    ['fec0::1', 'deprecatedSiteLocal'],
    ['100::1', 'discard'],
    ['5f00::1', 'segmentRouting'],
    ['fe80::1%eth0', 'linkLocal'],
    ['::1%25lo', 'loopback'],
  ])('takes %s for %s', (text, range) => {
    expect(rangeOf(text)).toBe(range);
  });

  it('tells the IPv4 addresses that are hidden in others', () => {
    const formsOf = (text: string) => readAddress(text)?.forms.slice(1).map(String);

    fc.assert(
      fc.property(v4, (text) => {
        const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
        const hex = (high: number, low: number) => (high * 256 + low).toString(16);
        const turned = `${hex(255 - a, 255 - b)}:${hex(255 - c, 255 - d)}`;

        for (const prefix of [
          '::',
          '::ffff:',
          '::ffff:0:',
          '64:ff9b::',
          '64:ff9b:1::',
          '2606:4700::5efe:',
        ]) {
          expect(formsOf(`${prefix}${text}`), prefix).toEqual([text]);
        }
        expect(formsOf(`2002:${hex(a, b)}:${hex(c, d)}::1`)).toEqual([text]);
        expect(formsOf(`2001:0:${hex(a, b)}:${hex(c, d)}:0:0:${turned}`)).toEqual([text, text]);
      }),
    );
  });

  it.each([
    '',
    '127.1',
    '0x7f.0.0.1',
    '127.0.0.01',
    '1.2.3.4.',
    '[::1]',
    ':::',
    '8.8.8.8%eth0',
    '2606:4700::1%eth0',
    'fe80::1%',
    'fe80::1%a/b',
    'x',
  ])('does not read %j', (text) => {
    expect(readAddress(text)).toBeNull();
  });
});

describe('readCidr', () => {
  it('is local only if every address in it is: whatever holds a public one would hold one of these borders too', () => {
    const borders = SPECIAL.flatMap(([, first, last]) => [
      first,
      last,
      moved(first, -1n),
      moved(last, 1n),
    ]).flatMap((text) => readAddress(text) ?? []);
    const wrong = borders.flatMap(({ forms: [base] }) => {
      const ranges = Array.from({ length: base?.kind() === 'ipv4' ? 33 : 129 }, (_, bits) =>
        readCidr(`${String(base)}/${bits}`),
      );
      return ranges.filter(
        (range) =>
          range?.isLocal === true &&
          borders.some(({ ip, range: name }) => name === 'public' && isWithin(ip, range)),
      );
    });

    expect(borders.filter(({ range }) => range === 'public').length).toBeGreaterThan(20);
    expect(wrong).toEqual([]);
    const local = SPECIAL.filter(([, first, last]) => first !== last && first !== '::').map(
      ([, first]) => readCidr(`${first}/${isIP(first) === 4 ? 24 : 64}`),
    );
    expect(
      local.filter((range) => range?.isLocal !== true).map((range) => range?.ip.toString()),
    ).toEqual([]);
  });

  it.each([
    '0.0.0.0/0',
    '::/0',
    '8.0.0.0/6',
    '10.0.0.0/7',
    '192.0.0.0/2',
    '2000::/3',
    '::/1',
    '2001::/16',
    '8.8.8.8',
  ])('does not take %s for local', (text) => {
    expect(readCidr(text)?.isLocal).toBe(false);
  });

  it('takes a range of mapped addresses for the range of IPv4 that it is', () => {
    expect(readCidr('::ffff:10.0.0.0/104')).toMatchObject({ bits: 8, isLocal: true });
    expect(String(readCidr('::ffff:10.0.0.0/104')?.ip)).toBe('10.0.0.0');
    expect(readCidr('::ffff:0:0/95')).toMatchObject({ bits: 95, isLocal: false });
  });

  it.each([
    '10/8',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::1/129',
    '0x7f.1/8',
    'fe80::1%eth0/64',
    '/8',
    'a/8',
    '10.0.0.0/8 ',
  ])('does not read %j', (text) => {
    expect(readCidr(text)).toBeNull();
  });
});
