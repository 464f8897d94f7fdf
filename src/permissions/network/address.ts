/** Which network an address belongs to, whatever it is dressed up as. */

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address of either version, as the library parses it. */
type Ip = ipaddr.IPv4 | ipaddr.IPv6;

/** An address as it is judged. */
export interface Address {
  /**
   * What a connection goes to: the IPv4 address where a mapped or translated (NAT64) one was
   * written.
   */
  readonly ip: Ip;
  /**
   * As it was written, and every IPv4 address that is in there: what is refused in one of its forms
   * is refused in all.
   */
  readonly forms: readonly Ip[];
  /** `public`, or the name of the range that is not. */
  readonly range: string;
}

/**
 * Of a dotted IPv4 or an IPv6 address, as the system writes them, without brackets. A zone is for
 * addresses of one link only.
 */
export function readAddress(text: string): Address | null {
  const [plain = ''] = text.split('%', 1);
  if (isIP(plain) === 0) return null;
  const written = ipaddr.parse(inHex(plain));
  if (plain !== text && !(isScoped(written) && ZONE.test(text.slice(plain.length)))) return null;
  if (written instanceof ipaddr.IPv4)
    return { ip: written, forms: [written], range: rangeOf(written) };
  const embedded = embeddedIn(written);
  const [inner = written] = isTranslated(written) ? embedded : [];
  return { ip: inner, forms: [written, ...embedded], range: rangeOf(inner) };
}

/** The library takes `::8.8.8.8` for `::ffff:8.8.8.8`, which is another address. */
const inHex = (text: string): string =>
  isIP(text) === 6 ? new URL(`http://[${text}]/`).hostname.slice(1, -1) : text;

/** A zone as the system takes it, or as a URL has to write it. */
const ZONE = /^%(?:25)?[\w.~-]{1,32}$/;

const isScoped = (ip: Ip): boolean => ['linkLocal', 'multicast', 'loopback'].includes(ip.range());

type Range = readonly [ipaddr.IPv6, number];
const range = (text: string): Range => ipaddr.IPv6.parseCIDR(text);
const isIn = (ip: ipaddr.IPv6, [base, bits]: Range): boolean => ip.match(base, bits);

const GLOBAL = range('2000::/3');
const SIX_TO_FOUR = range('2002::/16');
const TEREDO = range('2001::/32');
/**
 * The two forms that stand for one IPv4 address and nothing else: mapped, and translated so that
 * networks without IPv4 reach it.
 */
const TRANSLATED = ['::ffff:0:0/96', '64:ff9b::/96'].map(range);
/** IPv4-compatible, and the other prefixes of translators. */
const IN_LAST_PARTS = [...TRANSLATED, ...['::/96', '::ffff:0:0:0/96', '64:ff9b:1::/48'].map(range)];

const isTranslated = (ip: ipaddr.IPv6): boolean => TRANSLATED.some((each) => isIn(ip, each));

function embeddedIn(ip: ipaddr.IPv6): readonly ipaddr.IPv4[] {
  const at = (index: number, mask = 0): ipaddr.IPv4 => {
    const [high = 0, low = 0] = ip.parts.slice(index, index + 2).map((part) => part ^ mask);
    return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
  };
  if (isIn(ip, SIX_TO_FOUR)) return [at(1)];
  // The client's address is written with all its bits turned over.
  if (isIn(ip, TEREDO)) return [at(6, 0xffff), at(2)];
  return isTunnelled(ip) || IN_LAST_PARTS.some((each) => isIn(ip, each)) ? [at(6)] : [];
}

/** ISATAP: below any prefix. */
const isTunnelled = ({ parts }: ipaddr.IPv6): boolean =>
  (parts[4] === 0 || parts[4] === 0x200) && parts[5] === 0x5efe;

/**
 * What the library takes for public and is none: the address of Azure's platform, which every
 * machine there trusts.
 */
const PLATFORM = '168.63.129.16';

/**
 * `public` is only what is routed in the internet: of IPv6 that is 2000::/3 without its special
 * ranges. The library calls everything that it does not know `unicast`, `::7f00:1` too.
 */
function rangeOf(ip: Ip): string {
  const name = ip.range();
  if (name !== 'unicast') return name;
  if (ip instanceof ipaddr.IPv4) return ip.toString() === PLATFORM ? 'platform' : 'public';
  return isIn(ip, GLOBAL) && !isTunnelled(ip) ? 'public' : 'reserved';
}

/** A range of addresses as a list has it. */
export interface Cidr {
  readonly ip: Ip;
  readonly bits: number;
  /** Whether every address of it is in one range that is not public. */
  readonly isLocal: boolean;
}

/**
 * Of an address, or an address with the length of its prefix. `null` for anything that can be read
 * in more than one way.
 */
export function readCidr(text: string): Cidr | null {
  const [base = '', length, ...rest] = text.split('/');
  const address = base.includes('%') ? null : readAddress(base);
  if (address === null || rest.length > 0) return null;
  if (length === undefined)
    return { ip: address.ip, bits: widthOf(address.ip), isLocal: address.range !== 'public' };
  const [written = address.ip] = address.forms;
  const bits = Number(length);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(length) || bits > widthOf(written)) return null;
  const isInner = written.kind() !== address.ip.kind() && bits >= 96;
  return isInner ? wholeRange(address.ip, bits - 96) : wholeRange(written, bits);
}

const widthOf = (ip: Ip): number => (ip.kind() === 'ipv4' ? 32 : 128);

function wholeRange(ip: Ip, bits: number): Cidr {
  const text = `${ip.toString()}/${bits}`;
  const kind = ip.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  const [first, last] = [
    kind.networkAddressFromCIDR(text),
    kind.broadcastAddressFromCIDR(text),
  ].map((end) => rangeOf(end));
  // No special range begins where another one of its name ends: with both ends in it, all of it is
  // in it.
  return { ip, bits, isLocal: first !== 'public' && first === last };
}

/** Whether an address is in a range. Those of the other version never are. */
export const isWithin = (ip: Ip, { ip: base, bits }: Cidr): boolean =>
  ip.kind() === base.kind() && ip.match(base, bits);
