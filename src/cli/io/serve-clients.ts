/** Serves MCP clients: one on the standard streams, or any number over HTTP. */

import { randomBytes } from 'node:crypto';
import type { ApprovalPrompt } from '../../index.ts';
import type { Proxy } from '../../mcp/proxy/create-proxy.ts';
import { streamLink } from '../../mcp/stdio/stdio-links.ts';
import { userName } from '../approvals/kept-source.ts';
import { type CliIo, UsageError } from './io.ts';
import { safeText } from './text-table.ts';

/** What clients are connected to. */
export interface Connector {
  readonly proxy: Pick<Proxy, 'connect'>;
  readonly report: (problem: string) => void;
}

/** How clients are listened for, as it is typed. */
export interface ListenFlags {
  readonly listen?: number;
  readonly tokenEnv?: string;
}

/** One client, on the standard streams. */
export async function serveStdio({ proxy, report }: Connector, io: CliIo): Promise<number> {
  const connected = await proxy.connect(streamLink(io.stdin, io.stdout));
  io.signal.addEventListener('abort', () => void connected.close(), { once: true });
  if (io.signal.aborted) await connected.close();
  const { by, why } = await connected.ended;
  if (by === 'server') report(`the server is gone: ${why}`);
  return by === 'server' ? 1 : 0;
}

/** Any number of clients, until somebody stops it. */
export async function serveHttp(
  { proxy, report }: Connector,
  { listen = 0, tokenEnv }: ListenFlags,
  io: CliIo,
): Promise<number> {
  const given = tokenEnv === undefined ? undefined : io.env[tokenEnv];
  if (tokenEnv !== undefined && (given === undefined || given.length < 16))
    throw new UsageError(
      `the variable ${safeText(tokenEnv)} must hold a token of at least 16 characters`,
    );
  const token = given ?? randomBytes(24).toString('base64url');
  const { listenHttp } = await import('../../mcp/http/listen-http.ts');
  const listener = await listenHttp({
    port: listen,
    token,
    onClient: async (link) => {
      const connected = await proxy.connect(link);
      void connected.ended.then(
        ({ by, why }) => by === 'server' && report(`a server is gone: ${why}`),
      );
    },
  });
  io.stderr.write(`allium: listening on ${listener.url}\n`);
  // A token that was made here is of no use unless somebody is told; one that was given is not
  // repeated.
  if (given === undefined)
    io.stderr.write(`allium: clients send "Authorization: Bearer ${token}"\n`);
  await new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    else io.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await listener.close();
  return 0;
}

/** The channels besides the client: the terminal, where it is wanted. */
export async function openPrompts(
  isWanted = false,
): Promise<{ readonly prompts: readonly ApprovalPrompt[]; close(): void }> {
  if (!isWanted) return { prompts: [], close() {} };
  const { openTerminal } = await import('./controlling-terminal.ts');
  const { terminalPrompt } = await import('../../../middleware/index.ts');
  // Standard input belongs to the protocol, so people are never asked there.
  const { input, output, close } = openTerminal('--prompt');
  return {
    prompts: [terminalPrompt({ input, output, decidedBy: `${userName()}@terminal` })],
    close,
  };
}
