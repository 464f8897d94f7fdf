/** What `allium proxy` is put together from. */

import { createHash, randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { ProxyServer } from '../config/index.ts';
import { systemClock } from '../core/clock.ts';
import { isAlliumError } from '../core/errors.ts';
import type { ApprovalPrompt } from '../index.ts';
import { aggregateLinks } from '../proxy/aggregate/aggregate-links.ts';
import { CLIENTS, type HeaderVariable, printConfig, programWords } from '../proxy/client-config/index.ts';
import { createProxy, type Proxy } from '../proxy/create-proxy.ts';
import { httpServerLink } from '../proxy/http/http-server-link.ts';
import { listenHttp } from '../proxy/http/listen-http.ts';
import type { Link } from '../proxy/link.ts';
import { childLink, streamLink } from '../proxy/stdio-links.ts';
import { type CliIo, UsageError } from './io.ts';
import { userName } from './kept-source.ts';
import { type LoadedStack, stackFrom } from './proxy-stack.ts';
import { startedFrom } from './started-from.ts';
import { safeText } from './text-table.ts';

export interface ProxyFlags {
  readonly config?: string;
  readonly http?: string;
  readonly headerEnv: readonly string[];
  readonly listen?: number;
  readonly tokenEnv?: string;
  readonly prompt?: boolean;
  readonly name?: string;
  readonly session?: string;
  readonly printConfig?: string;
}

/** What clients are connected to. */
export interface Connector {
  readonly proxy: Pick<Proxy, 'connect'>;
  readonly report: (problem: string) => void;
}

export interface ProxyParts extends Connector {
  close(): Promise<void>;
}

export async function proxyParts(words: readonly string[], flags: ProxyFlags, io: CliIo): Promise<ProxyParts> {
  const report = (problem: string): void => void io.stderr.write(`allium: ${safeText(problem)}\n`);
  const loaded = await stackFrom(flags.config, io, report);
  const telemetry = await telemetryFrom(io, report);
  const terminal = await openPrompts(flags.prompt);
  const { servers, ...settings } = loaded.settings;
  const { toldApprovals } = await import('./told-approvals.ts');
  const { stack, stateDir, folder, notify } = loaded;
  const approvals = toldApprovals({ notify, stateDir, folder, env: io.env, report });
  const proxy = createProxy({
    ...settings,
    ...{ stack, report, prompts: terminal.prompts, approvals: approvals.store },
    upstream: upstreamFrom(words, flags, servers ?? {}, { folder, io, report }),
    session: { sessionId: sessionFor(words, flags, loaded) },
  });
  return {
    proxy,
    report,
    async close() {
      terminal.close();
      await proxy.close();
      await approvals.settled();
      await telemetry?.shutdown();
    },
  };
}

/**
 * The session of a proxy that nobody gave another one: the same at every start, so that an approval and an answer for always outlive the
 * client. Two servers never share one, or what was approved for the first would run on the second.
 */
function sessionFor(words: readonly string[], { name, session, http }: ProxyFlags, { stack, stateDir, settings }: LoadedStack): string {
  const { sessionId } = stack.session ?? {};
  if (session !== undefined) return session;
  if (name === undefined && sessionId !== undefined) return sessionId;
  const isFromFile = words.length === 0 && http === undefined;
  const called = name ?? (isFromFile ? 'proxy' : nameFor(words, http));
  // Without variables and headers: a new token is no new server.
  const ofFile = Object.entries(settings.servers ?? {}).map(([key, { command, args, cwd, url }]) => [key, command, args, cwd, url]);
  const facts = [called, sessionId, stateDir, ...(isFromFile ? ofFile : [http, ...words])];
  return `${called}-${createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 12)}`;
}

/** The channels besides the client: the terminal, where it is wanted. */
export async function openPrompts(isWanted = false): Promise<{ readonly prompts: readonly ApprovalPrompt[]; close(): void }> {
  if (!isWanted) return { prompts: [], close() {} };
  const { openTerminal } = await import('./controlling-terminal.ts');
  const { terminalPrompt } = await import('../../middleware/index.ts');
  // Standard input belongs to the protocol, so people are never asked there.
  const { input, output, close } = openTerminal('--prompt');
  return { prompts: [terminalPrompt({ input, output, decidedBy: `${userName()}@terminal` })], close };
}

/** Where a collector is named, what happens is sent to it. */
async function telemetryFrom({ env }: CliIo, report: (problem: string) => void): Promise<{ shutdown(): Promise<void> } | null> {
  if (env.OTEL_EXPORTER_OTLP_ENDPOINT === undefined && env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT === undefined) return null;
  try {
    const { startTelemetry } = await import('../otel/index.ts');
    return await startTelemetry({ serviceName: env.OTEL_SERVICE_NAME ?? 'allium-proxy' });
  } catch (thrown) {
    report(`no telemetry: ${isAlliumError(thrown) ? thrown.message : 'it could not be started'}`);
    return null;
  }
}

type Upstreams = Readonly<Record<string, ProxyServer>>;

/** What servers are opened with. */
export interface UpstreamParts {
  /** What paths of the file are relative to. */
  readonly folder: string;
  readonly io: CliIo;
  readonly report: (problem: string) => void;
  /** How long one of several servers is waited for before the others go on without it. @default 5000 */
  readonly slowMs?: number;
}

/** Opens the server that was named, or those of the file. Throws for what cannot be meant, before anything is started. */
export function upstreamFrom(
  [command, ...args]: readonly string[],
  { http, headerEnv, name }: Pick<ProxyFlags, 'http' | 'headerEnv' | 'name'>,
  servers: Upstreams,
  { folder, io, report, slowMs }: UpstreamParts,
): () => Link {
  const given = [command !== undefined, http !== undefined].filter(Boolean).length;
  if (given > 1) throw new UsageError('give a command behind --, or --http, not both');
  if (given === 0 && Object.keys(servers).length === 0)
    throw new UsageError('name the command that starts the server behind --, or its address with --http, or servers in the file');
  if (headerEnv.length > 0 && http === undefined) throw new UsageError('--header-env is for a server that is reached with --http');
  const open = (server: ProxyServer): Link => {
    const { command: program, args: words = [], env, cwd, url, headers = {} } = server;
    if (url !== undefined) return httpServerLink(url, { headers: () => headers });
    const place = cwd === undefined ? {} : { cwd: resolve(folder, cwd) };
    return childLink({ command: program ?? '', args: words, ...(env === undefined ? {} : { env }), ...place }, io.stderr);
  };
  const called = name ?? nameFor(command === undefined ? [] : [command, ...args], http);
  if (command !== undefined) return () => ({ ...open({ command, args }), name: called });
  if (http !== undefined) {
    demandAddress(http);
    const headers = headersFrom(headerEnv, io);
    return () => ({ ...open({ url: http, headers }), name: called });
  }
  const all = Object.entries(servers);
  const [only] = all;
  if (all.length === 1 && only !== undefined) return () => ({ ...open(only[1]), name: name ?? only[0] });
  return () =>
    aggregateLinks(
      all.map(([each, server]) => ({ name: each, prefix: server.prefix ?? each, open: () => open(server) })),
      { report, clock: systemClock, ...(slowMs === undefined ? {} : { slowMs }) },
    );
}

/** What is in the address is not repeated: it may hold a password. */
function demandAddress(http: string): void {
  if (!URL.canParse(http) || !/^https?:$/.test(new URL(http).protocol)) throw new UsageError('--http takes an http or https address');
}

/** A command line can be read by every user of the machine: it names variables, and never holds a value. */
export function headerVariables(pairs: readonly string[]): readonly HeaderVariable[] {
  return pairs.map((pair) => {
    const [, header, variable] = /^([!#$%&'*+.^_`|~\w-]+)=([A-Za-z_]\w*)$/.exec(pair) ?? [];
    if (header === undefined || variable === undefined) throw new UsageError('--header-env takes Header-Name=VARIABLE');
    return { header, variable };
  });
}

function headersFrom(pairs: readonly string[], { env }: CliIo): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headerVariables(pairs).map(({ header, variable }) => {
      const value = env[variable];
      if (value === undefined || value === '') throw new UsageError(`the variable ${variable} for the header ${header} is not set`);
      return [header, value];
    }),
  );
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
  { listen = 0, tokenEnv }: Pick<ProxyFlags, 'listen' | 'tokenEnv'>,
  io: CliIo,
): Promise<number> {
  const given = tokenEnv === undefined ? undefined : io.env[tokenEnv];
  if (tokenEnv !== undefined && (given === undefined || given.length < 16))
    throw new UsageError(`the variable ${safeText(tokenEnv)} must hold a token of at least 16 characters`);
  const token = given ?? randomBytes(24).toString('base64url');
  const listener = await listenHttp({
    port: listen,
    token,
    onClient: async (link) => {
      const connected = await proxy.connect(link);
      void connected.ended.then(({ by, why }) => by === 'server' && report(`a server is gone: ${why}`));
    },
  });
  io.stderr.write(`allium: listening on ${listener.url}\n`);
  // A token that was made here is of no use unless somebody is told; one that was given is not repeated.
  if (given === undefined) io.stderr.write(`allium: clients send "Authorization: Bearer ${token}"\n`);
  await new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    else io.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await listener.close();
  return 0;
}

/** The snippet goes to standard output, so that it can be piped; where it belongs goes beside it. */
export async function printedConfig(given: string, words: readonly string[], flags: ProxyFlags, io: CliIo): Promise<number> {
  const client = CLIENTS.find((each) => each === given);
  if (client === undefined) throw new UsageError(`--print-config takes one of ${CLIENTS.join(', ')}`);
  const [command, ...args] = words;
  const { http, name, config } = flags;
  if ((command === undefined) === (http === undefined))
    throw new UsageError('give the command that starts the server behind --, or --http');
  if (http !== undefined) demandAddress(http);
  const { snippet, where } = printConfig(client, {
    name: name ?? nameFor(words, http),
    program: programWords(startedFrom(io)),
    ...(config === undefined ? {} : { config: resolve(io.cwd, config) }),
    ...(command === undefined ? {} : { command, args }),
    ...(http === undefined ? {} : { http, headers: headerVariables(flags.headerEnv) }),
  });
  io.stdout.write(snippet);
  io.stderr.write(`allium: paste it into ${where}\n`);
  return 0;
}

/** What a person would call it: the last part of a package or program, or of an address. A word with `=` may hold a value that is secret. */
function nameFor(words: readonly string[], http: string | undefined): string {
  if (http !== undefined) return new URL(http).hostname;
  const word = words.find((each, index) => index > 0 && !each.startsWith('-') && !each.includes('=')) ?? words[0] ?? 'server';
  const parts = word.split(/[\\/]/).filter((part) => !/^(index\.[cm]?[jt]s|dist|build|src|bin|lib|)$/.test(part));
  const name = (parts.at(-1) ?? 'server').replace(/\.[cm]?[jt]s$/, '').replace(/^(mcp-)?server-/, '');
  return name === '' ? 'server' : name;
}
