/** MCP servers that a file names. Their code is loaded only where there is one. */

import { resolve } from 'node:path';
import { defaultLogger } from '../dispatch/logger.ts';
import type { McpServer } from '../executors/mcp/mcp-executor.ts';
import type { McpTarget } from '../executors/mcp/target.ts';

/** What a file says about a server, after the schema has seen it. */
export interface ServerEntry {
  readonly name?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Connects. What a program writes to standard error goes to ours: it says why it does not start. */
export async function openServer(
  entry: ServerEntry,
  folder: string,
  prefix?: string,
): Promise<McpServer> {
  const { mcpExecutor } = await import('../executors/mcp/mcp-executor.ts');
  const named = { ...entry, name: entry.name ?? prefix ?? 'mcp' };
  // A program runs where the file is, whoever loads it from where.
  const target = 'command' in named ? { ...named, cwd: resolve(folder, entry.cwd ?? '.') } : named;
  // Which members go together is looked at there.
  return mcpExecutor(target as McpTarget, { stderr: process.stderr, logger: defaultLogger() });
}
