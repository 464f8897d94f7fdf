/** Programs that a bench starts: each in a group of its own, ended by id, and none left behind. */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/core/time/clock.ts';

/** How a program is started. The environment is complete: nothing of this process is added. */
export interface ProgramCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Program {
  readonly child: ChildProcess;
  /** Resolves when it has ended, however. */
  readonly ended: Promise<void>;
  /** Asks its group to end, and ends it where it does not. */
  stop(): Promise<void>;
}

const PATIENCE_MS = 5000;
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => void systemClock.after(ms, resolve));

/**
 * Starts a program that leads a group. What it writes to standard error is dropped: it may be
 * anything.
 */
export function startProgram({ command, args, env }: ProgramCommand): Program {
  const child = spawn(command, [...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
    env,
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  // Whoever has ended reads no more.
  child.stdin.on('error', () => {});
  return {
    child,
    ended,
    async stop() {
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        signalTo(-(child.pid ?? 0), signal);
        if (await Promise.race([ended.then(() => true), pause(PATIENCE_MS).then(() => false)]))
          break;
      }
      signalTo(-(child.pid ?? 0), 'SIGKILL');
    },
  };
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    // Zero would be this process's own group.
    if (pid !== 0) process.kill(pid, signal);
  } catch {
    // It is gone.
  }
}

export function killProcess(pid: number): void {
  signalTo(pid, 'SIGKILL');
}

/** Waits for a condition, looking again and again. Rejects with what was waited for. */
export async function waitUntil(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 20_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited ${withinMs} ms in vain: ${what}`);
    await pause(10);
  }
}

/** Waits for something that should not take long. Rejects with what was waited for. */
export async function withinTime<T>(what: string, work: Promise<T>, withinMs = 20_000): Promise<T> {
  let giveUp = (): void => {};
  const tooLate = new Promise<never>((_resolve, reject) => {
    giveUp = systemClock.after(withinMs, () =>
      reject(new Error(`waited ${withinMs} ms in vain: ${what}`)),
    );
  });
  return Promise.race([work, tooLate]).finally(() => giveUp());
}

/** A folder and an environment for one run. */
export interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /**
   * Waits for all processes of the place, and ends what is left then. Answers how many those were.
   */
  endProcesses(withinMs?: number): Promise<number>;
  /** Ends them, and takes the folder away. */
  close(): Promise<void>;
}

const MARK = 'ALLIUM_BENCH_MARK';

/**
 * The environment is nearly empty, so that nothing of this machine reaches a server that shows its
 * environment. It marks every process below, however far down and whoever started it.
 */
export function createPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'allium-mcp-'));
  const mark = randomUUID();
  const { PATH = '', HOME = folder } = process.env;
  const endProcesses = async (withinMs = PATIENCE_MS): Promise<number> => {
    await waitUntil(
      'all processes to end',
      () => markedProcesses(mark).length === 0,
      withinMs,
    ).catch(() => {});
    const left = markedProcesses(mark);
    left.forEach(killProcess);
    return left.length;
  };
  return {
    folder,
    env: { PATH, HOME, [MARK]: mark },
    endProcesses,
    async close() {
      await endProcesses(0);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Only Linux shows the environments of processes; elsewhere nothing is found. */
function markedProcesses(mark: string): readonly number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => environmentOf(pid).includes(`${MARK}=${mark}`))
    .map(Number);
}

/** Empty for a process that has ended, also where nobody has asked for its code yet. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}

/** A port that was free a moment ago, for programs that cannot tell which one they took. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It listens on a port, not on a path.
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (value: boolean) => {
      socket.destroy();
      resolve(value);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });
