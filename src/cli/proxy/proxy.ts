/** `allium proxy`: a stack between an MCP client and an MCP server. */

import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import { collect, readPort, withLogOptions } from '../io/flags.ts';
import type { AddCommand, CliIo } from '../io/io.ts';
import type { ProxyFlags } from './proxy-parts.ts';

export const addProxy: AddCommand = (program, io, run) => {
  const command = program
    .command('proxy')
    .description('put the stack between an MCP client and an MCP server')
    .usage('[options] -- <command> [arguments...]')
    .argument('[command...]', 'starts the server')
    .option(
      '--config <file>',
      'the file of the stack, or the folder it is in (default: the one here; without any, receipts only)',
    )
    .option('--http <url>', 'the address of a server that runs already, instead of a command')
    .option(
      '--header-env <header=VARIABLE>',
      'a header for that server, with its value from a variable; can be repeated',
      collect,
    )
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
    .option(
      '--name <name>',
      'what the server is called in receipts and files (default: made from its words)',
    )
    .option(
      '--session <id>',
      'the session that calls belong to (default: made from name, state folder and server, the same at every start)',
    )
    .option(
      '--print-config <client>',
      'print what to paste into claude, cursor, vscode or codex, and start nothing',
    );
  withLogOptions(command)
    .addHelpText('after', EXAMPLES)
    .action((words: readonly string[], flags: ProxyFlags) => run(() => started(words, flags, io)));
  takeServerWords(command);
};

/** Whatever stands behind `--` is the server's own. */
const takeServerWords = (command: Command): void =>
  void command.passThroughOptions(false).allowExcessArguments(true);

/**
 * After a burst V8 may make the objects of calls among the old ones, which only a full collection
 * frees. Whether it does is chance, and lasts as long as the proxy: it cost a sixth of the
 * throughput. A runtime without V8 has no such flag, and needs none.
 */
function keepObjectsYoung(): void {
  try {
    setFlagsFromString('--no-allocation-site-pretenuring');
  } catch {
    // The proxy does the same without.
  }
}

async function started(words: readonly string[], flags: ProxyFlags, io: CliIo): Promise<number> {
  if (flags.printConfig !== undefined) {
    const { writeConfig } = await import('../wrap/print-config.ts');
    return writeConfig(flags.printConfig, words, flags, io);
  }
  keepObjectsYoung();
  const { serveHttp, serveStdio } = await import('../io/serve-clients.ts');
  const { proxyParts } = await import('./proxy-parts.ts');
  const parts = await proxyParts(words, flags, io);
  try {
    return await (flags.listen === undefined ? serveStdio(parts, io) : serveHttp(parts, flags, io));
  } finally {
    await parts.close();
  }
}

const EXAMPLES = `
Examples:
  allium proxy -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  allium proxy --config governed/allium.yaml -- node my-server.js
  allium proxy --http https://example.com/mcp --header-env Authorization=MY_TOKEN
  allium proxy --listen 0 -- node my-server.js
  allium proxy --print-config claude -- npx -y @modelcontextprotocol/server-filesystem ~/notes

The servers can also stand in the file, under "proxy: servers:"; several of them become one. A call that a person has to approve waits, and
people are told of it by "notify:" of the file; once it is approved, the client makes the same call again, also after a restart. Standard
output carries nothing but the protocol; everything else goes to standard error. Exit code: 0 when the client left, 1 when the server
did, 2 for a mistake, 130 or 143 when it was stopped.`;
