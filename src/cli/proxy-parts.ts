/** What `allium proxy` is put together from. */

import { createHash, randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { findConfig } from '../config/find-config.ts';
import { isAlliumError } from '../core/errors.ts';
import type { ApprovalPrompt } from '../index.ts';
import { CLIENTS, printConfig, programWords } from '../proxy/client-config/index.ts';
import { createProxy, type Proxy } from '../proxy/create-proxy.ts';
import { listenHttp } from '../proxy/http/listen-http.ts';
import { streamLink } from '../proxy/stdio-links.ts';
import { type CliIo, UsageError } from './io.ts';
import { userName } from './kept-source.ts';
import { type LoadedStack, stackFrom } from './proxy-stack.ts';
import { startedFrom } from './started-from.ts';
import { safeText } from './text-table.ts';
import {
  demandAddress,
  headerVariables,
  nameFor,
  type UpstreamFlags,
  upstreamFrom,
} from './upstreams.ts';

export interface ProxyFlags extends UpstreamFlags {
  readonly config?: string;
  readonly listen?: number;
  readonly tokenEnv?: string;
  readonly prompt?: boolean;
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

export async function proxyParts(
  words: readonly string[],
  flags: ProxyFlags,
  io: CliIo,
): Promise<ProxyParts> {
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
function sessionFor(
  words: readonly string[],
  { name, session, http }: ProxyFlags,
  { stack, stateDir, settings }: LoadedStack,
): string {
  const { sessionId } = stack.session ?? {};
  if (session !== undefined) return session;
  if (name === undefined && sessionId !== undefined) return sessionId;
  const isFromFile = words.length === 0 && http === undefined;
  const called = name ?? (isFromFile ? 'proxy' : nameFor(words, http));
  // Without variables and headers: a new token is no new server.
  const ofFile = Object.entries(settings.servers ?? {}).map(
    ([key, { command, args, cwd, url }]) => [key, command, args, cwd, url],
  );
  const facts = [called, sessionId, stateDir, ...(isFromFile ? ofFile : [http, ...words])];
  return `${called}-${createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 12)}`;
}

/** The channels besides the client: the terminal, where it is wanted. */
export async function openPrompts(
  isWanted = false,
): Promise<{ readonly prompts: readonly ApprovalPrompt[]; close(): void }> {
  if (!isWanted) return { prompts: [], close() {} };
  const { openTerminal } = await import('./controlling-terminal.ts');
  const { terminalPrompt } = await import('../../middleware/index.ts');
  // Standard input belongs to the protocol, so people are never asked there.
  const { input, output, close } = openTerminal('--prompt');
  return {
    prompts: [terminalPrompt({ input, output, decidedBy: `${userName()}@terminal` })],
    close,
  };
}

/** Where a collector is named, what happens is sent to it. */
async function telemetryFrom(
  { env }: CliIo,
  report: (problem: string) => void,
): Promise<{ shutdown(): Promise<void> } | null> {
  if (
    env.OTEL_EXPORTER_OTLP_ENDPOINT === undefined &&
    env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT === undefined
  )
    return null;
  try {
    const { startTelemetry } = await import('../otel/index.ts');
    return await startTelemetry({ serviceName: env.OTEL_SERVICE_NAME ?? 'allium-proxy' });
  } catch (thrown) {
    report(`no telemetry: ${isAlliumError(thrown) ? thrown.message : 'it could not be started'}`);
    return null;
  }
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
    throw new UsageError(
      `the variable ${safeText(tokenEnv)} must hold a token of at least 16 characters`,
    );
  const token = given ?? randomBytes(24).toString('base64url');
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
  // A token that was made here is of no use unless somebody is told; one that was given is not repeated.
  if (given === undefined)
    io.stderr.write(`allium: clients send "Authorization: Bearer ${token}"\n`);
  await new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    else io.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await listener.close();
  return 0;
}

/** The snippet goes to standard output, so that it can be piped; where it belongs goes beside it. */
export async function printedConfig(
  given: string,
  words: readonly string[],
  flags: ProxyFlags,
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
  // A client shows less of a proxy that does not start than a terminal does.
  if (config !== undefined) findConfig(config, io.cwd);
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
