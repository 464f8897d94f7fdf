/** Servers that do what a test says, a client that keeps what it got, and streams between them. */

import { PassThrough } from 'node:stream';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { Clock } from '../../core/time/clock.ts';
import { isObject } from '../../core/json/json.ts';
import type { Frame, Link } from '../proxy/link.ts';
import { streamLink } from '../stdio/stdio-links.ts';
import {
  idKey,
  isRequestId,
  kindOf,
  methodOf,
  paramsOf,
  type RequestId,
  resultMessage,
  type WireMessage,
} from '../wire.ts';
import { aggregateLinks, type UpstreamSpec } from './aggregate-links.ts';

/** Two links that are each other's other side, with bytes between them. */
export function pipePair(): readonly [Link, Link] {
  const [there, back] = [new PassThrough(), new PassThrough()];
  return [streamLink(back, there), streamLink(there, back)];
}

/** A result, an error (`{ code, message }` under `error`), or `null` for no answer at all. */
export type Reply = JsonObject | null;
export type Script = Readonly<
  Record<string, (params: JsonObject, message: WireMessage) => Reply | Promise<Reply>>
>;

export interface ScriptedServer extends UpstreamSpec {
  /** Everything it was sent, over all of its connections. */
  readonly received: readonly WireMessage[];
  opened(): number;
  say(message: JsonObject): void;
  /** Says a line as it is. */
  sayText(line: string): void;
  /** Ends the connection. */
  die(): void;
}

/** Answers by script, with what every server must answer where the script is silent. */
export function scripted(
  name: string,
  script: Script,
  more: Partial<UpstreamSpec> = {},
): ScriptedServer {
  const received: WireMessage[] = [];
  let opened = 0;
  let link: Link | null = null;
  const answer = async (message: WireMessage): Promise<void> => {
    const to = link;
    const reply = (await script[methodOf(message)]?.(paramsOf(message), message)) ?? null;
    // Only requests are answered, and those have an id.
    const id = message.id as RequestId;
    if (reply !== null)
      to?.send({
        message: isObject(reply.error)
          ? { jsonrpc: '2.0', id, error: reply.error }
          : resultMessage(id, reply),
      });
  };
  return {
    name,
    ...more,
    received,
    opened: () => opened,
    say: (message) => void link?.send({ message: { jsonrpc: '2.0', ...message } }),
    sayText: (line) => void link?.sendChunk?.(Buffer.from(line)),
    die: () => void link?.close(),
    open() {
      opened += 1;
      const [near, far] = pipePair();
      link = far;
      void far.start({
        onFrame({ message }) {
          received.push(message);
          if (kindOf(message) === 'request') void answer(message);
        },
        onGarbage() {},
        onClose() {},
      });
      return near;
    },
  };
}

const echo = (params: JsonObject): JsonObject => ({
  content: [{ type: 'text', text: JSON.stringify(params) }],
});

export const initialized = (capabilities: JsonObject = { tools: {} }, more: JsonObject = {}) => ({
  protocolVersion: '2025-11-25',
  capabilities,
  serverInfo: { name: 'scripted', version: '1' },
  ...more,
});

/** A legacy server with these tools, whose calls answer with their own params. */
export const toolServer = (
  name: string,
  tools: readonly string[],
  script: Script = {},
  more: Partial<UpstreamSpec> = {},
): ScriptedServer =>
  scripted(
    name,
    {
      initialize: () => initialized(),
      'tools/list': () => ({
        tools: tools.map((tool) => ({ name: tool, inputSchema: { type: 'object' } })),
      }),
      'tools/call': echo,
      ...script,
    },
    more,
  );

export const MODERN = '2026-07-28';
export const envelope = (more: JsonObject = {}): JsonObject => ({
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
  ...more,
});

export const discovered = (
  capabilities: JsonObject = { tools: { listChanged: true } },
  more: JsonObject = {},
): JsonObject => ({
  resultType: 'complete',
  supportedVersions: [MODERN],
  capabilities,
  ttlMs: 0,
  cacheScope: 'public',
  ...more,
});

export interface TestClient {
  readonly link: Link;
  /** Everything the client was sent, in order. */
  readonly frames: readonly Frame[];
  readonly reports: readonly string[];
  request(method: string, params?: JsonObject, id?: RequestId): Promise<WireMessage>;
  tell(method: string, params?: JsonObject): void;
  send(message: JsonObject): void;
  /** What it was sent under this method. */
  told(method: string): readonly WireMessage[];
  answersTo(id: RequestId): readonly WireMessage[];
  initialize(capabilities?: JsonObject): Promise<WireMessage>;
}

export interface ClientOptions {
  readonly clock?: Clock;
  readonly slowMs?: number;
  /** Another way to make one server of several, to see it caught. */
  readonly make?: (upstreams: readonly UpstreamSpec[]) => Link;
}

/** A client in this process, before servers behind streams. */
export async function clientOf(
  upstreams: readonly UpstreamSpec[],
  { make, ...options }: ClientOptions = {},
): Promise<TestClient> {
  const frames: Frame[] = [];
  const reports: string[] = [];
  const waiting = new Map<string, (message: WireMessage) => void>();
  let lastId = 0;
  const link =
    make?.(upstreams) ??
    aggregateLinks(upstreams, {
      ...options,
      version: 'test',
      report: (problem) => void reports.push(problem),
    });
  const send = (message: JsonObject): void => {
    link.send({ message: { jsonrpc: '2.0', ...message } });
  };
  await link.start({
    onFrame(frame) {
      frames.push(frame);
      const { id } = frame.message;
      if (kindOf(frame.message) === 'response' && isRequestId(id))
        waiting.get(idKey(id))?.(frame.message);
    },
    onGarbage() {},
    onClose() {},
  });
  const client: TestClient = {
    link,
    frames,
    reports,
    send,
    request(method, params = {}, id = (lastId += 1)) {
      const answered = new Promise<WireMessage>((resolve) => waiting.set(idKey(id), resolve));
      send({ id, method, params });
      return answered;
    },
    tell: (method, params = {}) => send({ method, params }),
    told: (method) => frames.flatMap(({ message }) => (message.method === method ? [message] : [])),
    answersTo: (id) =>
      frames.flatMap(({ message }) =>
        kindOf(message) === 'response' && message.id === id ? [message] : [],
      ),
    async initialize(capabilities = {}) {
      const clientInfo = { name: 'test', version: '1' };
      const answer = await client.request('initialize', {
        protocolVersion: '2025-11-25',
        capabilities,
        clientInfo,
      });
      client.tell('notifications/initialized');
      return answer;
    },
  };
  return client;
}

/** The names in the list of a result. */
export const namesIn = ({ result }: WireMessage, member = 'tools'): readonly unknown[] => {
  const list = isObject(result) ? result[member] : undefined;
  return Array.isArray(list)
    ? (list as readonly JsonObject[]).map((item) => item.name ?? item.uri ?? item.uriTemplate)
    : [];
};

export const textIn = ({ result }: WireMessage): string => {
  const content = isObject(result) ? result.content : undefined;
  const [first] = Array.isArray(content) ? (content as readonly JsonObject[]) : [];
  return typeof first?.text === 'string' ? first.text : '';
};

export const errorIn = ({
  error,
}: WireMessage): {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly data?: unknown;
} => (isObject(error) ? error : {});
