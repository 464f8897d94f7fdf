/**
 * A client of the SDK on its way to the echo tool, whatever stands between them, and what its calls
 * take.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { quantile } from './statistics.ts';

export interface Connection {
  /** Calls made so far. */
  readonly calls: () => number;
  readonly call: () => Promise<void>;
  /**
   * Processor time in nanoseconds that the started process and all it started itself have used; NaN
   * where the system does not tell.
   */
  readonly usedNs: () => number;
  readonly client: Client;
  readonly close: () => Promise<void>;
}

const REASON = 'The user asked whether anybody is there.';
let messages = 0;

/** Arguments that no two calls share: an answer from a cache would hide the way. */
export const nextArgs = (): { readonly message: string; readonly reason: string } => ({
  message: `message ${(messages += 1)}`,
  reason: REASON,
});

/**
 * Starts a process and shakes hands with it. Rejects with the end of what it wrote to standard
 * error.
 */
export async function connect(args: readonly string[]): Promise<Connection> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...args],
    stderr: 'pipe',
  });
  let complaint = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk.toString('utf8')}`.slice(-500);
  });
  const client = new Client({ name: 'bench', version: '0.0.0' });
  try {
    await client.connect(transport);
    await client.listTools();
  } catch (error) {
    await client.close();
    throw new Error(complaint.trim() || String(error));
  }
  const processes = familyOf(transport.pid ?? 0);
  let calls = 0;
  return {
    client,
    calls: () => calls,
    call: async () => {
      calls += 1;
      const args = nextArgs();
      const { content } = await client.callTool({ name: 'echo', arguments: args });
      proveEcho(content, args.message);
    },
    usedNs: () => processes.reduce((sum, pid) => sum + usedNsOf(pid), 0),
    close: () => client.close(),
  };
}

/** Throws for everything that is no echo: refusals are quick. */
export function proveEcho(content: unknown, message: string): void {
  const [block] = Array.isArray(content) ? (content as readonly { readonly text?: string }[]) : []; // Whatever it is, it has no such text.
  if (block?.text !== `Echo: ${message}`)
    throw new Error(`the echo tool answered ${JSON.stringify(content)}`);
}

/** Median time of a call, one after another. */
export async function latencyNs({ call }: Connection, calls: number): Promise<number> {
  const samples: number[] = [];
  for (let i = 0; i < calls; i++) {
    const startedAt = performance.now();
    await call();
    samples.push((performance.now() - startedAt) * 1e6);
  }
  return quantile(samples, 0.5);
}

export interface Burst {
  readonly wallNs: number;
  /** Of all processes, this one included. */
  readonly processorNs: number;
}

/** Time per call with so many on their way at every moment. */
export async function burst(
  { call, usedNs }: Connection,
  calls: number,
  atATime: number,
): Promise<Burst> {
  let left = calls;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  const [startedAt, ownBefore, theirsBefore] = [performance.now(), process.cpuUsage(), usedNs()];
  await Promise.all(Array.from({ length: atATime }, caller));
  const wall = (performance.now() - startedAt) * 1e6;
  const { user, system } = process.cpuUsage(ownBefore);
  return {
    wallNs: wall / calls,
    processorNs: ((user + system) * 1000 + usedNs() - theirsBefore) / calls,
  };
}

/** The process and everything it started, as Linux tells it; only itself where nothing is told. */
function familyOf(root: number): readonly number[] {
  const parents = new Map(runningProcesses().map((pid) => [pid, Number(statOf(pid)?.[1])]));
  const family = [root];
  for (const pid of family)
    family.push(...[...parents].filter(([, parent]) => parent === pid).map(([child]) => child));
  return family;
}

function runningProcesses(): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Linux counts in hundredths of a second: a single sample is rough, the median of many is not. */
const NS_PER_TICK = 1e7;

function usedNsOf(pid: number): number {
  const fields = statOf(pid);
  return fields === null ? Number.NaN : (Number(fields[11]) + Number(fields[12])) * NS_PER_TICK;
}

/** The fields behind the name, which may hold anything: state, parent, and so on. */
function statOf(pid: number): readonly string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
