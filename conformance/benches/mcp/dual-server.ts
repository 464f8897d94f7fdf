/**
 * A server that speaks both eras: `dual-server.js stdio`, or `dual-server.js http` on the port
 * `PORT`. `DUAL_NOTES` names the file of effects; its process id is added to the file that
 * `DUAL_PIDS` names.
 */

import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createDualServer, type DualState } from './dual-tools.ts';

const { DUAL_NOTES = '', DUAL_PIDS, PORT = '0' } = process.env;
const state: DualState = {
  notes: DUAL_NOTES,
  addDescription: 'Adds two numbers.',
  tellChanged: () => {},
};
if (DUAL_PIDS !== undefined) appendFileSync(DUAL_PIDS, `${process.pid}\n`);

if (process.argv[2] === 'http') listen(Number(PORT));
else serveStdio(() => createDualServer(state));

function listen(port: number): void {
  const handler = createMcpHandler(() => createDualServer(state));
  state.tellChanged = () => handler.notify.toolsChanged();
  createServer((request, response) => {
    answer(handler, request, response).catch(() => response.destroy());
  }).listen(port, '127.0.0.1');
}

/**
 * A client that closes its stream takes its request back, so the request's signal has to follow the
 * stream.
 */
async function answer(
  handler: McpHttpHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer); // Nobody has set an encoding.
  const headers = Object.entries(incoming.headersDistinct).map(
    ([name, values]): [string, string] => [name, (values ?? []).join(', ')],
  );
  const request = new Request(`http://127.0.0.1${incoming.url ?? '/'}`, {
    method: incoming.method ?? 'GET',
    headers,
    signal: gone.signal,
    ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
  });
  const response = await handler.fetch(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body), outgoing);
}
