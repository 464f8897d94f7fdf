import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mcpExecutor } from '../index.ts';
import { connected, governed, OBJECT, official } from './peers.fixture.ts';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The official server over HTTP, as a process. */
async function everything(port: number) {
  const { command, args } = official('everything', 'streamableHttp');
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  onTestFinished(stop);
  let said = '';
  for await (const chunk of child.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    if (said.includes('listening')) break;
  }
  child.stderr.resume();
  return { url: `http://127.0.0.1:${port}/mcp`, stop };
}

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name: string };
}
type Behaviour = (message: Message, response: ServerResponse, request: IncomingMessage) => void;

const json = (response: ServerResponse, value: unknown) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(value));

/** A server of the older protocol by hand; `call` says what becomes of a call. */
async function handmade(call: Behaviour) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
      const { id, method } = message;
      seen.push(method);
      const answer = (result: unknown) => json(response, { jsonrpc: '2.0', id, result });
      if (id === undefined) response.writeHead(202).end();
      else if (method === 'tools/call') call(message, response, request);
      else if (method === 'initialize')
        answer({
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'h', version: '1' },
        });
      else if (method === 'tools/list')
        answer({ tools: [{ name: 'act', description: 'x', inputSchema: OBJECT }] });
      else
        json(response, {
          jsonrpc: '2.0',
          id,
          error: { code: -32_601, message: 'Method not found' },
        });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void (server.closeAllConnections(), server.close()));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    calls: () => seen.filter((method) => method === 'tools/call').length,
  };
}

const act = { name: 'act', arguments: {} };

describe('a server at an address', () => {
  it('is listed, called, and spoken to again after it was gone', async () => {
    const port = await freePort();
    const first = await everything(port);
    const { server } = await connected({ name: 'everything', url: first.url }, { maxConnects: 1 });
    const tools = governed(server);
    const echo = { name: 'echo', arguments: { message: 'hi' } };
    const progress: unknown[] = [];
    const slow = { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } };

    expect(await tools.call(echo)).toMatchObject({ status: 'ok', renderedResult: 'Echo: hi' });
    expect(
      await tools.call(slow, { onProgress: (each) => void progress.push(each) }),
    ).toMatchObject({ status: 'ok' });
    expect(progress.length).toBeGreaterThan(0);
    await first.stop();
    expect(await tools.call(echo)).toMatchObject({
      status: 'executor_error',
      errorCategory: 'network',
      executed: 'no',
    });
    await everything(port);
    expect(await tools.call(echo)).toMatchObject({ status: 'ok', renderedResult: 'Echo: hi' });
  });

  it.each<[string, Behaviour, 'no' | 'unknown']>([
    ['hangs up', (_message, response) => void response.destroy(), 'unknown'],
    [
      'ends its stream without an answer',
      (_message, response) =>
        void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
      'unknown',
    ],
    ['fails', (_message, response) => void response.writeHead(502).end(), 'unknown'],
    ['does not take it', (_message, response) => void response.writeHead(429).end(), 'no'],
    ['does not know the session', (_message, response) => void response.writeHead(404).end(), 'no'],
    [
      'answers with no JSON',
      (_message, response) => void response.setHeader('content-type', 'application/json').end('{'),
      'unknown',
    ],
  ])(
    'that %s is not asked again, and the call says what is known',
    async (_what, behaviour, executed) => {
      const { url, calls, seen } = await handmade(behaviour);
      const { server } = await connected({ name: 'h', url });
      const tools = governed(server);

      expect(await tools.call(act)).toMatchObject({ status: 'executor_error', executed });
      expect(calls()).toBe(1);
      await tools.call(act);
      expect(seen.filter((method) => method === 'initialize')).toHaveLength(2);
    },
  );

  it('gets the headers it is given, and they are in no error', async () => {
    const got: unknown[] = [];
    const { url } = await handmade((message, response, request) => {
      got.push(request.headers.authorization);
      json(response, { jsonrpc: '2.0', id: message.id, result: { content: [] } });
    });
    const headers = { authorization: 'Bearer very-secret' };
    const { server } = await connected({ name: 'h', url, headers });

    expect(await governed(server).call(act)).toMatchObject({ status: 'ok' });
    expect(got).toEqual(['Bearer very-secret']);
    const thrown: unknown = await mcpExecutor({
      name: 'h',
      url: 'http://127.0.0.1:9/',
      headers,
    }).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 'ERR_MCP_UNAVAILABLE' });
    expect(String(thrown)).not.toContain('secret');
  });

  it.each(['application/json', 'text/event-stream'])(
    'cannot answer without end (%s)',
    async (type) => {
      const { url } = await handmade((_message, response) => {
        response.setHeader('content-type', type);
        const chunk = Buffer.alloc(1024 * 1024, 'x');
        const more = (): void => {
          while (!response.destroyed && response.write(chunk));
          response.once('drain', more);
        };
        more();
      });
      const { server } = await connected({ name: 'h', url });

      expect(await governed(server).call(act)).toMatchObject({
        status: 'executor_error',
        executed: 'unknown',
      });
    },
  );
});
