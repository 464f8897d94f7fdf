/**
 * The servers behind a proxy: what is started or reached, what it is called, and the tools of a
 * server, read once: it is started or greeted, asked for its list, and left.
 */

import { resolve } from 'node:path';
import type { ProxyServer } from '../../config/index.ts';
import { systemClock } from '../../core/time/clock.ts';
import { aggregateLinks } from '../../mcp/aggregate/aggregate-links.ts';
import type { Link } from '../../mcp/proxy/link.ts';
import { childLink } from '../../mcp/stdio/stdio-links.ts';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { createAbort, type OwnAbort } from '../../core/time/abort.ts';
import { isObject } from '../../core/json/json.ts';
import type { Tool } from '../../index.ts';
import { type CatalogParts, toolFrom } from '../../mcp/proxy/catalog.ts';
import { createOutgoing, type Outgoing } from '../../mcp/outgoing.ts';
import {
  CODES,
  errorMessage,
  isRequestId,
  kindOf,
  notificationMessage,
  objectAt,
  type WireMessage,
} from '../../mcp/wire.ts';
import type { HeaderVariable } from '../wrap/proxy-line.ts';
import { type CliIo, UsageError } from '../io/io.ts';

/** How a server is named on the command line, besides by a command. */
export interface UpstreamFlags {
  readonly http?: string;
  readonly headerEnv?: readonly string[];
  readonly name?: string;
}

type Upstreams = Readonly<Record<string, ProxyServer>>;

/** What servers are opened with. */
export interface UpstreamParts {
  /** What paths of the file are relative to. */
  readonly folder: string;
  readonly io: CliIo;
  readonly report: (problem: string) => void;
  /**
   * How long one of several servers is waited for before the others go on without it. @default 5000
   */
  readonly slowMs?: number;
}

/**
 * Opens the server that was named, or those of the file. Throws for what cannot be meant, before
 * anything is started.
 */
export async function upstreamFrom(
  [command, ...args]: readonly string[],
  { http, headerEnv = [], name }: UpstreamFlags,
  servers: Upstreams,
  { folder, io, report, slowMs }: UpstreamParts,
): Promise<() => Link> {
  const given = [command !== undefined, http !== undefined].filter(Boolean).length;
  if (given > 1) throw new UsageError('give a command behind --, or --http, not both');
  if (given === 0 && Object.keys(servers).length === 0)
    throw new UsageError(
      'name the command that starts the server behind --, or its address with --http, or servers in the file',
    );
  if (headerEnv.length > 0 && http === undefined)
    throw new UsageError('--header-env is for a server that is reached with --http');
  const isRemote =
    http !== undefined || Object.values(servers).some(({ url }) => url !== undefined);
  // Most proxies start a command, and start sooner without the parts that speak HTTP.
  const { httpServerLink } = isRemote
    ? await import('../../mcp/http/http-server-link.ts')
    : NO_HTTP;
  const open = (server: ProxyServer): Link => {
    const { command: program, args: words = [], env, cwd, url, headers = {} } = server;
    if (url !== undefined && httpServerLink !== null)
      return httpServerLink(url, { headers: () => headers });
    const place = cwd === undefined ? {} : { cwd: resolve(folder, cwd) };
    return childLink(
      { command: program ?? '', args: words, ...(env === undefined ? {} : { env }), ...place },
      io.stderr,
    );
  };
  if (command !== undefined) {
    const called = name ?? nameFor([command, ...args], undefined);
    return () => ({ ...open({ command, args }), name: called });
  }
  if (http !== undefined) {
    demandAddress(http);
    const headers = headersFrom(headerEnv, io);
    const called = name ?? nameFor([], http);
    return () => ({ ...open({ url: http, headers }), name: called });
  }
  const all = Object.entries(servers);
  const [only] = all;
  if (all.length === 1 && only !== undefined)
    return () => ({ ...open(only[1]), name: name ?? only[0] });
  return () =>
    aggregateLinks(
      all.map(([each, server]) => ({
        name: each,
        prefix: server.prefix ?? each,
        open: () => open(server),
      })),
      { report, clock: systemClock, ...(slowMs === undefined ? {} : { slowMs }) },
    );
}

const NO_HTTP = { httpServerLink: null } as const;

/** What is in the address is not repeated: it may hold a password. */
export function demandAddress(http: string): void {
  if (!URL.canParse(http) || !/^https?:$/.test(new URL(http).protocol))
    throw new UsageError('--http takes an http or https address');
}

/**
 * A command line can be read by every user of the machine: it names variables, and never holds a
 * value.
 */
export function headerVariables(pairs: readonly string[]): readonly HeaderVariable[] {
  return pairs.map((pair) => {
    const [, header, variable] = /^([!#$%&'*+.^_`|~\w-]+)=([A-Za-z_]\w*)$/.exec(pair) ?? [];
    if (header === undefined || variable === undefined)
      throw new UsageError('--header-env takes Header-Name=VARIABLE');
    return { header, variable };
  });
}

function headersFrom(pairs: readonly string[], { env }: CliIo): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headerVariables(pairs).map(({ header, variable }) => {
      const value = env[variable];
      if (value === undefined || value === '')
        throw new UsageError(`the variable ${variable} for the header ${header} is not set`);
      return [header, value];
    }),
  );
}

