/** The piece of configuration that somebody pastes into a client. */

import { match } from 'ts-pattern';
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
  /** The file of the stack, as a path that holds wherever the client starts the proxy. @default the proxy's own stack */
  readonly config?: string;
  readonly command?: string;
  /** @default [] */
  readonly args?: readonly string[];
  /** Instead of a command: where the server is reached. */
  readonly http?: string;
  /** Headers for it, each from a variable. The snippet has a place for each value and never a value. @default [] */
  readonly headers?: readonly HeaderVariable[];
}

export interface PrintedConfig {
  /** To paste: JSON, or TOML for Codex. Ends in a line break. */
  readonly snippet: string;
  /** Where the file is on each system, in one line. */
  readonly where: string;
}

/** The snippet for a client. It holds no secret: values of headers are left for the reader to fill in. */
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
