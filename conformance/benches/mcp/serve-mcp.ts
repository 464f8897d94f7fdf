/**
 * A server of the official SDK over HTTP in both eras, as its documentation puts one together: what
 * a proxy is compared with.
 */

/* oxlint-disable typescript/no-deprecated -- the low-level server sends what it is given, and that is what is compared */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import {
  createMcpHandler,
  type EventStore,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpHttpHandler,
  originValidationResponse,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

export interface ServedMcp {
  readonly url: string;
  /** For what the server tells by itself to those who listen, in the revisions without sessions. */
  readonly notify: McpHttpHandler['notify'];
  /** How many sessions are open. */
  sessions(): number;
  close(): Promise<void>;
}

/**
 * Listens on a free port of this machine. Sessions are kept, and their streams can be taken up
 * again.
 */
export async function serveMcp(create: () => Server): Promise<ServedMcp> {
  const modern = createMcpHandler(create, { legacy: 'reject' });
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

  const legacy = async (request: Request): Promise<Response> => {
    const existing = sessions.get(request.headers.get('mcp-session-id') ?? '');
    if (existing !== undefined) return existing.handleRequest(request);
    if (request.headers.has('mcp-session-id')) return Response.json(GONE, { status: 404 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: memoryEvents(),
      retryInterval: 50,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await create().connect(transport);
    return transport.handleRequest(request);
  };

  const answer = async (request: Request): Promise<Response> =>
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins()) ??
    ((await isLegacyRequest(request)) ? legacy(request) : modern.fetch(request));

  const server = createServer((request, response) => void carry(request, response, answer));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // It listens on a port, not on a path.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    notify: modern.notify,
    sessions: () => sessions.size,
    async close() {
      const closed = once(server, 'close');
      server.close();
      await modern.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const GONE = { jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'Session not found' } };

/** What the SDK has a package for: Node's request and response as those of the web. */
async function carry(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: Request) => Promise<Response>,
): Promise<void> {
  const left = new AbortController();
  response.once('close', () => left.abort());
  const hasBody = request.method === 'POST';
  // The types of the two streams do not know each other.
  const body = hasBody
    ? {
        body: Readable.toWeb(request) as unknown as NonNullable<RequestInit['body']>,
        duplex: 'half' as const,
      }
    : {};
  const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  const url = `http://${request.headers.host ?? 'localhost'}${request.url ?? '/'}`;
  try {
    const answered = await answer(
      new Request(url, { method: request.method ?? 'GET', headers, signal: left.signal, ...body }),
    );
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    response.flushHeaders();
    if (answered.body === null) return void response.end();
    const stream = Readable.fromWeb(answered.body);
    stream.on('error', () => response.destroy());
    response.once('close', () => stream.destroy());
    stream.pipe(response);
  } catch {
    if (!response.headersSent) response.writeHead(500);
    response.end();
  }
}

function memoryEvents(): EventStore {
  const events: {
    readonly streamId: string;
    readonly message: Parameters<EventStore['storeEvent']>[1];
  }[] = [];
  return {
    storeEvent: async (streamId, message) => String(events.push({ streamId, message })),
    getStreamIdForEventId: async (id) => events[Number(id) - 1]?.streamId,
    async replayEventsAfter(id, { send }) {
      const streamId = events[Number(id) - 1]?.streamId ?? '';
      for (const [index, event] of events.entries()) {
        // An event that opens a stream holds no message.
        if (index >= Number(id) && event.streamId === streamId && 'jsonrpc' in event.message)
          await send(String(index + 1), event.message);
      }
      return streamId;
    },
  };
}
