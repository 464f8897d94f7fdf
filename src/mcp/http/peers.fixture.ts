/** Clients and servers that others wrote, at the two ends of what is tested here. */

/* oxlint-disable typescript/no-deprecated -- the low-level classes of the SDK send what they are given */

import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { PassThrough } from 'node:stream';
import type { AddressInfo } from 'node:net';
import { spawn } from 'node:child_process';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import {
  acceptedContent,
  inputRequired,
  type RequestId,
  Server,
} from '@modelcontextprotocol/server';
import type { Link } from '../proxy/link.ts';
import { type Relay, relay } from '../proxy/relay.ts';
import { type ChildLink, childLink } from '../stdio/stdio-links.ts';
import { type HttpListener, type ListenOptions, listenHttp } from './listen-http.ts';

export const TOKEN = 'a-token-of-the-tests';

export interface CallOptions {
  readonly onprogress?: (progress: { readonly progress: number }) => void;
  readonly signal?: AbortSignal;
}

/** What the tests do with any client. */
export interface Peer {
  list(): Promise<readonly string[]>;
  /** The text of the first content. */
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<string>;
  /** Methods of what the server sent by itself. */
  readonly heard: readonly string[];
  close(): Promise<void>;
}

const INFO = { name: 'peer', version: '1.0.0' };
const CAPABILITIES = { elicitation: { form: {} }, sampling: {}, roots: { listChanged: true } };
const ANSWER = {
  action: 'accept' as const,
  content: { decision: 'yes', name: 'Ann', check: true },
};
const SAMPLED = {
  model: 'none',
  role: 'assistant' as const,
  content: { type: 'text' as const, text: 'sampled text' },
};
const ROOTS = { roots: [{ uri: 'file:///the-root', name: 'the root' }] };
const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };

const textOf = (result: object): string =>
  JSON.stringify('content' in result ? result.content : result);

async function v1Client(url: string): Promise<Peer> {
  const client = new Client(INFO, { capabilities: CAPABILITIES });
  const heard: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, () => ANSWER);
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLED);
  client.setRequestHandler(ListRootsRequestSchema, () => ROOTS);
  client.setNotificationHandler(
    LoggingMessageNotificationSchema,
    ({ method }) => void heard.push(method),
  );
  client.setNotificationHandler(
    ToolListChangedNotificationSchema,
    ({ method }) => void heard.push(method),
  );
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  // The SDK's own class does not fit its own type where optional members are exact.
  await client.connect(transport);
  return {
    heard,
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, options = {}) =>
      textOf(await client.callTool({ name, arguments: args }, undefined, options)),
    async close() {
      await transport.terminateSession();
      await client.close();
    },
  };
}

const v2Client =
  (pin?: string) =>
  async (url: string): Promise<Peer> => {
    const client = new ModernClient(INFO, {
      capabilities: CAPABILITIES,
      ...(pin === undefined ? {} : { versionNegotiation: { mode: { pin } } }),
    });
    const heard: string[] = [];
    client.setRequestHandler('elicitation/create', () => ANSWER);
    client.setRequestHandler('sampling/createMessage', () => SAMPLED);
    client.setRequestHandler('roots/list', () => ROOTS);
    client.setNotificationHandler('notifications/message', ({ method }) => void heard.push(method));
    client.setNotificationHandler(
      'notifications/tools/list_changed',
      ({ method }) => void heard.push(method),
    );
    const transport = new ModernTransport(new URL(url), { requestInit });
    await client.connect(transport);
    return {
      heard,
      list: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name, args = {}, options = {}) =>
        textOf(await client.callTool({ name, arguments: args }, options)),
      async close() {
        await transport.terminateSession();
        await client.close();
      },
    };
  };

export const LEGACY_CLIENTS = { 'SDK v1': v1Client, 'SDK v2 with sessions': v2Client() };
export const modernClient = v2Client('2026-07-28');
export const ALL_CLIENTS = { ...LEGACY_CLIENTS, 'SDK v2 without sessions': modernClient };

/** What a server of ours saw. */
export interface Seen {
  readonly started: RequestId[];
  readonly cancelled: RequestId[];
}

const TOOLS = [
  {
    name: 'echo',
    inputSchema: {
      type: 'object' as const,
      properties: { text: { type: 'string', 'x-mcp-header': 'Text' } },
    },
  },
  { name: 'ask', inputSchema: { type: 'object' as const } },
  { name: 'slow', inputSchema: { type: 'object' as const } },
  { name: 'change', inputSchema: { type: 'object' as const } },
];

const QUESTION = inputRequired.elicit({
  message: 'May I?',
  requestedSchema: {
    type: 'object',
    properties: { decision: { type: 'string' } },
    required: ['decision'],
  },
});

/**
 * A server that asks back, and one whose `slow` tool reports progress and ends only when it is
 * cancelled.
 */
export function askingServer(seen: Seen): () => Server {
  return () => {
    const server = new Server(INFO, {
      capabilities: { tools: { listChanged: true }, logging: {} },
    });
    server.setRequestHandler('tools/list', () => ({ tools: TOOLS }));
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      if (params.name === 'echo')
        return {
          content: [{ type: 'text', text: String(params.arguments?.text) }],
          extra: { kept: 1 },
        };
      if (params.name === 'ask') {
        const answered = acceptedContent<{ decision: string }>(mcpReq.inputResponses, 'question');
        if (answered === undefined) return inputRequired({ inputRequests: { question: QUESTION } });
        return { content: [{ type: 'text', text: `answered ${answered.decision}` }] };
      }
      if (params.name === 'change') {
        await server.sendToolListChanged();
        return { content: [] };
      }
      seen.started.push(mcpReq.id);
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress: 1 },
        });
      await once(mcpReq.signal, 'abort');
      seen.cancelled.push(mcpReq.id);
      throw new Error('cancelled');
    });
    return server;
  };
}

const EVERYTHING = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);

export const everythingChild = (): ChildLink =>
  childLink({ command: process.execPath, args: [EVERYTHING, 'stdio'] }, new PassThrough().resume());

/** The reference server over HTTP. It takes no port 0, so one is looked for. */
export async function everythingOverHttp(): Promise<{
  readonly url: string;
  close(): Promise<void>;
}> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  // It listens on a port, not on a path.
  const { port } = probe.address() as AddressInfo;
  probe.close();
  const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
  });
  child.stdout.resume();
  for await (const chunk of child.stderr) if (String(chunk).includes('listening')) break;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

export interface RelayedFront {
  readonly front: HttpListener;
  readonly url: string;
  /** The upstream links that were made. */
  readonly upstreams: readonly Link[];
  readonly reports: readonly string[];
  close(): Promise<void>;
}

/** A front that relays each client to a server of its own. */
export async function relayTo<Upstream extends Link>(
  connect: () => Upstream,
  options: Partial<ListenOptions> = {},
): Promise<RelayedFront & { readonly upstreams: readonly Upstream[] }> {
  const relays: Relay[] = [];
  const upstreams: Upstream[] = [];
  const reports: string[] = [];
  const front = await listenHttp({
    port: 0,
    token: TOKEN,
    async onClient(link) {
      const upstream = connect();
      upstreams.push(upstream);
      relays.push(await relay(link, upstream, {}, (problem) => void reports.push(problem)));
    },
    ...options,
  });
  return {
    front,
    url: front.url,
    upstreams,
    reports,
    async close() {
      await front.close();
      await Promise.all(relays.map((each) => each.close()));
    },
  };
}
