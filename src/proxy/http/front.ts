/** One HTTP request after the other: who sent it, what it is, and whose it is. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRequestId, kindOf, type WireMessage } from '../wire.ts';
import { type RefusedWith, sendRefusal } from './answer.ts';
import { classify, isModernVersion } from './classify.ts';
import { type GuardRules, guardOrigin, guardToken } from './guard-request.ts';
import type { Links } from './listen-http.ts';
import { PARAM_PREFIX } from './param-headers.ts';
import { readBody } from './read-body.ts';
import type { SessionLink } from './session-link.ts';
import type { Strangers } from './strangers.ts';

export interface FrontOptions {
  readonly path: string;
  readonly guard: GuardRules;
  readonly maxBodyBytes: number;
  readonly links: Links;
  /** Told of every connection over which a valid token came. */
  readonly vouchFor: Strangers['vouchFor'];
}

export interface Front {
  /** Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export function createFront({ path, guard, maxBodyBytes, links, vouchFor }: FrontOptions): Front {
  const post = async (
    request: IncomingMessage,
    response: ServerResponse,
    principal: number,
  ): Promise<RefusedWith | null> => {
    const wrongKind = refusedKind(request);
    if (wrongKind !== null) return wrongKind;
    const sessionId = headerOf(request, 'mcp-session-id');
    // Nothing is read for somebody who cannot take it now.
    await (sessionId === undefined
      ? links.openShared(principal)
      : links.session(sessionId, principal)
    )?.ready();
    const body = await readBody(request, maxBodyBytes);
    if (body === null) return null;
    if ('problem' in body) return body.problem;
    const { message } = body;
    const id = kindOf(message) === 'request' && isRequestId(message.id) ? message.id : null;
    const era = classify(message, {
      version: headerOf(request, 'mcp-protocol-version'),
      method: headerOf(request, 'mcp-method'),
      name: headerOf(request, 'mcp-name'),
    });
    if (typeof era === 'object') return { ...era, id };
    const link =
      era === 'modern' ? links.shared(principal) : legacyLink(request, message, principal);
    if ('status' in link) return { ...link, id };
    const frame =
      era === 'modern' ? { message, paramHeaders: paramHeadersOf(request) } : { message };
    link.post(frame, response, prefersEvents(request));
    return null;
  };

  const legacyLink = (
    request: IncomingMessage,
    message: WireMessage,
    principal: number,
  ): SessionLink | RefusedWith => {
    const isHandshake = message.method === 'initialize' && kindOf(message) === 'request';
    if (!isHandshake) return existing(request, principal);
    if (headerOf(request, 'mcp-session-id') !== undefined)
      return { status: 400, message: 'a session has one handshake' };
    return (
      links.createSession(principal) ?? {
        status: 503,
        message: 'there are too many sessions',
        headers: { 'retry-after': '60' },
      }
    );
  };

  const existing = (request: IncomingMessage, principal: number): SessionLink | RefusedWith => {
    const id = headerOf(request, 'mcp-session-id');
    if (id === undefined) return { status: 400, message: 'the Mcp-Session-Id header is missing' };
    const session = links.session(id, principal);
    if (session === undefined) return { status: 404, message: 'there is no such session' };
    const version = headerOf(request, 'mcp-protocol-version');
    if (version !== undefined && !session.knowsVersion(version))
      return { status: 400, message: 'the MCP-Protocol-Version is not supported' };
    return session;
  };

  const listen = (
    request: IncomingMessage,
    response: ServerResponse,
    principal: number,
  ): RefusedWith | null => {
    if (isModernVersion(headerOf(request, 'mcp-protocol-version'))) return NO_METHOD;
    if (!accepts(request, 'text/event-stream'))
      return { status: 406, message: 'text/event-stream must be accepted' };
    const session = existing(request, principal);
    if ('status' in session) return session;
    return session.listen(response) ? null : { status: 409, message: 'too many streams are open' };
  };

  const end = (
    request: IncomingMessage,
    response: ServerResponse,
    principal: number,
  ): RefusedWith | null => {
    const session = existing(request, principal);
    if ('status' in session) return session;
    session.end('the client ended the session');
    response.writeHead(200).end();
    return null;
  };

  const route = async (
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<RefusedWith | null> => {
    const refusal = guardOrigin(request, guard);
    if (refusal !== null) return refusal;
    const principal = guardToken(request, guard);
    if (typeof principal === 'object') return principal;
    vouchFor(request.socket);
    if (request.url?.split('?', 1)[0] !== path)
      return { status: 404, message: 'there is nothing here' };
    if (request.method === 'POST') return post(request, response, principal);
    if (request.method === 'GET') return listen(request, response, principal);
    return request.method === 'DELETE' ? end(request, response, principal) : NO_METHOD;
  };

  return {
    async handle(request, response) {
      response.on('error', () => response.destroy());
      try {
        const refusal = await route(request, response);
        if (refusal === null) return;
        // Whatever is still to come of the request is not read.
        sendRefusal(response, { ...refusal, headers: { ...refusal.headers, connection: 'close' } });
      } catch {
        sendRefusal(response, {
          status: 500,
          message: 'the request could not be handled',
          headers: { connection: 'close' },
        });
      }
    },
  };
}

const NO_METHOD: RefusedWith = {
  status: 405,
  message: 'the method is not allowed',
  headers: { allow: 'GET, POST, DELETE' },
};

const headerOf = (request: IncomingMessage, name: string): string | undefined =>
  request.headersDistinct[name]?.[0]?.trim();

/** None of them stands there twice: that was seen to before. */
const paramHeadersOf = ({ headersDistinct }: IncomingMessage): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(headersDistinct).flatMap(([name, [value = ''] = []]) =>
      name.startsWith(PARAM_PREFIX) ? [[name, value]] : [],
    ),
  );

function refusedKind(request: IncomingMessage): RefusedWith | null {
  // Also what keeps forms of web pages out: they cannot send JSON without being asked first.
  const [type = ''] = (headerOf(request, 'content-type') ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json')
    return { status: 415, message: 'the body must be application/json' };
  if (accepts(request, 'application/json') && accepts(request, 'text/event-stream')) return null;
  return { status: 406, message: 'application/json and text/event-stream must both be accepted' };
}

const acceptedTypes = (request: IncomingMessage): readonly string[] =>
  (headerOf(request, 'accept') ?? '')
    .split(',')
    .map((each) => (each.split(';')[0] ?? '').trim().toLowerCase());

const accepts = (request: IncomingMessage, type: string): boolean => {
  const types = acceptedTypes(request);
  return types.includes(type) || types.includes('*/*');
};

/** Where both are wanted equally, the one that was named first. */
const prefersEvents = (request: IncomingMessage): boolean => {
  const types = acceptedTypes(request);
  const events = types.indexOf('text/event-stream');
  const json = types.indexOf('application/json');
  return events !== -1 && (json === -1 || events < json);
};
