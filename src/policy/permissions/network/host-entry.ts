/** One entry of a list of hosts. */

import { type Cidr, isWithin, readCidr } from './address.ts';
import { type Host, isLocalName, readHosts } from './host.ts';

/** Port numbers, or every port. */
export type Ports = ReadonlySet<number> | 'any';

export interface HostEntry {
  readonly text: string;
  /** `undefined` where the entry says nothing about ports. */
  readonly ports: Ports | undefined;
  /** Whether it can only mean local hosts. Entries that mean others too do not speak for local ones. */
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
  // An address that is spelt oddly is one that somebody took for something else.
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

export const isPort = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 65_535;
