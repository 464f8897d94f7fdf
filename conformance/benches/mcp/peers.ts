/** Real servers: those that others wrote, from their packages, and one that speaks both eras. */

import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { SYNTHETIC_SECRET } from './dual-tools.ts';
import {
  freePort,
  isListening,
  type Place,
  type ProgramCommand,
  startProgram,
  waitUntil,
} from './processes.ts';

export const SERVERS = ['everything', 'filesystem', 'memory', 'dual'] as const;
export type ServerName = (typeof SERVERS)[number];

/** A server that is ready to be started, with the places where its effects can be seen. */
export interface Peer {
  readonly name: ServerName;
  /** Whether it speaks the new revision. */
  readonly isModern: boolean;
  /** Starts it on standard input and output. */
  readonly command: ProgramCommand;
  /** What `filesystem` may touch. */
  readonly root: string;
  /** Where `memory` keeps its graph. */
  readonly memoryFile: string;
  /** Where `dual` leaves its effects. */
  readonly notes: string;
  /** Where `dual` leaves the ids of its processes. */
  readonly pids: string;
}

const require = createRequire(import.meta.url);
const programOf = (name: string): string =>
  require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);

/** `dualFile` is the built `dual-server.js`. */
export function preparePeer(name: ServerName, { folder, env }: Place, dualFile: string): Peer {
  const places = {
    root: join(folder, 'root'),
    memoryFile: join(folder, 'memory.jsonl'),
    notes: join(folder, 'notes'),
    pids: join(folder, 'pids'),
  };
  mkdirSync(places.root, { recursive: true });
  const [file, args] = {
    everything: (): [string, string[]] => [programOf('everything'), ['stdio']],
    filesystem: (): [string, string[]] => [programOf('filesystem'), [places.root]],
    memory: (): [string, string[]] => [programOf('memory'), []],
    dual: (): [string, string[]] => [dualFile, ['stdio']],
  }[name]();
  const own = {
    MEMORY_FILE_PATH: places.memoryFile,
    DUAL_NOTES: places.notes,
    DUAL_PIDS: places.pids,
    BENCH_NOTE: SYNTHETIC_SECRET,
  };
  return {
    name,
    isModern: isModernServer(name),
    command: { command: process.execPath, args: [file, ...args], env: { ...env, ...own } },
    ...places,
  };
}

/** Whether a server speaks the revision of 2026-07-28, besides those before. */
export const isModernServer = (name: ServerName): boolean => name === 'dual';

/** Whether a server can be reached by HTTP. */
export const servesHttp = (name: ServerName): boolean => name === 'everything' || name === 'dual';

export interface HttpPeer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a server on a port of this machine. */
export async function startHttpPeer({
  name,
  command: { command, args, env },
}: Peer): Promise<HttpPeer> {
  const port = await freePort();
  const [file = ''] = args;
  const how = name === 'everything' ? 'streamableHttp' : 'http';
  const program = startProgram({ command, args: [file, how], env: { ...env, PORT: String(port) } });
  program.child.stdout?.resume();
  try {
    await waitUntil(`${name} to listen`, () => isListening(port));
  } catch (error) {
    await program.stop();
    throw error;
  }
  return { url: `http://127.0.0.1:${port}/mcp`, stop: () => program.stop() };
}
