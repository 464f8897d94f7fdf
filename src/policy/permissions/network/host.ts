/** What a host is read as by whoever connects to it. */

import { readAddress, type Address } from './address.ts';

/** One reading of a host. `isLocal`: it means something only inside a machine or a network, or is no place in the internet. */
export type Host =
  | { readonly kind: 'name'; readonly name: string; readonly isLocal: boolean }
  | { readonly kind: 'address'; readonly address: Address; readonly isLocal: boolean };

const MAX_TEXT = 1024;

/** Characters that end a host, decode to others, or are taken out of it, for one program or another; and those nobody sees. */
const REFUSED = /[\s\p{Cc}\p{Default_Ignorable_Code_Point}/\\?#@%:<>[\]^|]/u;

/**
 * Every way in which programs read a host, the usual one first; none where it is no host. Numbers are addresses as in the URL
 * standard (`0x7f.1`, `2130706433`), and where a leading zero makes some read octal and some decimal, both are told; so are both
 * ways of reading `ß`.
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

/** Reserved for what is not in the internet: RFC 6761, 6762, 8375 and ICANN's `internal`; `localdomain` is in many files of hosts. */
const LOCAL_SUFFIXES: readonly string[] = Object.freeze([
  'localhost',
  'localdomain',
  'local',
  'internal',
  'home.arpa',
]);

/** Whether a name is only known inside. One without a dot is looked up in the network's own domain. */
export const isLocalName = (name: string): boolean =>
  !name.includes('.') ||
  LOCAL_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
