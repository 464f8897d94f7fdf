/** How a bench starts what stands between a client and a server. */

import type { Target } from './driver.ts';
import type { ProgramCommand } from './processes.ts';

export interface ProxyOrders {
  readonly configFile: string;
  /** What it stands before. */
  readonly upstream: Target;
  /** The port that it listens on; `null` where it speaks on standard input and output. */
  readonly listen: number | null;
  readonly env: Readonly<Record<string, string>>;
}

/** What a client should connect to: for `listen`, the program to start first. */
export type StartProxy = (orders: ProxyOrders) => Target;

/** Where a proxy that listens is found. */
export const proxyUrl = (port: number): string => `http://127.0.0.1:${port}/mcp`;

/** What clients of a proxy that listens have to send. */
export const PROXY_TOKEN = 'a-token-for-the-bench-only';

/** `allium proxy`, by the built `main.js` of the command. */
export const alliumProxy =
  (mainFile: string): StartProxy =>
  ({ configFile, upstream, listen, env }) => {
    const front =
      listen === null ? [] : ['--listen', String(listen), '--token-env', 'ALLIUM_PROXY_TOKEN'];
    const [behind, own] =
      'url' in upstream
        ? [['--http', upstream.url], env]
        : [['--', upstream.command, ...upstream.args], upstream.env];
    return {
      command: process.execPath,
      args: [mainFile, 'proxy', '--config', configFile, ...front, ...behind],
      env: { ...own, ALLIUM_PROXY_TOKEN: PROXY_TOKEN },
    };
  };

/** Nothing in between: what every check of the bench must notice. */
export const noProxy: StartProxy = ({ upstream }) => upstream;

/**
 * A program that is started with the server's command as its arguments, and knows nothing of a
 * config.
 */
export const programProxy =
  (file: string): StartProxy =>
  ({ upstream }) => {
    if ('url' in upstream) throw new Error('this program speaks to servers that it starts itself');
    const command: ProgramCommand = {
      command: process.execPath,
      args: [file, upstream.command, ...upstream.args],
      env: upstream.env,
    };
    return command;
  };
