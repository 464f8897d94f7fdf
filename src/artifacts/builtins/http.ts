/** `http.get` and `http.post`: text from public hosts that were granted, hop by hop. */

import { validateHeaderName, validateHeaderValue } from 'node:http';
import { type Clock, systemClock } from '../../core/clock.ts';
import { isAlliumError } from '../../core/errors.ts';
import type { JsonValue } from '../../core/json.ts';
import { linkAbort } from '../../core/signal.ts';
import { errnoOf } from '../../policy/jail/jail-error.ts';
import type { HostTree } from '../sandbox/host-function.ts';
import { type BuiltinGrants, type BuiltinUse, MAX_OUTPUT_BYTES } from './builtin-use.ts';
import type { BuiltinCall, DefineBuiltin } from './define-builtin.ts';
import type { GivenArguments } from './given-arguments.ts';
import { type Exchange, type ExchangeLimits, exchange, type HttpAnswer } from './http-exchange.ts';
import { type HttpTarget, type HttpTargets, httpTargets } from './http-targets.ts';

const MAX_REDIRECTS = 5;
const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 600_000;

/** `get(url, headers={}, body="", timeout_ms=30000)` and `post(…)`, both answer `{status, headers, body}`. */
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

/** They say how a message is cut into pieces and whom it is for, which is not the script's to say. */
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
