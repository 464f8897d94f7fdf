/** The front that clients reach over streamable HTTP, on this machine unless told otherwise. */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AlliumError } from '../../core/errors.ts';
import { MAX_LINE_BYTES } from '../lines.ts';
import type { Link } from '../link.ts';
import { STREAM_TIMES, type StreamTimes } from './answer.ts';
import type { ClientLink, ClientLinkOptions } from './client-link.ts';
import { createFront } from './front.ts';
import type { GuardRules } from './guard-request.ts';
import { type SessionLink, sessionLink } from './session-link.ts';
import { sharedLink } from './shared-link.ts';
import { limitStrangers } from './strangers.ts';

/** Who is behind a link. */
export interface HttpClient {
  /** `legacy`: one session of one client. `modern`: everything that comes with one token, of any number of clients. */
  readonly era: 'legacy' | 'modern';
  /** Which of the tokens it came with, counted from 0. */
  readonly principal: number;
}

export interface ListenOptions {
  /** 0 takes any that is free. */
  readonly port: number;
  /** @default '127.0.0.1' */
  readonly host?: string;
  /** @default '/mcp' */
  readonly path?: string;
  /** What clients have to send as bearer token; of several, each is a principal of its own. `null` lets in whoever reaches the port. */
  readonly token: string | readonly string[] | null;
  /** `Host` values that are taken besides the loopback names with the port. */
  readonly allowedHosts?: readonly string[];
  /** `Origin` values that are taken besides the listener's own. */
  readonly allowedOrigins?: readonly string[];
  /** @default 64 */
  readonly maxSessions?: number;
  /** Requests that may be open at once in one link. @default 256 */
  readonly maxOpenRequests?: number;
  /** @default 10 MiB */
  readonly maxBodyBytes?: number;
  /** A link that nobody used for so long ends. @default 30 minutes */
  readonly idleMs?: number;
  /** How long a client may take for its headers, and then for its whole request. @default 10 and 30 seconds */
  readonly headersMs?: number;
  readonly requestMs?: number;
  readonly times?: Partial<StreamTimes>;
  /** Somebody new is there. Whatever this throws ends the link; what was asked over it is refused. */
  onClient(link: Link, client: HttpClient): void | Promise<void>;
}

export interface HttpListener {
  readonly url: string;
  readonly port: number;
  /** Ends every link and lets go of the port. */
  close(): Promise<void>;
}

/** Starts to listen. Loopback is not secret: every program and every page on this machine can reach it, so there is a token. */
export async function listenHttp(options: ListenOptions): Promise<HttpListener> {
  const { port, host = '127.0.0.1', path = '/mcp', maxSessions = 64 } = options;
  const tokens = checkedTokens(options.token);
  const links = createLinks(options, maxSessions);
  const rules = {
    allowedHosts: options.allowedHosts ?? [],
    allowedOrigins: options.allowedOrigins ?? [],
    tokens,
  };
  const server = limitedServer(options);
  const { vouchFor } = limitStrangers(server, MAX_STRANGERS);
  server.listen(port, host);
  await once(server, 'listening');
  // It listens on a port, not on a path.
  const { port: taken } = server.address() as AddressInfo;
  const guard: GuardRules = { ...rules, port: taken };
  const front = createFront({
    path,
    guard,
    maxBodyBytes: options.maxBodyBytes ?? MAX_LINE_BYTES,
    links,
    vouchFor,
  });
  server.on('request', (request, response) => void front.handle(request, response));
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}${path}`,
    port: taken,
    async close() {
      const closed = once(server, 'close');
      server.close();
      links.endAll('the listener was closed');
      server.closeAllConnections();
      await closed;
    },
  };
}

function checkedTokens(token: ListenOptions['token']): readonly string[] | null {
  if (token === null) return null;
  const tokens = typeof token === 'string' ? [token] : token;
  if (tokens.length > 0 && tokens.every((each) => /^[\x21-\x7e]{16,}$/.test(each))) return tokens;
  throw new AlliumError(
    'ERR_INVALID_OPTION',
    'listenHttp: token must be at least 16 visible ASCII characters',
    {
      option: 'token',
      expected: 'at least 16 visible ASCII characters',
    },
  );
}

/** How many connections are held at once that have shown a token, and how many that have not. Neither takes a place of the other. */
const MAX_CONNECTIONS = 512;
const MAX_STRANGERS = 128;

/** A server that waits for nobody: slow headers, slow bodies and idle connections are cut. */
function limitedServer({ headersMs = 10_000, requestMs = 30_000 }: ListenOptions): Server {
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: 5000,
    connectionsCheckingInterval: Math.min(1000, headersMs),
    maxHeaderSize: 16_384,
    requireHostHeader: false,
  });
  server.maxConnections = MAX_CONNECTIONS + MAX_STRANGERS;
  server.maxHeadersCount = 100;
  return server;
}

/** The links that are open, and how one is found or made for a request. */
export interface Links {
  /** `null` where there are too many. */
  createSession(principal: number): SessionLink | null;
  /** Only for the principal that it was made for. */
  session(id: string, principal: number): SessionLink | undefined;
  shared(principal: number): ClientLink;
  /** The one that is there, if any. */
  openShared(principal: number): ClientLink | undefined;
}

function createLinks(
  options: ListenOptions,
  maxSessions: number,
): Links & { endAll(why: string): void } {
  const sessions = new Map<string, { readonly link: SessionLink; readonly principal: number }>();
  const shared = new Map<number, ClientLink>();
  const common: Omit<ClientLinkOptions, 'onEnd'> = {
    times: { ...STREAM_TIMES, ...options.times },
    maxOpenRequests: options.maxOpenRequests ?? 256,
    idleMs: options.idleMs ?? 30 * 60_000,
  };
  const introduce = (made: ClientLink, client: HttpClient): void => {
    void (async () => options.onClient(made.link, client))().catch(() =>
      made.end('it could not be served'),
    );
  };
  return {
    createSession(principal) {
      // Many clients never say that they leave.
      const unused =
        sessions.size < maxSessions
          ? undefined
          : [...sessions.values()].find(({ link }) => !link.isBusy());
      unused?.link.end('another session took its place');
      if (sessions.size >= maxSessions) return null;
      const id = randomBytes(16).toString('hex');
      const link = sessionLink(id, { ...common, onEnd: () => void sessions.delete(id) });
      sessions.set(id, { link, principal });
      introduce(link, { era: 'legacy', principal });
      return link;
    },
    session(id, principal) {
      const found = sessions.get(id);
      if (found?.principal !== principal) return undefined;
      // The one that was used last is the last to be given up.
      sessions.delete(id);
      sessions.set(id, found);
      return found.link;
    },
    shared(principal) {
      const there = shared.get(principal);
      if (there !== undefined) return there;
      const link = sharedLink({ ...common, onEnd: () => void shared.delete(principal) });
      shared.set(principal, link);
      introduce(link, { era: 'modern', principal });
      return link;
    },
    openShared: (principal) => shared.get(principal),
    endAll(why) {
      for (const { link } of [...sessions.values()]) link.end(why);
      for (const link of [...shared.values()]) link.end(why);
    },
  };
}
