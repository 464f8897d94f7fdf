/** `allium proxy`: a stack between an MCP client and an MCP server. */

import { join } from 'node:path';
import type { Link } from '../proxy/link.ts';
import type { ProxyStack } from '../proxy/create-proxy.ts';
import { shellWord } from './approvals-source.ts';
import { type CliIo, UsageError } from './io.ts';
import type { AddCommand } from './run-cli.ts';
import { safeText } from './text-table.ts';

interface ProxyFlags {
  readonly config?: string;
}

export const addProxy: AddCommand = (program, io, run) => {
  program
    .command('proxy')
    .description('put the stack between an MCP client and an MCP server')
    .usage('[options] -- <command> [arguments...]')
    .argument('[command...]', 'starts the server')
    .option('--config <file>', 'the file, or the folder it is in')
    .action((command: readonly string[], flags: ProxyFlags) => run(() => proxied(command, flags, io)));
};

async function proxied(command: readonly string[], flags: ProxyFlags, io: CliIo): Promise<number> {
  const [program, ...args] = command;
  if (program === undefined) throw new UsageError('name the command that starts the server, behind --');
  const { createProxy } = await import('../proxy/create-proxy.ts');
  const { childLink, streamLink } = await import('../proxy/stdio-links.ts');
  const { stack, stateDir, approvals } = await stackFrom(flags, io);
  const report = (problem: string): void => void io.stderr.write(`allium: ${safeText(problem)}\n`);
  const dir = join(stateDir, 'approvals');
  const proxy = createProxy({
    stack,
    approvals,
    report,
    upstream: (): Link => childLink({ command: program, args }, io.stderr),
    howToApprove: (id) =>
      `Approve it with: allium approvals approve ${shellWord(id)} --dir ${shellWord(dir)} — then make the same call again.`,
  });
  const connected = await proxy.connect(streamLink(io.stdin, io.stdout));
  io.signal.addEventListener('abort', () => void connected.close(), { once: true });
  const { by, why } = await connected.ended;
  await proxy.close();
  if (by === 'server') report(`the server is gone: ${why}`);
  return by === 'server' ? 1 : 0;
}

async function stackFrom({ config }: ProxyFlags, io: CliIo) {
  const { loadConfig } = await import('../config/index.ts');
  const { fileApprovals } = await import('../policy/index.ts');
  const loaded = await loadConfig(config ?? '.', { cwd: io.cwd, env: io.env });
  const stack: ProxyStack = loaded;
  return { stack, stateDir: loaded.stateDir, approvals: fileApprovals({ dir: join(loaded.stateDir, 'approvals') }) };
}
