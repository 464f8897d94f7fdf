/** `allium explain`: what a stack is and what it does to the tools. */

import { dirname } from 'node:path';
import type { LoadedConfig } from '../config/index.ts';
import type { Tool } from '../index.ts';
import { collect } from './io/flags.ts';
import { type AddCommand, type CliIo, UsageError, writeLine } from './io/io.ts';
import { safeText } from './io/text-table.ts';
import type { UpstreamFlags } from './proxy/upstreams.ts';

interface ExplainFlags extends UpstreamFlags {
  readonly config: string;
  readonly tool?: string;
  readonly json?: boolean;
  readonly servers: boolean;
  readonly timeout: number;
}

/** Draws the stack of a file, or prints it as JSON. */
export const addExplain: AddCommand = (program, io, run) => {
  program
    .command('explain')
    .description(
      'draw the stack: its layers, advice about their order, and what becomes of each tool',
    )
    .usage('[options] [-- <command> [arguments...]]')
    .argument(
      '[command...]',
      'starts an MCP server, whose tools are explained as "allium proxy" would serve them',
    )
    .option('--config <file>', 'the file, or the folder it is in', '.')
    .option('--tool <name>', 'only this tool')
    .option('--http <url>', 'the address of an MCP server that runs already, instead of a command')
    .option(
      '--header-env <header=VARIABLE>',
      'a header for that server, with its value from a variable; can be repeated',
      collect,
    )
    .option('--name <name>', 'what that server is called (default: made from its words)')
    .option('--no-servers', 'do not start the servers under "proxy: servers:" of the file')
    .option('--timeout <seconds>', 'how long servers may take to list their tools', readSeconds, 30)
    .option('--json', 'the same as JSON, with the schema of each tool as the model is shown it')
    .addHelpText('after', EXAMPLES)
    .action((words: readonly string[], flags: ExplainFlags) =>
      run(() => explained(words, flags, io)),
    )
    .passThroughOptions(false)
    .allowExcessArguments(true);
};

function readSeconds(text: string): number {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (seconds < 1)
    throw new UsageError('--timeout takes a whole number of seconds, from 1 to 9999');
  return seconds;
}

const EXAMPLES = `
Examples:
  allium explain
  allium explain --tool write_note
  allium explain --config agent/allium.yaml --json
  allium explain -- npx -y @modelcontextprotocol/server-filesystem ~/notes

Of each tool it says whether calls are allowed, a person is asked, or they are refused, by which rule, and what may decide otherwise once the
arguments are known. The servers of the file, or the one named here, are started, asked for their tools and ended again; nothing is called.
Exit code: 0 fine, 1 a server could not be asked, 2 when the command or the file is wrong, 130 when it was stopped.`;

async function explained(
  words: readonly string[],
  flags: ExplainFlags,
  io: CliIo,
): Promise<number> {
  const { loadConfig } = await import('../config/index.ts');
  const config = await loadConfig(flags.config, { cwd: io.cwd, env: io.env });
  try {
    const problems: string[] = [];
    const report = (problem: string): void => {
      problems.push(problem);
      io.stderr.write(`allium: ${safeText(problem)}\n`);
    };
    const upstream = await upstreamTools(words, flags, config, io, report);
    if (io.signal.aborted) return 130;
    const { tool } = flags;
    const described = () => ({
      ...config.describe(tool, upstream ?? []),
      ...(problems.length === 0 ? {} : { problems }),
    });
    await writeLine(
      io.stdout,
      flags.json === true
        ? asciiOf(JSON.stringify(described(), null, 2))
        : config.explain(tool, upstream ?? []),
    );
    return upstream === null || problems.length > 0 ? 1 : 0;
  } finally {
    await config.close();
  }
}

/** No tools where there is no server; `null` where there is one and it could not be asked. */
async function upstreamTools(
  words: readonly string[],
  flags: ExplainFlags,
  { proxy, file }: LoadedConfig,
  io: CliIo,
  report: (problem: string) => void,
): Promise<readonly Tool[] | null> {
  const { servers = {}, onBadSchema, trustAnnotations } = proxy;
  const isNamed = words.length > 0 || flags.http !== undefined;
  const isOfFile = flags.servers && Object.keys(servers).length > 0;
  if (!isNamed && !isOfFile) {
    if (flags.headerEnv !== undefined)
      throw new UsageError('--header-env is for a server that is reached with --http');
    return [];
  }
  const { readUpstream, upstreamFrom } = await import('./proxy/upstreams.ts');
  const timeoutMs = flags.timeout * 1000;
  const open = await upstreamFrom(words, flags, servers, {
    folder: dirname(file),
    io,
    report,
    slowMs: timeoutMs,
  });
  return readUpstream(open(), {
    ...(onBadSchema === undefined ? {} : { onBadSchema }),
    ...(trustAnnotations === undefined ? {} : { trustAnnotations }),
    signal: io.signal,
    timeoutMs,
    graceMs: GRACE_MS,
    report,
  });
}

/**
 * Several servers are given up one by one when their time is over, and then the others are listed.
 */
const GRACE_MS = 1000;

/** What a server says of itself must not act upon a terminal. */
const asciiOf = (json: string): string =>
  json.replace(
    /[^\n\u0020-\u007e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
