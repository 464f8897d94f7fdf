/** The piece of configuration that somebody pastes into a client. */

import { resolve } from 'node:path';
import { match } from 'ts-pattern';
import { findConfig } from '../../config/find-config.ts';
import { type CliIo, UsageError } from '../io/io.ts';
import { demandAddress, headerVariables, nameFor, type UpstreamFlags } from '../proxy/upstreams.ts';
import { programWords, startedFrom } from './program-words.ts';
import { commandWords, type HeaderVariable, httpWords } from './proxy-line.ts';
import { tomlKey, tomlQuote } from './toml-document.ts';

/** The clients whose configuration is known. */
export const CLIENTS = Object.freeze(['claude', 'cursor', 'vscode', 'codex'] as const);

export type Client = (typeof CLIENTS)[number];

/** The server behind the proxy: a command, or an address. */
export interface PrintOptions {
  /** What the client calls the server. */
  readonly name: string;
  /** What starts allium. */
  readonly program: readonly string[];
  /**
   * The file of the stack, as a path that holds wherever the client starts the proxy. @default the
   * proxy's own stack
   */
  readonly config?: string;
  readonly command?: string;
  /** @default [] */
  readonly args?: readonly string[];
  /** Instead of a command: where the server is reached. */
  readonly http?: string;
  /**
   * Headers for it, each from a variable. The snippet has a place for each value and never a value.
   * @default []
   */
  readonly headers?: readonly HeaderVariable[];
}

export interface PrintedConfig {
  /** To paste: JSON, or TOML for Codex. Ends in a line break. */
  readonly snippet: string;
  /** Where the file is on each system, in one line. */
  readonly where: string;
}

/**
 * The snippet for a client. It holds no secret: values of headers are left for the reader to fill
 * in.
 */
export function printConfig(client: Client, options: PrintOptions): PrintedConfig {
  const { name, headers = [] } = options;
  const [command = '', ...args] = wordsOf(options);
  const env = Object.fromEntries(
    headers.map(({ header, variable }) => [variable, `<the value of ${header}>`]),
  );
  const entry = { command, args, ...(headers.length === 0 ? {} : { env }) };
  const snippet = match(client)
    .with('claude', 'cursor', () => jsonOf('mcpServers', name, entry))
    .with('vscode', () => jsonOf('servers', name, { type: 'stdio', ...entry }))
    .with('codex', () => tomlOf(name, entry))
    .exhaustive();
  return { snippet, where: WHERE[client] };
}

function wordsOf({
  name,
  program,
  config,
  command,
  args = [],
  http,
  headers = [],
}: PrintOptions): readonly string[] {
  const options = { program, name, config: config ?? null };
  return http === undefined
    ? [...commandWords(options), command ?? '', ...args]
    : httpWords(options, http, headers);
}

/** A server may be called `__proto__`, which a literal would take for something else. */
const jsonOf = (key: string, name: string, entry: object): string =>
  `${JSON.stringify({ [key]: Object.fromEntries([[name, entry]]) }, null, 2)}\n`;

function tomlOf(
  name: string,
  {
    command,
    args,
    env = {},
  }: { command: string; args: readonly string[]; env?: Readonly<Record<string, string>> },
): string {
  const variables = Object.entries(env).map(
    ([key, value]) => `${tomlKey(key)} = ${tomlQuote(value)}`,
  );
  return [
    `[mcp_servers.${tomlKey(name)}]`,
    `command = ${tomlQuote(command)}`,
    `args = [${args.map(tomlQuote).join(', ')}]`,
    ...(variables.length === 0 ? [] : [`env = { ${variables.join(', ')} }`]),
    '',
  ].join('\n');
}

const WHERE: Readonly<Record<Client, string>> = {
  claude:
    'Claude Desktop: ~/Library/Application Support/Claude/claude_desktop_config.json (macOS), ~/.config/Claude/claude_desktop_config.json (Linux), ' +
    '%APPDATA%\\Claude\\claude_desktop_config.json (Windows). Claude Code: .mcp.json in the project, or .claude.json in the home folder (macOS, Linux, Windows).',
  cursor:
    '~/.cursor/mcp.json (macOS, Linux), %USERPROFILE%\\.cursor\\mcp.json (Windows), or .cursor/mcp.json in the project.',
  vscode:
    '.vscode/mcp.json in the project, or for all projects ~/Library/Application Support/Code/User/mcp.json (macOS), ~/.config/Code/User/mcp.json (Linux), ' +
    '%APPDATA%\\Code\\User\\mcp.json (Windows).',
  codex: '~/.codex/config.toml (macOS, Linux), %USERPROFILE%\\.codex\\config.toml (Windows).',
};

interface PrintFlags extends UpstreamFlags {
  readonly config?: string;
}

/**
 * The snippet goes to standard output, so that it can be piped; where it belongs goes beside it.
 */
export async function writeConfig(
  given: string,
  words: readonly string[],
  flags: PrintFlags,
  io: CliIo,
): Promise<number> {
  const client = CLIENTS.find((each) => each === given);
  if (client === undefined)
    throw new UsageError(`--print-config takes one of ${CLIENTS.join(', ')}`);
  const [command, ...args] = words;
  const { http, name, config } = flags;
  if ((command === undefined) === (http === undefined))
    throw new UsageError('give the command that starts the server behind --, or --http');
  if (http !== undefined) demandAddress(http);
  // Checked now: a terminal shows more of a proxy that cannot start than a client does.
  if (config !== undefined) findConfig(config, io.cwd);
  const { snippet, where } = printConfig(client, {
    name: name ?? nameFor(words, http),
    program: programWords(startedFrom(io)),
    ...(config === undefined ? {} : { config: resolve(io.cwd, config) }),
    ...(command === undefined ? {} : { command, args }),
    ...(http === undefined ? {} : { http, headers: headerVariables(flags.headerEnv ?? []) }),
  });
  io.stdout.write(snippet);
  io.stderr.write(`allium: paste it into ${where}\n`);
  return 0;
}
