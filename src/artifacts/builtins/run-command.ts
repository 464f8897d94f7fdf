/** A program with everything it starts, from its beginning to its end. */

import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import spawn from 'cross-spawn';
import type { Clock } from '../../core/time/clock.ts';
import { followAbort } from '../../core/time/abort.ts';
import { forgetTree, rememberTree, signalTree, SPAWN_AS_TREE } from '../../system/process-tree.ts';
import { keptBytes } from './kept-bytes.ts';

export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly timeoutMs: number;
  /** Of each stream. */
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

export interface CommandOutcome {
  readonly stdout: string;
  readonly stderr: string;
  /** `-1` for a program that was ended by a signal. */
  readonly exitCode: number;
  readonly timedOut: boolean;
}

/** All three are pipes. */
type Child = ChildProcess & {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
};

/** What was thrown in the place of a program. */
interface NotStarted {
  readonly thrown: unknown;
}

/**
 * Starts the program in a group of its own. The folder may be a path by handle: the program is in
 * it when this returns.
 */
export function startCommand(
  { argv: [program, ...args], env }: Command,
  cwd: string,
): ChildProcess | NotStarted {
  try {
    return spawn(program, args, {
      ...SPAWN_AS_TREE,
      cwd,
      env: { ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  } catch (thrown) {
    // Arguments that are too long for the system, for one.
    return { thrown };
  }
}

/**
 * Where no handle is left for pipes there are none, whatever the types say: there is only the error
 * that is about to be told.
 */
const hasPipes = (child: ChildProcess): child is Child =>
  [child.stdin, child.stdout, child.stderr].every((stream) => Boolean(stream));

/** What a program that leaves its group may still hold open is not waited for. */
const PATIENCE_MS = 500;

/**
 * Waits for the end of a program, and ends what it started with it: when it exits, when its time is
 * over, when it has written far too much, and when nobody waits any more, which rejects at once.
 * Rejects with the system's error where it could not be started.
 */
export async function endOfCommand(
  started: ChildProcess | NotStarted,
  command: Command,
): Promise<CommandOutcome> {
  if ('thrown' in started) throw started.thrown;
  if (!hasPipes(started)) throw await new Promise((tell) => started.once('error', tell));
  return endOf(started, command);
}

function endOf(child: Child, command: Command): Promise<CommandOutcome> {
  const { pid } = child;
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) =>
    collect(stream, command.maxOutputBytes, () => killTree(pid)),
  );
  feed(child.stdin, command.stdin);
  if (pid !== undefined) rememberTree(pid);
  return new Promise((resolve, reject) => {
    let timedOut = false;
    let takeBackPatience = () => {};
    const takeBack = command.clock.after(command.timeoutMs, () => {
      timedOut = true;
      killTree(pid);
    });
    const letGo = (): void => {
      takeBack();
      unfollow();
    };
    const unfollow = followAbort(command.signal, () => {
      killTree(pid);
      takeBack();
      reject(command.signal.reason);
    });
    child.once('error', (error) => {
      letGo();
      reject(error);
    });
    child.once('exit', () => {
      letGo();
      killTree(pid);
      if (pid !== undefined) forgetTree(pid);
      takeBackPatience = command.clock.after(PATIENCE_MS, () =>
        [child.stdout, child.stderr].forEach((stream) => stream.destroy()),
      );
    });
    child.once('close', (code) => {
      takeBackPatience();
      resolve({
        stdout: stdout?.text() ?? '',
        stderr: stderr?.text() ?? '',
        exitCode: code ?? -1,
        timedOut,
      });
    });
  });
}

function killTree(pid: number | undefined): void {
  if (pid !== undefined) signalTree(pid, 'SIGKILL');
}

function feed(stdin: Writable, text: string): void {
  // A program need not read what it is given.
  stdin.on('error', () => {});
  stdin.end(text);
}

/** A program that writes this much more than is kept is not going to stop by itself. */
const MAX_DROPPED_TIMES = 64;

/** Keeps the beginning, and counts the rest. */
function collect(stream: Readable, maxBytes: number, tooMuch: () => void): { text(): string } {
  const kept = keptBytes(maxBytes);
  stream.on('error', () => {});
  stream.on('data', (chunk: Buffer) => {
    if (kept.add(chunk) > maxBytes * MAX_DROPPED_TIMES) tooMuch();
  });
  return kept;
}
