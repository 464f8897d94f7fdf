/**
 * A server of the official SDK, of the revision without sessions, that holds headers to bodies and
 * writes down what it was sent.
 */

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { paramsOf, type WireMessage } from '../wire.ts';

export interface RecordedCall {
  readonly headers: IncomingHttpHeaders;
  readonly name: unknown;
  readonly args: unknown;
}

export interface RecordingServer {
  readonly url: string;
  /** Calls that arrived, whatever the server made of them. */
  readonly calls: readonly RecordedCall[];
  /** The arguments of those that ran. */
  readonly ran: readonly JsonObject[];
}

// The type of the SDK does not know the mark that the SDK reads.
const region: object = { type: 'string', 'x-mcp-header': 'Region' };
const rows: object = { type: 'integer', 'x-mcp-header': 'Rows' };
const QUERY = fromJsonSchema<JsonObject>({
  type: 'object',
  properties: { region, limit: { type: 'object', properties: { rows } }, text: { type: 'string' } },
});

/** Has the tools `query` and `count`, and is gone after the test. */
export async function recordingServer(): Promise<RecordingServer> {
  const calls: RecordedCall[] = [];
  const ran: JsonObject[] = [];
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: 'recording', version: '1' });
      for (const name of ['query', 'count'])
        server.registerTool(name, { description: name, inputSchema: QUERY }, (args) => {
          ran.push(args);
          return { content: [{ type: 'text', text: `${name} ran` }] };
        });
      return server;
    },
    { legacy: 'reject' },
  );
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const message = JSON.parse(body) as WireMessage; // Anything else fails the test.
      const { name, arguments: args } = paramsOf(message);
      if (message.method === 'tools/call') calls.push({ headers: request.headers, name, args });
      const headers = Object.entries(request.headers).map(([key, value]): [string, string] => [
        key,
        String(value),
      ]);
      const answer = await handler.fetch(
        new Request(`http://${request.headers.host ?? ''}/mcp`, { method: 'POST', headers, body }),
      );
      response
        .writeHead(answer.status, Object.fromEntries(answer.headers))
        .end(await answer.text());
    })().catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await handler.close();
  });
  // It listens on a port, not on a path.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, calls, ran };
}
