/** `allium serve`: the tools of a file as an MCP server. */

import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import type { LoadedConfig } from '../config/index.ts';
import type { Turn } from '../index.ts';
import { ownVersion } from '../system/own-package.ts';
import { loggerFor } from './call-logger.ts';
import { type LogFlags, readPort, withLogOptions } from './io/flags.ts';
import { reporter } from './io/failure.ts';
import { type AddCommand, type CliIo } from './io/io.ts';

interface ServeFlags extends LogFlags {
  readonly config: string;
  readonly listen?: number;
  readonly tokenEnv?: string;
  readonly prompt?: boolean;
  readonly name: string;
}

export const addServe: AddCommand = (program, io, run) => {
  const command = program
    .command('serve')
    .description('offer the tools of a file, with its stack around them, as an MCP server')
    .option('--config <file>', 'the file, or the folder it is in', '.')
    .option(
      '--listen <port>',
      'serve clients over HTTP on this port of the loopback interface; 0 takes any',
      readPort,
    )
    .option(
      '--token-env <VARIABLE>',
      'the variable with the bearer token that clients must send (default: one is made and printed)',
    )
    .option('--prompt', 'ask on the terminal that this was started from, too')
    .option('--name <name>', 'how the server calls itself', 'allium');
  withLogOptions(command)
    .addHelpText('after', EXAMPLES)
    .action((flags: ServeFlags) => run(() => served(flags, io)));
};

const EXAMPLES = `
Examples:
  allium serve
  allium serve --config governed/allium.yaml --name shop
  allium serve --listen 0 --token-env SHOP_TOKEN -v

Standard output carries nothing but the protocol. Where a person has to be asked, the client shows a form, if it can; a person also decides
with "allium approvals", and is told of the call by "notify:" of the file. Exit code: 0 when the client left, 2 for a mistake, 130 or 143 when it was stopped.`;

async function served(flags: ServeFlags, io: CliIo): Promise<number> {
  const { serveTools } = await import('../mcp/proxy/serve-tools.ts');
  const { loadConfig } = await import('../config/index.ts');
  const { approvalNotices } = await import('./approvals/approval-notices.ts');
  const { openPrompts, serveHttp, serveStdio } = await import('./io/serve-clients.ts');
  const report = reporter(io);
  const stack = await loadConfig(flags.config, { cwd: io.cwd, env: io.env, stateDir: '.allium' });
  if (stack.tools.names.length === 0) report('the file names no tools: clients will see none');
  const terminal = await openPrompts(flags.prompt);
  const { stateDir, file, notify } = stack;
  const logger = loggerFor(io, flags);
  const approvals = approvalNotices({
    notify,
    stateDir,
    folder: dirname(file),
    env: io.env,
    report,
  });
  const proxy = serveTools({
    stack: { ...stack, govern: (overrides) => stack.govern({ logger, ...overrides }) },
    report,
    prompts: terminal.prompts,
    info: { name: flags.name, version: ownVersion() },
    approvals: approvals.store,
    session: sessionOf(flags, stack),
  });
  try {
    return await (flags.listen === undefined
      ? serveStdio({ proxy, report }, io)
      : serveHttp({ proxy, report }, flags, io));
  } finally {
    terminal.close();
    await proxy.close();
    await approvals.settled();
  }
}

/** The same at every start, so that what was approved outlives the client. */
function sessionOf({ name }: ServeFlags, { session, file }: LoadedConfig): Partial<Turn> {
  if (session.sessionId !== undefined) return {};
  return {
    sessionId: `${name}-${createHash('sha256')
      .update(JSON.stringify([name, file]))
      .digest('hex')
      .slice(0, 12)}`,
  };
}
