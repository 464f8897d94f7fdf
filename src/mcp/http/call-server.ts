/**
 * Requests to an HTTP server: what it is told in headers, where it may send one, and what is said
 * when it cannot be reached.
 */

import { exactLine } from '../../core/json/exact-json.ts';
import { isObject } from '../../core/json/json.ts';
import { METHODS, modernVersionOf, paramsOf, type WireMessage } from '../wire.ts';
import { encodeHeaderValue, nameSourceOf } from './standard-headers.ts';

export interface HttpServerOptions {
  /** Added to every request, asked for each. Cannot replace what the protocol says in headers. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** @default the one of this process */
  readonly fetch?: typeof fetch;
}

export interface ServerCall {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly message?: WireMessage;
  /** For a message: parameters that the server wants in headers. */
  readonly params?: ReadonlyMap<string, string>;
  readonly lastEventId?: string;
  readonly signal: AbortSignal;
}

export interface Caller {
  call(call: ServerCall): Promise<Response>;
  /** What a handshake came to. `null` as long as there was none. */
  sessionId: string | null;
  version: string | null;
}

const MAX_REDIRECTS = 3;

export function createCaller(
  url: URL,
  { headers = () => ({}), fetch: given = fetch }: HttpServerOptions,
): Caller {
  // What was sent without a handshake and belongs to no request is of the revision that requests
  // were sent in.
  let modern: string | null = null;

  const headersOf = ({ method, message, params, lastEventId }: ServerCall): Headers => {
    const made = new Headers(headers());
    const own =
      (message === undefined ? null : modernVersionOf(message)) ??
      (caller.version === null ? modern : null);
    if (own !== null && message?.id !== undefined) modern = own;
    const set = (name: string, value: string | null | undefined): void => {
      if (value === null || value === undefined) made.delete(name);
      else made.set(name, value);
    };
    set('accept', method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream');
    set('content-type', message === undefined ? null : 'application/json');
    set('last-event-id', lastEventId === '' ? null : lastEventId);
    set(
      'mcp-session-id',
      own === null && message?.method !== METHODS.initialize ? caller.sessionId : null,
    );
    set('mcp-protocol-version', own ?? caller.version);
    set('mcp-method', own !== null && typeof message?.method === 'string' ? message.method : null);
    set('mcp-name', own === null || message === undefined ? null : nameOf(message));
    for (const [name, value] of own === null ? [] : (params ?? [])) set(name, value);
    return made;
  };

  const caller: Caller = {
    sessionId: null,
    version: null,
    async call(call) {
      const { method, message, signal } = call;
      const body = message === undefined ? {} : { body: exactLine(message) };
      let target = url;
      for (let redirects = 0; ; redirects++) {
        // A redirect that `fetch` followed by itself would carry the headers, and with them the
        // secrets, to anybody.
        const response = await given(target, {
          method,
          ...body,
          headers: headersOf(call),
          signal,
          redirect: 'manual',
        });
        const next = sameOriginTarget(response, target);
        if (next === null || redirects === MAX_REDIRECTS) return response;
        await discard(response);
        target = next;
      }
    },
  };
  return caller;
}

function nameOf(message: WireMessage): string | null {
  const source = typeof message.method === 'string' ? nameSourceOf(message.method) : undefined;
  const name = source === undefined ? undefined : paramsOf(message)[source];
  return typeof name === 'string' ? encodeHeaderValue(name) : null;
}

/** Only what keeps method and body, and stays where the secrets belong. */
function sameOriginTarget({ status, headers }: Response, from: URL): URL | null {
  const location = status === 307 || status === 308 ? headers.get('location') : null;
  if (location === null || !URL.canParse(location, from.href)) return null;
  const target = new URL(location, from);
  return target.origin === from.origin &&
    target.username === from.username &&
    target.password === from.password
    ? target
    : null;
}

/** Lets go of a connection whose answer nobody reads. */
export async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {});
}

/**
 * What went wrong, from a fixed list of words and codes: messages of `fetch` may quote a header or
 * an address.
 */
export function problemOf(error: unknown): string {
  const cause = isObject(error) ? error.cause : undefined;
  const code = isObject(cause) ? cause.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(code)
    ? `the server could not be reached (${code})`
    : 'the server could not be reached';
}
