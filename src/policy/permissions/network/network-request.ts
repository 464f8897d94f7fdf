/** A URL as a request that can be judged. */

import type { ProposedRequest } from '../permission.ts';

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http:', 80],
  ['ws:', 80],
  ['https:', 443],
  ['wss:', 443],
]);

/** A request for one connection. */
export type NetworkRequest = Extract<ProposedRequest, { readonly kind: 'network.connect' }>;

/**
 * Where a URL leads, for `proposedRequests` and for every hop of a redirect: `base` is the URL that answered with it. Read as `fetch`
 * reads it, and never throws: a URL that cannot be read, or has no host, gives an empty host, and one of a scheme other than http
 * and ws no port unless it names one. `networkPolicy` refuses both.
 */
export function networkRequestOf(url: string | URL, base?: string | URL): NetworkRequest {
  const read = readUrl(url, base);
  if (read === null) return { kind: 'network.connect', host: '' };
  const port = read.port === '' ? DEFAULT_PORTS.get(read.protocol) : Number(read.port);
  const host = read.hostname.replace(/^\[(.*)\]$/, '$1');
  return port === undefined
    ? { kind: 'network.connect', host }
    : { kind: 'network.connect', host, port };
}

function readUrl(url: string | URL, base: string | URL | undefined): URL | null {
  try {
    return new URL(url, base);
  } catch {
    return null;
  }
}
