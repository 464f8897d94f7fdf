/** The servers behind a proxy: what is started or reached, and what it is called. */

import { resolve } from 'node:path';
import type { ProxyServer } from '../../config/index.ts';
import { systemClock } from '../../core/time/clock.ts';
import { aggregateLinks } from '../../mcp/aggregate/aggregate-links.ts';
import type { HeaderVariable } from '../wrap/proxy-line.ts';
import type { Link } from '../../mcp/proxy/link.ts';
import { childLink } from '../../mcp/stdio/stdio-links.ts';
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