/**
 * What a person would call it: the last part of a package or program, or of an address. A word with
 * `=` may hold a value that is secret.
 */
export function nameFor(words: readonly string[], http: string | undefined): string {
  if (http !== undefined) return new URL(http).hostname;
  const word =
    words.find((each, index) => index > 0 && !each.startsWith('-') && !each.includes('=')) ??
    words[0] ??
    'server';
  const parts = word
    .split(/[\\/]/)
    .filter((part) => !/^(index\.[cm]?[jt]s|dist|build|src|bin|lib|)$/.test(part));
  const name = (parts.at(-1) ?? 'server')
    .replace(/\.[cm]?[jt]s$/, '')
    .replace(/^(mcp-)?server-/, '');
  return name === '' ? 'server' : name;
}

export interface ReadingParts extends CatalogParts {
  /** Ends the reading: it then answers what it has, which is nothing. */
  readonly signal: AbortSignal;
  /** How long the server may take, all in all. */
  readonly timeoutMs: number;
  /**
   * What is given to servers behind the link to answer without one of them, on top of `timeoutMs`.
   */
  readonly graceMs: number;
  /** Told why there are no tools, or not all of them. */
  readonly report: (problem: string) => void;
}

/** More pages than any list has. */
const MAX_PAGES = 200;

const GREETING = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'allium-explain', version: '1' },
};

/**
 * `null` where the server could not be asked; the reason was reported. In any case the link is
 * closed when this resolves.
 */
export async function readUpstream(
  link: Link,
  parts: ReadingParts,
): Promise<readonly Tool[] | null> {
  const abort = createAbort();
  const timer = setTimeout(() => abort.abort('late'), parts.timeoutMs + parts.graceMs);
  const leave = () => abort.abort('left');
  parts.signal.addEventListener('abort', leave, { once: true });
  if (parts.signal.aborted) leave();
  const server = createOutgoing((message) => void link.send({ message }));
  try {
    await link.start({
      onFrame({ message }) {
        if (!server.settle(message)) answerTo(message, link);
      },
      onGarbage: (problem) => parts.report(problem),
      onClose: (why) => server.fail(why),
    });
    return toolsFrom(await listOf(server, link, abort), link, parts);
  } catch (thrown) {
    parts.report(reasonFor(thrown, abort, link, parts));
    return null;
  } finally {
    clearTimeout(timer);
    parts.signal.removeEventListener('abort', leave);
    await link.close();
  }
}

function reasonFor(
  thrown: unknown,
  abort: OwnAbort,
  { name }: Link,
  { timeoutMs }: ReadingParts,
): string {
  const who = name === undefined ? 'the server' : `the server "${name}"`;
  if (abort.isAborted())
    return abort.reason() === 'late'
      ? `${who} did not answer within ${timeoutMs / 1000} s`
      : `${who} was not asked to the end`;
  return `${who} cannot be asked for its tools: ${thrown instanceof Error ? thrown.message : 'it failed'}`;
}

/**
 * A server may ask its client, too. While tools are only read, every such request is answered with
 * an error.
 */
function answerTo(message: WireMessage, link: Link): void {
  if (kindOf(message) !== 'request' || !isRequestId(message.id)) return;
  link.send({ message: errorMessage(message.id, CODES.noMethod, 'Method not found') });
}

async function listOf(
  server: Outgoing,
  link: Link,
  abort: OwnAbort,
): Promise<readonly JsonValue[]> {
  demandResult(await server.request('initialize', GREETING, { abort }));
  link.send({ message: notificationMessage('notifications/initialized', {}) });
  const found: JsonValue[] = [];
  let cursor: JsonValue | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = demandResult(
      await server.request('tools/list', cursor === undefined ? {} : { cursor }, { abort }),
    );
    if (Array.isArray(result.tools)) found.push(...(result.tools as readonly JsonValue[]));
    cursor = result.nextCursor;
    if (typeof cursor !== 'string' || cursor === '') break;
  }
  return found;
}

/** What the server says is wrong is its own text, and not repeated. */
function demandResult(message: WireMessage): JsonObject {
  if (isObject(message.result)) return message.result;
  const { code } = objectAt(message, 'error');
  throw new Error(
    typeof code === 'number'
      ? `it answered with the error ${code}`
      : 'it answered with something that is no result',
  );
}

/**
 * As the proxy takes them: what it would not show is reported and left out, of two with one name
 * the first stays.
 */
function toolsFrom(list: readonly JsonValue[], link: Link, parts: ReadingParts): readonly Tool[] {
  const tools = new Map<string, Tool>();
  for (const raw of list) {
    if (!isObject(raw) || typeof raw.name !== 'string') continue;
    const named = {
      ...parts,
      serverOf: (tool: string) => link.serverOf?.(tool) ?? link.name ?? null,
    };
    const tool = tools.has(raw.name) ? null : toolFrom(raw.name, raw, named, parts.report);
    if (tool !== null) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}
