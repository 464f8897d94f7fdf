/** One request over one connection, and what came back. */

import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { AlliumError } from '../../core/errors.ts';
import type { HttpTarget } from './http-targets.ts';
import { keptBytes } from './kept-bytes.ts';

export interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface ExchangeLimits {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Never over a connection that was made for somebody else, and never by a proxy that the environment names. */
const agents = Object.freeze({
  http: () => new HttpAgent({ keepAlive: false }),
  https: () => new HttpsAgent({ keepAlive: false }),
});

/** Rejects with the system's error. What is longer than the limit is cut, and the connection with it. */
export function exchange(
  target: HttpTarget,
  { method, headers, body }: Exchange,
  limits: ExchangeLimits,
): Promise<HttpAnswer> {
  const { url, lookup } = target;
  const isSecure = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)({
      ...{
        method,
        lookup,
        signal: limits.signal,
        agent: isSecure ? agents.https() : agents.http(),
      },
      ...{
        protocol: url.protocol,
        hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
        path: `${url.pathname}${url.search}`,
      },
      ...(url.port === '' ? {} : { port: Number(url.port) }),
      headers: {
        ...headers,
        'accept-encoding': 'identity',
        ...(body.length === 0 ? {} : { 'content-length': String(body.length) }),
      },
    });
    request.on('error', reject);
    request.on('socket', (socket) => {
      socket.once('connect', () => {
        if (!target.mayTalkTo(socket.remoteAddress)) request.destroy(refused());
      });
    });
    // A request that a server answers with another protocol ends without an error, and nothing could end it afterwards.
    const left = (): void => reject(new Error('the request was ended without an answer'));
    request.on('close', left);
    request.on('response', (response) => {
      request.off('close', left);
      void readAnswer(response, limits.maxBytes).then(resolve, reject);
    });
    request.end(body);
  });
}

const refused = (): AlliumError =>
  new AlliumError('ERR_ADDRESS_REFUSED', 'the host leads to an address that must not be reached');

async function readAnswer(response: IncomingMessage, maxBytes: number): Promise<HttpAnswer> {
  const kept = keptBytes(maxBytes);
  // An answer's body comes in buffers.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (kept.add(chunk) > maxBytes) break;
  }
  // Leaving the loop early has closed the connection.
  return { status: response.statusCode ?? 0, headers: plainHeaders(response), body: kept.text() };
}

function plainHeaders({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat().join(', ')] as const],
  );
  return Object.fromEntries(entries);
}
