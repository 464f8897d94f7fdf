/** One HTTP request after the other: who sent it, what it is, and whose it is. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  answerInstead,
  CODES,
  isRequestId,
  kindOf,
  METHODS,
  type RequestId,
  type WireMessage,
} from '../wire.ts';
import { type RefusedWith, sendRefusal } from './answer.ts';
import { classify, isModernVersion } from './classify.ts';
import { guardOrigin, type GuardRules, guardToken, type Strangers } from './guard-request.ts';
import type { Links } from './links.ts';
import { PARAM_PREFIX } from './param-headers.ts';
import type { SessionLink } from './session-link.ts';
import { readMessage } from '../../core/wire/json-rpc.ts';
import { refusalOf } from '../proxy/doubtful-message.ts';

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

/** Answers every request with the links of `options`, or with why it is refused. */
export function createFront(options: FrontOptions): Front {
  return {
    async handle(request, response) {
      response.on('error', () => response.destroy());
      try {
        const refusal = await route(options, request, response);
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

async function route(
  options: FrontOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<RefusedWith | null> {
  const { guard, path, links, vouchFor } = options;
  const refusal = guardOrigin(request, guard);
  if (refusal !== null) return refusal;
  const principal = guardToken(request, guard);
  if (typeof principal === 'object') return principal;
  vouchFor(request.socket);
  if (request.url?.split('?', 1)[0] !== path)
    return { status: 404, message: 'there is nothing here' };
  if (request.method === 'POST') return post(options, request, response, principal);
  if (request.method === 'GET') return listen(links, request, response, principal);
  return request.method === 'DELETE' ? end(links, request, response, principal) : NO_METHOD;
}

async function post(
  { links, maxBodyBytes }: FrontOptions,
  request: IncomingMessage,
  response: ServerResponse,
  principal: number,
): Promise<RefusedWith | null> {
  const wrongKind = refusedKind(request);
  if (wrongKind !== null) return wrongKind;
  const sessionId = headerOf(request, 'mcp-session-id');
  const there =
    sessionId === undefined ? links.openShared(principal) : links.session(sessionId, principal);
  // Nothing is read for a link that cannot take it now.
  await there?.ready();
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
    era === 'modern' ? links.shared(principal) : legacyLink(links, request, message, principal);
  if ('status' in link) return { ...link, id };
  const frame = era === 'modern' ? { message, paramHeaders: paramHeadersOf(request) } : { message };
  link.post(frame, response, prefersEvents(request));
  return null;
}

function legacyLink(
  links: Links,
  request: IncomingMessage,
  message: WireMessage,
  principal: number,
): SessionLink | RefusedWith {
  const isHandshake = message.method === METHODS.initialize && kindOf(message) === 'request';
  if (!isHandshake) return existing(links, request, principal);
  if (headerOf(request, 'mcp-session-id') !== undefined)
    return { status: 400, message: 'a session has one handshake' };
  return links.createSession(principal) ?? TOO_MANY_SESSIONS;
}

const TOO_MANY_SESSIONS: RefusedWith = {
  status: 503,
  message: 'there are too many sessions',
  headers: { 'retry-after': '60' },
};

function existing(
  links: Links,
  request: IncomingMessage,
  principal: number,
): SessionLink | RefusedWith {
  const id = headerOf(request, 'mcp-session-id');
  if (id === undefined) return { status: 400, message: 'the Mcp-Session-Id header is missing' };
  const session = links.session(id, principal);
  if (session === undefined) return { status: 404, message: 'there is no such session' };
  const version = headerOf(request, 'mcp-protocol-version');
  if (version !== undefined && !session.knowsVersion(version))
    return { status: 400, message: 'the MCP-Protocol-Version is not supported' };
  return session;
}

function listen(
  links: Links,
  request: IncomingMessage,
  response: ServerResponse,
  principal: number,
): RefusedWith | null {
  if (isModernVersion(headerOf(request, 'mcp-protocol-version'))) return NO_METHOD;
  if (!accepts(request, 'text/event-stream'))
    return { status: 406, message: 'text/event-stream must be accepted' };
  const session = existing(links, request, principal);
  if ('status' in session) return session;
  return session.listen(response) ? null : { status: 409, message: 'too many streams are open' };
}

function end(
  links: Links,
  request: IncomingMessage,
  response: ServerResponse,
  principal: number,
): RefusedWith | null {
  const session = existing(links, request, principal);
  if ('status' in session) return session;
  session.end('the client ended the session');
  response.writeHead(200).end();
  return null;
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

/** Told apart by a name of ours: a message may have any member. */
type Body = { readonly message: WireMessage } | { readonly problem: BodyProblem };

interface BodyProblem {
  readonly status: number;
  readonly message: string;
  readonly code?: number;
  /** Of a request whose sender can be told. */
  readonly id?: RequestId;
}

/**
 * Reads a message, or says what is wrong with it. `null`: the client went away while it was
 * sending.
 */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<Body | null> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return TOO_LARGE;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) return TOO_LARGE;
      chunks.push(chunk);
    }
  } catch {
    return null;
  }
  const reading = readMessage(Buffer.concat(chunks));
  // A request that only some readers take for one is not opened here, or nobody would answer it.
  // Answers are judged where they are waited for.
  const refused = 'message' in reading ? refusalOf(reading.message) : reading;
  if ('message' in reading && (refused === null || refused.isAnswer)) return reading;
  if (refused === null) return null;
  const message = answerInstead(refused);
  if (message !== null) return { message };
  const { problem, id } = refused;
  const code = id === undefined ? CODES.parse : CODES.invalidRequest;
  return {
    problem: {
      status: 400,
      message: `the body holds ${problem}`,
      code,
      ...(id === undefined ? {} : { id }),
    },
  };
}

const TOO_LARGE: Body = { problem: { status: 413, message: 'the body is too large' } };
