/** What `allium proxy` is put together from. */

import { createHash } from 'node:crypto';
import { dirname, isAbsolute, join } from 'node:path';
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { hasConfig } from '../../config/find-config.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { createProxy, type ProxyStack } from '../../mcp/proxy/create-proxy.ts';
import { loggerFor } from '../call-logger.ts';
import { reporter } from '../io/failure.ts';
import type { LogFlags } from '../io/flags.ts';
import { type CliIo, UsageError } from '../io/io.ts';
import { type Connector, type ListenFlags, openPrompts } from '../io/serve-clients.ts';
import { nameFor, type UpstreamFlags, upstreamFrom } from './upstreams.ts';
import type { LoadedConfig, NotifySettings } from '../../config/index.ts';
import { inStateFolder, stateFolder } from '../../system/state-folder.ts';

/** The options of `allium proxy`, as they are typed. */
export interface ProxyFlags extends UpstreamFlags, ListenFlags, LogFlags {
  readonly config?: string;
  readonly prompt?: boolean;
  readonly session?: string;
  readonly printConfig?: string;
}

/** A proxy that is ready for its clients. */
export interface ProxyParts extends Connector {
  close(): Promise<void>;
}

/**
 * Opens everything that the file and the flags ask for: stack, telemetry, prompts, approvals,
 * servers.
 */
export async function proxyParts(
  words: readonly string[],
  flags: ProxyFlags,
  io: CliIo,
): Promise<ProxyParts> {
  const report = reporter(io);
  const loaded = await stackFrom(flags.config, io, report);
  const telemetry = await telemetryFrom(io, report);
  const terminal = await openPrompts(flags.prompt);
  const { servers, ...settings } = loaded.settings;
  const { approvalNotices } = await import('../approvals/approval-notices.ts');
  const { stack, stateDir, folder, notify } = loaded;
  const approvals = approvalNotices({ notify, stateDir, folder, env: io.env, report });
  const upstream = await upstreamFrom(words, flags, servers ?? {}, { folder, io, report });
  const logger = loggerFor(io, flags);
  const proxy = createProxy({
    ...settings,
    stack: { ...stack, govern: (overrides) => stack.govern({ logger, ...overrides }) },
    report,
    prompts: terminal.prompts,
    approvals: approvals.store,
    upstream,
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
 * The session of a proxy that nobody gave another one: the same at every start, so that an approval
 * and an answer for always outlive the client. Two servers never share one, or what was approved
 * for the first would run on the second.
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
    const { startTelemetry } = await import('../../telemetry/otel/index.ts');
    return await startTelemetry({ serviceName: env.OTEL_SERVICE_NAME ?? 'allium-proxy' });
  } catch (thrown) {
    report(`no telemetry: ${isAlliumError(thrown) ? thrown.message : 'it could not be started'}`);
    return null;
  }
}

interface LoadedStack {
  readonly stack: ProxyStack;
  readonly stateDir: string;
  /** What paths in the settings are relative to. */
  readonly folder: string;
  readonly settings: LoadedConfig['proxy'];
  readonly notify: NotifySettings | undefined;
}

/** The file; or, where none was named and none is there, receipts of every call. */
async function stackFrom(
  config: string | undefined,
  io: CliIo,
  report: (problem: string) => void,
): Promise<LoadedStack> {
  if (config !== undefined || hasConfig(io.cwd)) {
    const { loadConfig } = await import('../../config/index.ts');
    // Clients start a proxy wherever they like; whoever looks for its receipts looks beside the
    // file.
    const loaded = await loadConfig(config ?? '.', {
      cwd: io.cwd,
      env: io.env,
      stateDir: '.allium',
    });
    const { stateDir, file, proxy: settings, notify } = loaded;
    return { stack: loaded, stateDir, folder: dirname(file), settings, notify };
  }
  const stateDir = placeForState(io);
  report(
    `no allium.yaml here: calls are recorded in ${stateDir}, and nothing else is done with them`,
  );
  const { auditLog } = await import('../../../middleware/audit-log/audit-log.ts');
  const { governTools } = await import('../../index.ts');
  const log = inStateFolder(stateDir, () => auditLog('local'));
  const stack: ProxyStack = {
    layers: [log],
    govern: (overrides) =>
      inStateFolder(stateDir, () => governTools({ tools: [], layers: [log], ...overrides })),
    close: async () => log.close?.(),
  };
  return { stack, stateDir, folder: io.cwd, settings: {}, notify: undefined };
}

/**
 * Clients that are started from a desktop start servers where nothing can be written: then it is a
 * folder of the user's.
 */
function placeForState({ env }: CliIo): string {
  const own = stateFolder();
  if (isWritable(own)) return own;
  const { ALLIUM_STATE_DIR, XDG_STATE_HOME = '', HOME = '' } = env;
  // Whoever named a folder means that one.
  if (ALLIUM_STATE_DIR !== undefined)
    throw new UsageError(`nothing can be written to ${own}, which ALLIUM_STATE_DIR names`);
  const home = isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : join(HOME, '.local', 'state');
  const fallback = join(home, 'allium');
  if (isAbsolute(fallback) && isWritable(fallback)) return fallback;
  throw new UsageError(
    `receipts can be written neither to ${own} nor to ${fallback}: name a folder with ALLIUM_STATE_DIR`,
  );
}

/** Only an attempt tells: permissions say nothing of file systems that take no files. */
function isWritable(folder: string): boolean {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Not by `recursive`: where the system denies that a parent is there, as in `/proc`, Node.js tries
 * for ever.
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}
