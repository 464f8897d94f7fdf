/**
 * Who may speak to the listener: a browser that was lured here may not, and nobody without the
 * token.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import { PARAM_PREFIX } from './param-headers.ts';
import type { Socket } from 'node:net';

export interface GuardRules {
  /** The port that is listened on. */
  readonly port: number;
  /**
   * `Host` values that are taken besides the loopback names with the port, as a client sends them.
   */
  readonly allowedHosts: readonly string[];
  /**
   * `Origin` values that are taken besides those of the listener itself, as a browser sends them.
   */
  readonly allowedOrigins: readonly string[];
  /** Each is a principal of its own. `null`: everybody who reaches the port is the same one. */
  readonly tokens: readonly string[] | null;
}

/** A request that is answered at once, and with nothing that came with it. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Names that a page from elsewhere cannot make its own by DNS. Every other spelling of an address
 * is refused, not understood.
 */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** Headers that decide something. A second one could be read by somebody else than the first. */
const SINGLE_HEADERS = [
  'host',
  'origin',
  'authorization',
  'content-type',
  'content-length',
  'accept',
  'last-event-id',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
];

const isSingle = (name: string): boolean =>
  SINGLE_HEADERS.includes(name) || name.startsWith(PARAM_PREFIX);

/** Checks where a request comes from. `null` says that it may go on. */
export function guardOrigin(request: IncomingMessage, rules: GuardRules): Refusal | null {
  const [twice] =
    Object.entries(request.headersDistinct).find(
      ([name, values = []]) => values.length > 1 && isSingle(name),
    ) ?? [];
  if (twice !== undefined) return { status: 400, message: `the ${twice} header was sent twice` };
  const { host, origin } = request.headers;
  if (host === undefined || host === '')
    return { status: 400, message: 'the Host header is missing' };
  if (!hostsOf(rules).includes(host))
    return { status: 403, message: 'the Host header names another host' };
  if (origin !== undefined && !originsOf(rules).includes(origin))
    return { status: 403, message: 'the Origin header names another origin' };
  // An absolute target names a host again, and servers do not agree on which of the two counts.
  if (request.url?.startsWith('/') !== true)
    return { status: 400, message: 'the request target is not a path' };
  return null;
}

const hostsOf = ({ port, allowedHosts }: GuardRules): readonly string[] => [
  ...LOOPBACK_NAMES.map((name) => `${name}:${port}`),
  ...(port === 80 ? LOOPBACK_NAMES : []),
  ...allowedHosts,
];

const originsOf = (rules: GuardRules): readonly string[] => [
  ...hostsOf({ ...rules, allowedHosts: [] }).map((host) => `http://${host}`),
  ...rules.allowedOrigins,
];

/**
 * The index of the token that a request brought, or why it is refused. Takes equally long for every
 * wrong token.
 */
export function guardToken(request: IncomingMessage, { tokens }: GuardRules): number | Refusal {
  if (tokens === null) return 0;
  const [, given] = /^Bearer ([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (given === undefined) return unauthorized('Bearer realm="allium"');
  const digest = digestOf(given);
  let found = -1;
  for (const [index, token] of tokens.entries())
    if (timingSafeEqual(digest, digestOf(token))) found = index;
  return found === -1 ? unauthorized('Bearer realm="allium", error="invalid_token"') : found;
}

const unauthorized = (challenge: string): Refusal => ({
  status: 401,
  message: 'a valid token is needed',
  headers: { 'www-authenticate': challenge },
});

/** Digests are of one length, whatever the tokens are. */
const digestOf = (text: string): Uint8Array => createHash('sha256').update(text).digest();

export interface Strangers {
  /** A request with a valid token came over this connection: it stays. */
  readonly vouchFor: (socket: Socket) => void;
}

/**
 * Holds at most `max` of them, and cuts the oldest for each new one. Whoever sends slow headers, or
 * none, can only push out others who do the same: a client with a token shows it with its first
 * bytes, and is one of the newest then.
 */
export function limitStrangers(server: Server, max: number): Strangers {
  const unknown = new Set<Socket>();
  server.on('connection', (socket) => {
    unknown.add(socket);
    socket.once('close', () => unknown.delete(socket));
    const [oldest] = unknown.size > max ? unknown : [];
    if (oldest === undefined) return;
    unknown.delete(oldest);
    oldest.destroy();
  });
  return { vouchFor: (socket) => void unknown.delete(socket) };
}
