/** `serveTools`: governed tools of this process as an MCP server. */

import { type Frame, type Link, linkPair } from './link.ts';
import {
  checkProxyOptions,
  connectionParts,
  type ProxyOptions,
  type ProxyStack,
} from './create-proxy.ts';
import { governedRelay } from './connection.ts';
import type { Relay } from './relay.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import {
  CODES,
  errorMessage,
  isRequestId,
  kindOf,
  METHODS,
  modernVersionOf,
  paramsOf,
  resultMessage,
  type WireMessage,
} from '../wire.ts';

export interface ServeOptions
  extends Omit<ProxyOptions, 'upstream' | 'stack' | 'onBadSchema' | 'trustAnnotations'> {
  /**
   * The stack with its tools: a file that `loadConfig` has read, or anything that governs tools the
   * same way.
   */
  readonly stack: ProxyStack;
  /** How the server calls itself. @default `allium`, with the version `0` */
  readonly info?: ServerInfo;
}

export interface ToolServer {
  /** Serves one client. Resolves when it is connected. */
  connect(client: Link): Promise<Relay>;
  /** Ends every connection and closes the stack. */
  close(): Promise<void>;
}

/**
 * Clients reach nothing but the tools, and those through the stack alone. Prompts and resources are
 * not served.
 */
export function serveTools(options: ServeOptions): ToolServer {
  checkProxyOptions('serveTools', { ...options, upstream: toolServerLink });
  const { info = { name: 'allium', version: '0' }, stack } = options;
  const parts = connectionParts({ ...options, upstream: () => toolServerLink(info) }, stack);
  const open = new Set<Relay>();
  return Object.freeze<ToolServer>({
    async connect(client) {
      const connected = await governedRelay(client, toolServerLink(info), {
        ...parts,
        // The tools and how they run are the stack's own.
        govern: ({ prompts = [] }) => parts.govern({ prompts }),
        hasOwnTools: true,
      });
      open.add(connected);
      void connected.ended.then(() => open.delete(connected));
      return connected;
    },
    async close() {
      await Promise.all([...open].map((each) => each.close()));
      await stack.close();
    },
  });
}

/** How the server calls itself. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  /** For the model: what the tools are for. */
  readonly instructions?: string;
}

/** Revisions with a greeting, newest first, and those in which every request speaks for itself. */
const GREETED = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const MODERN = ['2026-07-28'];

const CAPABILITIES = { tools: {} };
const UNSUPPORTED_VERSION = -32_022;

/** Calls of tools never arrive here: the stack in front of it has the tools. */
export function toolServerLink(info: ServerInfo): Link {
  const [front, back] = linkPair();
  void back.start({
    onFrame({ message }: Frame) {
      if (kindOf(message) !== 'request' || !isRequestId(message.id)) return;
      back.send({ message: answerTo(message, info) });
    },
    onGarbage() {},
    onClose() {},
  });
  return front;
}

function answerTo(message: WireMessage, info: ServerInfo): WireMessage {
  const id = message.id as string | number; // It is a request.
  const modern = modernVersionOf(message);
  if (modern !== null && !MODERN.includes(modern)) {
    const error = {
      code: UNSUPPORTED_VERSION,
      message: 'this revision is not spoken here',
      data: { supported: [...MODERN, ...GREETED], requested: modern },
    };
    return { jsonrpc: '2.0', id, error };
  }
  const result = modern === null ? greetedResult(message, info) : modernResult(message, info);
  return result === null
    ? errorMessage(id, CODES.noMethod, 'Method not found')
    : resultMessage(id, result);
}

function greetedResult(
  message: WireMessage,
  { instructions, ...serverInfo }: ServerInfo,
): JsonObject | null {
  const { method } = message;
  if (method === METHODS.ping) return {};
  if (method === METHODS.listTools) return { tools: [] };
  if (method !== METHODS.initialize) return null;
  const { protocolVersion } = paramsOf(message);
  const [newest = ''] = GREETED;
  return {
    protocolVersion: GREETED.find((known) => known === protocolVersion) ?? newest,
    capabilities: CAPABILITIES,
    serverInfo: { ...serverInfo },
    ...(instructions === undefined ? {} : { instructions }),
  };
}

function modernResult(
  { method }: WireMessage,
  { instructions, ...serverInfo }: ServerInfo,
): JsonObject | null {
  const complete = {
    resultType: 'complete',
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { 'io.modelcontextprotocol/serverInfo': { ...serverInfo } },
  };
  if (method === METHODS.listTools) return { ...complete, tools: [] };
  if (method !== METHODS.discover) return null;
  return {
    ...complete,
    supportedVersions: MODERN,
    capabilities: CAPABILITIES,
    ...(instructions === undefined ? {} : { instructions }),
  };
}
