/**
 * Where `http` may connect to: judged by what is written, by what the resolver says, and by where
 * the connection went.
 */

import type { LookupFunction } from 'node:net';
import { AlliumError } from '../../core/contract/errors.ts';
import { readAddress } from '../../permissions/network/address.ts';
import { guardedLookup } from '../../permissions/network/guarded-lookup.ts';
import { isPort, readEntry } from '../../permissions/network/host.ts';
import { networkPolicy, networkRequestOf } from '../../permissions/network/network-policy.ts';
import type { PermissionAnswer, PermissionRequest } from '../../permissions/permission.ts';
import type { BuiltinGrants } from './builtin-use.ts';
import type { BuiltinCall } from './define-builtin.ts';

/** A place that may be connected to, and how to get there without being led elsewhere. */
export interface HttpTarget {
  readonly url: URL;
  readonly lookup: LookupFunction;
  /**
   * Looks at where a connection went. The lookup has refused by then what this refuses: it is the
   * second lock of one door.
   */
  mayTalkTo(address: string | undefined): boolean;
}

export interface HttpTargets {
  /** Judges one hop and asks about it. Throws `HostError`. */
  check(url: string, base: URL | undefined, call: BuiltinCall): Promise<HttpTarget>;
}

/** Throws `ERR_INVALID_OPTION` for grants that name anything but public hosts. */
export function httpTargets(grants: BuiltinGrants): HttpTargets {
  const { allowedDomains = [], allowedPorts = [80, 443], allowLoopback = [] } = grants;
  if (!allowedDomains.every(isPublicEntry)) throw wrongGrant('allowedDomains', PUBLIC_HOSTS);
  if (!allowedPorts.every(isPort)) throw wrongGrant('allowedPorts', 'port numbers');
  const loopback = allowLoopback.map(readLoopback);
  const domains = allowedDomains.flatMap((domain) =>
    isPlainName(domain) ? [domain, `*.${domain}`] : [domain],
  );
  const policy = networkPolicy({ allow: [...domains, ...allowLoopback], ports: allowedPorts });
  return {
    async check(text, base, call) {
      const url = readUrl(text, base, call);
      const request = networkRequestOf(url);
      // Policies for hosts look at the host and the port alone; it answers in the object form.
      const { decision, reason = '' } = (await policy.evaluate(
        request as PermissionRequest,
      )) as PermissionAnswer;
      if (decision !== 'allow') throw call.error(`not allowed: ${reason}`);
      await call.ask(request);
      const allow = loopback
        .filter(({ port }) => port === request.port)
        .map(({ address }) => address);
      const lookup = guardedLookup({
        allow,
        ...(grants.lookup === undefined ? {} : { lookup: grants.lookup }),
      });
      return { url, lookup, mayTalkTo: (address) => mayTalkTo(address, allow) };
    },
  };
}

function readUrl(text: string, base: URL | undefined, call: BuiltinCall): URL {
  if (!URL.canParse(text, base?.href)) throw call.error('"url" is not a URL');
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw call.error('only http and https are allowed');
  if (url.username !== '' || url.password !== '')
    throw call.error('a user and a password in a URL are not allowed: use a header');
  return url;
}

function mayTalkTo(text: string | undefined, allow: readonly string[]): boolean {
  const address = text === undefined ? null : readAddress(text);
  if (address === null) return false;
  return address.range === 'public' || allow.includes(address.ip.toString());
}

/** A name that has others below it; `*` and addresses have not. */
const isPlainName = (domain: string): boolean =>
  domain !== '*' && !domain.startsWith('*.') && readAddress(domain) === null;

/** What `allowedDomains` holds, in words: files are read by the same rule. */
export const PUBLIC_HOSTS = 'public host names, without port, scheme and path';

/** Ports have a grant of their own, and a host of this machine is never granted by a file. */
export function isPublicEntry(domain: string): boolean {
  const entry = readEntry(domain);
  return entry !== null && entry.ports === undefined && !entry.isLocal && !domain.includes('/');
}

function readLoopback(text: string): { readonly address: string; readonly port: number } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([\d.]+)):(\d{1,5})$/.exec(text) ?? [];
  const address = readAddress(bracketed ?? plain ?? '');
  if (address?.range !== 'loopback' || !isPort(Number(port)))
    throw wrongGrant('allowLoopback', 'loopback addresses, each with its port');
  return { address: address.ip.toString(), port: Number(port) };
}

const wrongGrant = (option: string, expected: string): AlliumError =>
  new AlliumError('ERR_INVALID_OPTION', `builtins: "${option}" must be a list of ${expected}`, {
    layer: 'builtins',
    option,
    expected,
  });
