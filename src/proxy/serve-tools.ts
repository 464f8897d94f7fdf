/** `serveTools`: governed tools of this process as an MCP server. */

import type { Link } from './link.ts';
import {
  checkProxyOptions,
  connectionParts,
  type ProxyOptions,
  type ProxyStack,
} from './create-proxy.ts';
import { governedRelay } from './connection.ts';
import type { Relay } from './relay.ts';
import { type ServerInfo, toolServerLink } from './tool-server-link.ts';

export interface ServeOptions
  extends Omit<ProxyOptions, 'upstream' | 'stack' | 'onBadSchema' | 'trustAnnotations'> {
  /** The stack with its tools: a file that `loadConfig` has read, or anything that governs tools the same way. */
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

/** Clients reach nothing but the tools, and those through the stack alone. Prompts and resources are not served. */
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
