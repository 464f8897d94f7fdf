/** The front that clients reach over streamable HTTP, on this machine unless told otherwise. */

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AlliumError } from '../../core/contract/errors.ts';
import type { Link } from '../proxy/link.ts';
import { MAX_MESSAGE_BYTES } from '../wire.ts';
import { STREAM_TIMES, type StreamTimes } from './answer.ts';
import { createLinks, type HttpClient } from './links.ts';
import { createFront } from './front.ts';
import { type GuardRules, limitStrangers } from './guard-request.ts';

export interface ListenOptions {
  /** 0 takes any that is free. */
  readonly port: number;
  /** @default '127.0.0.1' */
  readonly host?: string;
  /** @default '/mcp' */
  readonly path?: string;
  /**
   * What clients have to send as bearer token; of several, each is a principal of its own. `null`
   * lets in whoever reaches the port.
   */
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
  /**
   * How long a client may take for its headers, and then for its whole request. @default 10 and 30
   * seconds
   */
  readonly headersMs?: number;
  readonly requestMs?: number;
  readonly times?: Partial<StreamTimes>;
  /**
   * Somebody new is there. Whatever this throws ends the link; what was asked over it is refused.
   */
  onClient(link: Link, client: HttpClient): void | Promise<void>;
}

export interface HttpListener {
  readonly url: string;
  readonly port: number;
  /** Ends every link and lets go of the port. */
  close(): Promise<void>;
}

/**
 * Starts to listen. Loopback is not secret: every program and every page on this machine can reach
 * it, so there is a token.
 */
export async function listenHttp(options: ListenOptions): Promise<HttpListener> {
  const { port, host = '127.0.0.1', path = '/mcp' } = options;
  const tokens = checkedTokens(options.token);
  const links = createLinks({
    maxSessions: options.maxSessions ?? 64,
    times: { ...STREAM_TIMES, ...options.times },
    maxOpenRequests: options.maxOpenRequests ?? 256,
    idleMs: options.idleMs ?? 30 * 60_000,
    onClient: (link, client) => options.onClient(link, client),
  });
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
    maxBodyBytes: options.maxBodyBytes ?? MAX_MESSAGE_BYTES,
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

/**
 * How many connections are held at once that have shown a token, and how many that have not.
 * Neither takes a place of the other.
 */
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
