/** `http.get` and `http.post`: text from public hosts that were granted, hop by hop. */

import {
  Agent as HttpAgent,
  type IncomingMessage,
  request as httpRequest,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type Clock, systemClock } from '../../core/time/clock.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import type { JsonValue } from '../../core/json/json-value.ts';
import { linkAbort } from '../../core/time/abort.ts';
import { errnoOf } from '../../jail/jail-error.ts';
import { addressRefused } from '../../permissions/network/guarded-lookup.ts';
import type { HostTree } from '../sandbox/host-function.ts';
import { type BuiltinGrants, type BuiltinUse, MAX_OUTPUT_BYTES } from './builtin-use.ts';
import type { BuiltinCall, DefineBuiltin } from './define-builtin.ts';
import type { GivenArguments } from './given-arguments.ts';
import { type HttpTarget, httpTargets, type HttpTargets } from './http-targets.ts';
import { keptBytes } from './kept-bytes.ts';

const MAX_REDIRECTS = 5;
const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 600_000;

/**
 * `get(url, headers={}, body="", timeout_ms=30000)` and `post(…)`, both answer `{status, headers,
 * body}`.
 */
export function httpBuiltins(
  grants: BuiltinGrants,
  use: BuiltinUse,
  define: DefineBuiltin,
): HostTree {
  const targets = httpTargets(grants);
  const names = ['url', 'headers', 'body', 'timeout_ms'];
  const maxBytes = grants.maxOutputBytes ?? MAX_OUTPUT_BYTES;
  const send = (method: Exchange['method']) => async (given: GivenArguments, call: BuiltinCall) => {
    const url = given.text('url');
    const first = {
      method,
      headers: readHeaders(given.textMap('headers'), call),
      body: Buffer.from(given.text('body', '')),
    };
    if (method === 'GET' && first.body.length > 0)
      throw call.error('takes no "body": use http.post');
    const timeoutMs = given.integer('timeout_ms', {
      min: 1,
      max: MAX_TIMEOUT_MS,
      otherwise: DEFAULT_TIMEOUT_MS,
    });
    return within(timeoutMs, use.clock ?? systemClock, call, (signal) =>
      follow(targets, url, first, { maxBytes, signal }, call),
    );
  };
  return {
    get: define('http.get', names, send('GET')),
    post: define('http.post', names, send('POST')),
  };
}

/** One limit of time for all hops. */
async function within(
  timeoutMs: number,
  clock: Clock,
  call: BuiltinCall,
  work: (signal: AbortSignal) => Promise<HttpAnswer>,
): Promise<JsonValue> {
  const linked = linkAbort(call.signal);
  let isLate = false;
  const takeBack = clock.after(timeoutMs, () => {
    isLate = true;
    linked.abort();
  });
  try {
    const { status, headers, body } = await work(linked.signal);
    return { status, headers, body };
  } catch (thrown) {
    if (isLate) throw call.error(`no answer within ${timeoutMs} ms`);
    throw call.signal.aborted ? call.error('cancelled') : thrown;
  } finally {
    takeBack();
    linked.unlink();
  }
}

/** Goes where an answer points, as long as every place on the way may be gone to. */
async function follow(
  targets: HttpTargets,
  url: string,
  first: Exchange,
  limits: ExchangeLimits,
  call: BuiltinCall,
): Promise<HttpAnswer> {
  let target = await targets.check(url, undefined, call);
  let message = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const answer = await exchange(target, message, limits).catch((thrown: unknown) =>
      failed(thrown, call),
    );
    const location = REDIRECTS.has(answer.status) ? answer.headers.location : undefined;
    if (location === undefined) return answer;
    const next: HttpTarget = await targets.check(location, target.url, call);
    message = redirected(message, answer.status, next.url.origin === target.url.origin);
    target = next;
  }
  throw call.error(`redirected more than ${MAX_REDIRECTS} times`);
}

function failed(thrown: unknown, call: BuiltinCall): never {
  if (isAlliumError(thrown)) throw call.error(`not allowed: ${thrown.message}`);
  throw call.error(`the exchange failed (${errnoOf(thrown) || 'unknown'})`);
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const KEEPS_METHOD: ReadonlySet<number> = new Set([307, 308]);
/** What may be told to another host. A list of secret headers would never be complete. */
const HARMLESS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'user-agent',
]);

function redirected(
  { method, headers, body }: Exchange,
  status: number,
  isSameOrigin: boolean,
): Exchange {
  const kept = Object.entries(headers).filter(([name]) => isSameOrigin || HARMLESS.has(name));
  if (method === 'GET' || KEEPS_METHOD.has(status))
    return { method, headers: Object.fromEntries(kept), body };
  const without = kept.filter(([name]) => name !== 'content-type');
  return { method: 'GET', headers: Object.fromEntries(without), body: Buffer.alloc(0) };
}

/**
 * They say how a message is cut into pieces and whom it is for, which is not the script's to say.
 */
const OURS =
  /^(?:host|connection|content-length|transfer-encoding|accept-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*)$/;

function readHeaders(
  headers: Readonly<Record<string, string>>,
  call: BuiltinCall,
): Readonly<Record<string, string>> {
  const read = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (OURS.test(lower))
      throw call.error(`the header ${JSON.stringify(lower)} is not the script's to set`);
    if (!isHeader(lower, value))
      throw call.error('a header has a name or a value that cannot be sent');
    read.set(lower, value);
  }
  return Object.fromEntries(read);
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface ExchangeLimits {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Never over a connection that was made for somebody else, and never by a proxy that the
 * environment names.
 */
const agents = Object.freeze({
  http: () => new HttpAgent({ keepAlive: false }),
  https: () => new HttpsAgent({ keepAlive: false }),
});

/**
 * Rejects with the system's error. What is longer than the limit is cut, and the connection with
 * it.
 */
export function exchange(
  target: HttpTarget,
  { method, headers, body }: Exchange,
  limits: ExchangeLimits,
): Promise<HttpAnswer> {
  const { url, lookup } = target;
  const isSecure = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)({
      method,
      lookup,
      signal: limits.signal,
      agent: isSecure ? agents.https() : agents.http(),
      protocol: url.protocol,
      hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      path: `${url.pathname}${url.search}`,
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
        if (!target.mayTalkTo(socket.remoteAddress)) request.destroy(addressRefused());
      });
    });
    // A request that a server answers with another protocol ends without an error, and nothing
    // could end it afterwards.
    const left = (): void => reject(new Error('the request was ended without an answer'));
    request.on('close', left);
    request.on('response', (response) => {
      request.off('close', left);
      void readAnswer(response, limits.maxBytes).then(resolve, reject);
    });
    request.end(body);
  });
}

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
