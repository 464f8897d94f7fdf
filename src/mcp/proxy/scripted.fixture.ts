/** A proxy between a client and a server that do exactly what a test says, in this process. */

import { afterEach } from 'vitest';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { settle, type TestClock, testClock } from '../../../conformance/index.ts';
import { createProxy, type ProxyOptions } from './create-proxy.ts';
import { type Link, linkPair } from './link.ts';
import {
  kindOf,
  objectAt,
  paramsOf,
  requestMessage,
  resultMessage,
  type RequestId,
  type WireMessage,
} from '../wire.ts';

export type Era = 'legacy' | 'modern';
export const ERAS: readonly Era[] = ['legacy', 'modern'];
export const MODERN = '2026-07-28';

export type OnCall = (
  params: JsonObject,
  server: ScriptedServer,
) => JsonObject | null | Promise<JsonObject | null>;

export interface ScriptedServer {
  /** The parameters of every call that arrived. */
  readonly calls: readonly JsonObject[];
  readonly got: readonly WireMessage[];
  /** What it lists from now on. */
  tools: readonly JsonValue[];
  /** `null` leaves a call without an answer. */
  onCall: OnCall;
  readonly send: (message: WireMessage) => void;
  /** Asks the client, and resolves with its answer. */
  readonly ask: (id: RequestId, method: string, params: JsonObject) => Promise<WireMessage>;
  close(): Promise<void>;
}

export interface ScriptedClient {
  readonly got: readonly WireMessage[];
  /** Answers questions; `null` leaves one open. */
  onQuestion: (question: WireMessage) => JsonObject | null;
  send(message: WireMessage): void;
  request(method: string, params?: JsonObject, id?: RequestId): Promise<WireMessage>;
  /** The result of a call; an error of the protocol where it was one. */
  call(name: string, args?: JsonObject, more?: JsonObject, id?: RequestId): Promise<JsonObject>;
  /** The tools as the client is shown them. */
  list(): Promise<readonly JsonObject[]>;
  close(): Promise<void>;
}

export interface Scripted {
  readonly client: ScriptedClient;
  readonly server: ScriptedServer;
  readonly clock: TestClock;
  readonly problems: readonly string[];
}

export interface Script extends Omit<ProxyOptions, 'upstream'> {
  readonly era?: Era;
  readonly tools?: readonly JsonValue[];
  readonly onCall?: OnCall;
  /** What the client can do. */
  readonly capabilities?: JsonObject;
}

export const ELICITS: JsonObject = { elicitation: {} };
export const NOTE: JsonObject = {
  name: 'note',
  description: 'Notes.',
  inputSchema: { type: 'object' },
};
export const said = (text: string): JsonObject => ({ content: [{ type: 'text', text }] });
export const decided = (decision: string): JsonObject => ({
  action: 'accept',
  content: { decision },
});
export const metaIn = (result: JsonObject): JsonObject => objectAt(result, '_meta');
export const statusIn = (result: JsonObject): unknown => metaIn(result)['allium/status'];
export const methodsIn = (messages: readonly WireMessage[]): readonly unknown[] =>
  messages.map(({ method }) => method);

const open = new Set<() => Promise<void>>();
afterEach(async () => {
  await Promise.all([...open].map((close) => close()));
  open.clear();
});

/** A connection that has shaken hands. It is taken down after the test. */
export async function scripted({
  era = 'legacy',
  tools = [NOTE],
  onCall,
  capabilities = {},
  ...options
}: Script): Promise<Scripted> {
  const clock = testClock();
  const problems: string[] = [];
  const [clientEnd, front] = linkPair();
  const [back, serverEnd] = linkPair();
  const server = await scriptedServer(serverEnd, tools, onCall ?? (() => said('done')));
  const proxy = createProxy({
    clock,
    report: (problem) => void problems.push(problem),
    ...options,
    upstream: () => back,
  });
  await proxy.connect(front);
  open.add(() => proxy.close());
  const client = await scriptedClient(clientEnd, era, capabilities);
  return { client, server, clock, problems };
}

export async function scriptedServer(
  link: Link,
  tools: readonly JsonValue[],
  onCall: OnCall,
): Promise<ScriptedServer> {
  const calls: JsonObject[] = [];
  const got: WireMessage[] = [];
  const asked = new Map<RequestId, (message: WireMessage) => void>();
  const server: ScriptedServer = {
    ...{ calls, got, tools, onCall },
    send: (message) => void link.send({ message }),
    ask(id, method, params) {
      server.send(requestMessage(id, method, params));
      return new Promise((resolve) => void asked.set(id, resolve));
    },
    close: () => link.close(),
  };
  const answerTo = async (message: WireMessage): Promise<JsonObject | null> => {
    const { method } = message;
    if (method === 'initialize')
      return {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      };
    if (method === 'tools/list') return { tools: server.tools };
    if (method !== 'tools/call') return {};
    calls.push(paramsOf(message));
    return server.onCall(paramsOf(message), server);
  };
  await link.start({
    onFrame({ message }) {
      got.push(message);
      const id = message.id as RequestId; // Only looked at where there is one.
      if (kindOf(message) === 'response') return asked.get(id)?.(message);
      if (kindOf(message) !== 'request') return;
      void answerTo(message).then(
        (result) =>
          result !== null &&
          server.send(
            'code' in result ? { jsonrpc: '2.0', id, error: result } : resultMessage(id, result),
          ),
      );
    },
    onGarbage() {},
    onClose() {},
  });
  return server;
}

export async function scriptedClient(
  link: Link,
  era: Era,
  capabilities: JsonObject,
): Promise<ScriptedClient> {
  const got: WireMessage[] = [];
  const waiting = new Map<RequestId, (message: WireMessage) => void>();
  let count = 100;
  const client: ScriptedClient = {
    got,
    onQuestion: () => null,
    send: (message) => void link.send({ message }),
    request(method, params = {}, id = (count += 1)) {
      client.send(
        requestMessage(id, method, era === 'modern' ? modernParams(params, capabilities) : params),
      );
      return new Promise((resolve) => void waiting.set(id, resolve));
    },
    async call(name, args = {}, more = {}, id) {
      const message = await client.request('tools/call', { name, arguments: args, ...more }, id);
      return objectAt(message, 'error' in message ? 'error' : 'result');
    },
    async list() {
      const { tools } = objectAt(await client.request('tools/list'), 'result');
      return Array.isArray(tools) ? (tools as readonly JsonObject[]) : []; // Whatever is none fails the test.
    },
    close: () => link.close(),
  };
  await link.start({
    onFrame({ message }) {
      got.push(message);
      const id = message.id as RequestId; // Only looked at where there is one.
      if (kindOf(message) === 'response') return waiting.get(id)?.(message);
      const answer = kindOf(message) === 'request' ? client.onQuestion(message) : null;
      if (answer !== null) client.send(resultMessage(id, answer));
    },
    onGarbage() {},
    onClose() {},
  });
  if (era === 'modern') return client;
  const clientInfo = { name: 'scripted', version: '1' };
  await client.request('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
  client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await settle();
  return client;
}

function modernParams(params: JsonObject, capabilities: JsonObject): JsonObject {
  return {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name: 'scripted', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': capabilities,
      ...objectAt(params, '_meta'),
    },
  };
}
