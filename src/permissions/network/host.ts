/** What a host is read as by the programs that connect to it, and the entries of lists of hosts. */

import { type Address, type Cidr, isWithin, readAddress, readCidr } from './address.ts';
import { words } from '../../system/words.ts';

/**
 * One reading of a host. `isLocal`: it means something only inside a machine or a network, or is no
 * place in the internet.
 */
export type Host =
  | { readonly kind: 'name'; readonly name: string; readonly isLocal: boolean }
  | { readonly kind: 'address'; readonly address: Address; readonly isLocal: boolean };

const MAX_TEXT = 1024;

/**
 * Characters that end a host, decode to others, or are taken out of it, for one program or another;
 * and invisible ones.
 */
const REFUSED = /[\s\p{Cc}\p{Default_Ignorable_Code_Point}/\\?#@%:<>[\]^|]/u;

/**
 * Every way in which programs read a host, the usual one first; none where it is no host. Numbers
 * are addresses as in the URL standard (`0x7f.1`, `2130706433`), and where a leading zero makes
 * some read octal and some decimal, both are told; so are both ways of reading `ß`.
 */
export function readHosts(text: unknown): readonly Host[] {
  if (typeof text !== 'string' || text === '' || text.length > MAX_TEXT) return [];
  if (text.includes(':')) return [readAddress(text.replace(/^\[(.*)\]$/, '$1'))].flatMap(hostOf);
  if (REFUSED.test(text)) return [];
  const first = hostname(text);
  if (first === null) return [];
  const others = readAddress(first) === null ? [oldSpelling(text)] : [decimalSpelling(text)];
  const names = [first, ...others.map(hostname).filter((name) => name !== null)];
  const hosts = [...new Set(names)].map((name) => readAddress(name) ?? name);
  return hosts.every((host) => typeof host !== 'string' || isName(host))
    ? hosts.flatMap(hostOf)
    : [];
}

function hostOf(read: Address | string | null): readonly Host[] {
  if (read === null) return [];
  if (typeof read === 'string') return [{ kind: 'name', name: read, isLocal: isLocalName(read) }];
  return [{ kind: 'address', address: read, isLocal: read.range !== 'public' }];
}

/** In lower case and ASCII, numbers as addresses, without the dot of the root. */
function hostname(text: string): string | null {
  try {
    return new URL(`http://${text}/`).hostname.replace(/\.$/, '');
  } catch {
    return null;
  }
}

/** Before 2010 these letters were written as others, and some resolvers still do. */
const oldSpelling = (text: string): string =>
  text.toLowerCase().replaceAll('ß', 'ss').replaceAll('ς', 'σ');

const decimalSpelling = (text: string): string =>
  text.normalize('NFKC').replace(/(?<![\w])0+(?=\d)/g, '');

const isName = (name: string): boolean =>
  name.length <= 253 && /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/.test(name);

/**
 * Reserved for what is not in the internet: RFC 6761, 6762, 8375 and ICANN's `internal`;
 * `localdomain` is in many files of hosts.
 */
const LOCAL_SUFFIXES: readonly string[] = Object.freeze(
  words('localhost localdomain local internal home.arpa'),
);

/**
 * Whether a name is only known inside. One without a dot is looked up in the network's own domain.
 */
const isLocalName = (name: string): boolean =>
  !name.includes('.') ||
  LOCAL_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));

/** Port numbers, or every port. */
export type Ports = ReadonlySet<number> | 'any';

/** One entry of a list of hosts: a name, a wildcard, an address or a range. */
export interface HostEntry {
  readonly text: string;
  /** `undefined` where the entry says nothing about ports. */
  readonly ports: Ports | undefined;
  /**
   * Whether it can only mean local hosts. Entries that mean others too do not speak for local ones.
   */
  readonly isLocal: boolean;
  /** Whether it means what a connection would go to. */
  means(host: Host): boolean;
  /** Whether it means that, or an address hidden in it. For refusing and asking. */
  touches(host: Host): boolean;
}

/** `null` for what is no entry, or could be read in more than one way. */
export function readEntry(text: unknown): HostEntry | null {
  if (typeof text !== 'string') return null;
  const cidr = readCidr(text);
  if (cidr !== null) return entryOf(text, ofCidr(cidr), undefined);
  const [, bracketed, plain = '', list] =
    /^(?:\[([^\]]*)\]|([^:[\]]*))(?::([\d,*]+))?$/.exec(text) ?? [];
  const ports = list === undefined ? undefined : readPorts(list);
  if (ports === null) return null;
  if (bracketed !== undefined && !bracketed.includes(':')) return null;
  return entryOf(text, matcherOf(bracketed ?? plain), ports);
}

type Matcher = Pick<HostEntry, 'isLocal' | 'means' | 'touches'>;

const entryOf = (
  text: string,
  matcher: Matcher | null,
  ports: Ports | undefined,
): HostEntry | null => (matcher === null ? null : Object.freeze({ text, ports, ...matcher }));

function matcherOf(text: string): Matcher | null {
  const cidr = readCidr(text);
  if (cidr !== null) return ofCidr(cidr);
  if (text === '*') return ofName(false, () => true);
  const isWild = text.startsWith('*.');
  const [host, ...others] = readHosts(isWild ? text.slice(2) : text);
  // An address that is spelt oddly was meant as something else.
  if (host?.kind !== 'name' || others.length > 0) return null;
  const { name } = host;
  return isWild
    ? ofName(
        isLocalName(`x.${name}`),
        (host) => host.kind === 'name' && host.name.endsWith(`.${name}`),
      )
    : ofName(host.isLocal, (host) => host.kind === 'name' && host.name === name);
}

const ofName = (isLocal: boolean, means: (host: Host) => boolean): Matcher => ({
  isLocal,
  means,
  touches: means,
});

const ofCidr = (cidr: Cidr): Matcher => ({
  isLocal: cidr.isLocal,
  means: (host) => host.kind === 'address' && isWithin(host.address.ip, cidr),
  touches: (host) =>
    host.kind === 'address' && host.address.forms.some((form) => isWithin(form, cidr)),
});

function readPorts(list: string): Ports | null {
  if (list === '*') return 'any';
  const ports = list
    .split(',')
    .map((port) => (/^[1-9]\d{0,4}$/.test(port) ? Number(port) : Number.NaN));
  return ports.every(isPort) ? new Set(ports) : null;
}

/** Whether a value is the number of a port that can be connected to. */
export const isPort = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 65_535;
