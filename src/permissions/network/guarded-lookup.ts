/** The last look before a connection: what a name leads to right now. */

import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { AlliumError } from '../../core/contract/errors.ts';
import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';
import { type Address, type Cidr, isWithin, readAddress, readCidr } from './address.ts';

/** Which addresses `guardedLookup` lets through. */
export interface GuardedLookupOptions {
  /**
   * Whether a name may lead to addresses that are not public.
   * @default 'deny'
   */
  readonly privateRanges?: 'deny' | 'allow';
  /**
   * Addresses and ranges that are reached although they are not public.
   * @default none
   */
  readonly allow?: readonly string[];
  /**
   * Addresses and ranges that are never reached.
   * @default none
   */
  readonly deny?: readonly string[];
  /**
   * What asks the resolver.
   * @default that of `node:dns`
   */
  readonly lookup?: LookupFunction;
}

const ranges = expected.listOf({
  text: 'an address or a range of addresses, such as 10.1.0.0/16',
  test: (value) => typeof value === 'string' && readCidr(value) !== null,
});
const EXPECTED: Readonly<Record<keyof GuardedLookupOptions, Expectation>> = Object.freeze({
  privateRanges: expected.oneOf('deny', 'allow'),
  allow: ranges,
  deny: ranges,
  lookup: expected.function,
});

/**
 * For the `lookup` option of `net.connect`, `http.Agent` and undici's `connect`: looks a name up as
 * always, and answers with `ERR_ADDRESS_REFUSED` if any address that was found may not be reached.
 * The connection goes to the addresses that were looked at, so that a name that leads elsewhere a
 * moment later leads nowhere. It is asked about names only: Node connects to an address that is
 * written in a URL without a lookup, so that has to be judged before, by `networkPolicy`. A proxy
 * looks names up itself.
 */
export function guardedLookup(options: GuardedLookupOptions = {}): LookupFunction {
  checkOptions('guardedLookup', options, EXPECTED);
  const { privateRanges = 'deny', allow = [], deny = [], lookup = systemLookup } = options;
  const [allowed, denied] = [allow, deny].map(cidrsOf);
  const passes = ({ ip, forms, range }: Address): boolean =>
    !forms.some((form) => isAny(form, denied)) &&
    (range === 'public' || privateRanges === 'allow' || isAny(ip, allowed));
  return (hostname, wanted, answer) => {
    lookup(hostname, { ...wanted, all: true }, (error, found, family) => {
      if (error != null) return answer(error, found, family);
      const addresses = listOf(found);
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isReachable(address, passes)))
        return answer(addressRefused(), '', 0);
      return wanted.all === true
        ? answer(null, [...addresses])
        : answer(null, first.address, first.family);
    });
  };
}

const cidrsOf = (list: readonly string[]): readonly Cidr[] =>
  list.map(readCidr).filter((cidr) => cidr !== null);

const isAny = (ip: Address['ip'], list: readonly Cidr[] = []): boolean =>
  list.some((cidr) => isWithin(ip, cidr));

/**
 * A resolver of the host's own may answer with one address where all were asked for, or with
 * anything. What is no address is kept, to be refused.
 */
function listOf(found: unknown): readonly LookupAddress[] {
  const list: readonly unknown[] = Array.isArray(found) ? found : [{ address: found }];
  return list.map((item) => {
    const { address } = (item ?? {}) as { readonly address?: unknown };
    return typeof address === 'string'
      ? { address, family: isIP(address) }
      : { address: '', family: 0 };
  });
}

function isReachable(text: string, passes: (address: Address) => boolean): boolean {
  const address = readAddress(text);
  return address !== null && passes(address);
}

/**
 * Neither the name nor the address: the one may hold what somebody smuggles out, the other shows
 * what is inside.
 */
/** What a connection to an address that is not granted fails with. */
export const addressRefused = (): AlliumError =>
  new AlliumError('ERR_ADDRESS_REFUSED', 'the host leads to an address that must not be reached');
