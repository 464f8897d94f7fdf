/**
 * A server as a child process. In place of the SDK's own transport, which ends only the program it started and not what that
 * started, and which waits for a broken pipe where a helper of a dead server holds it open.
 */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import {
  type JSONRPCMessage,
  SdkError,
  SdkErrorCode,
  type Transport,
} from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import type { Clock } from '../../core/clock.ts';
import { exactLine } from '../../core/exact-json.ts';
import { messageReader } from './message-lines.ts';
import { forgetTree, hasExited, rememberTree, signalTree, SPAWN_AS_TREE } from './process-tree.ts';
import type { McpCommand } from './target.ts';

export interface ChildOptions {
  readonly clock: Clock;
  /** Where the child's standard error goes; `null` reads it and throws it away. */
  readonly stderr: Writable | null;
}

/** How long a server may take to end by itself, and then when asked to. */
const GRACE_MS = 1000;
/** How long what a dead server wrote may take to arrive. */
const DRAIN_MS = 250;

/** With `pid` and `stderr`: by these the SDK tells that silence means an older server. */
export interface ChildTransport extends Transport {
  readonly pid: number | null;
  readonly stderr: null;
}

/** A transport that starts the program. It lives once. */
export function childTransport(
  target: McpCommand,
  { clock, stderr }: ChildOptions,
): ChildTransport {
  let child: ChildProcessWithoutNullStreams | null = null;
  let closing: Promise<void> | undefined;
  const transport: ChildTransport = {
    get pid() {
      return child?.pid ?? null;
    },
    stderr: null,
    start: () =>
      new Promise((resolve, reject) => {
        child = spawn(target.command, [...(target.args ?? [])], {
          ...SPAWN_AS_TREE,
          stdio: 'pipe',
          env: { ...getDefaultEnvironment(), ...target.env },
          ...(target.cwd === undefined ? {} : { cwd: target.cwd }),
        });
        child.once('spawn', resolve);
        child.once('error', reject);
        listen(child, transport, clock);
        passOn(child.stderr, stderr);
      }),
    send: (message) => write(child, message),
    close: () => (closing ??= child === null ? Promise.resolve() : endChild(child, clock)),
  };
  return transport;
}

function listen(
  child: ChildProcessWithoutNullStreams,
  transport: ChildTransport,
  clock: Clock,
): void {
  const { pid } = child;
  const complain = (error: Error): void => transport.onerror?.(error);
  if (pid !== undefined) rememberTree(pid);
  child.on('error', complain);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', complain);
  readMessages(child, transport);
  child.once('exit', () => {
    if (pid !== undefined) {
      forgetTree(pid);
      signalTree(pid, 'SIGKILL');
    }
    // What left the group may hold the pipes open for ever.
    const takeBack = clock.after(DRAIN_MS, () => destroyPipes(child));
    child.once('close', takeBack);
  });
  child.once('close', () => {
    destroyPipes(child);
    transport.onclose?.();
  });
}

/** By hand: `pipe` leaves listeners on a stream that outlives many children. */
function passOn(from: Readable, to: Writable | null): void {
  from.on('data', (chunk: Buffer) => {
    if (to === null || to.write(chunk)) return;
    from.pause();
    to.once('drain', () => from.resume());
  });
}

function readMessages(child: ChildProcessWithoutNullStreams, transport: ChildTransport): void {
  const read = messageReader((message) => transport.onmessage?.(message));
  child.stdout.on('data', (chunk: Buffer) => {
    if (read(chunk)) return;
    child.stdout.removeAllListeners('data').resume();
    void transport.close();
  });
}

function write(
  child: ChildProcessWithoutNullStreams | null,
  message: JSONRPCMessage,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (child === null || hasExited(child) || !child.stdin.writable)
      return reject(new SdkError(SdkErrorCode.NotConnected, 'the server does not run'));
    child.stdin.write(`${exactLine(message)}\n`, (error) => (error ? reject(error) : resolve()));
  });
}

/** First the end of its input, as the protocol wants it, then a signal to all of them, then one that nobody survives. */
async function endChild(child: ChildProcessWithoutNullStreams, clock: Clock): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const closed = new Promise<void>((resolve) => child.once('close', resolve));
  if (child.stdout.destroyed && hasExited(child)) return;
  child.stdin.end();
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (await within(closed, GRACE_MS, clock)) return;
    signalTree(pid, signal);
  }
  if (!(await within(closed, GRACE_MS, clock))) destroyPipes(child);
}

async function within(done: Promise<void>, ms: number, clock: Clock): Promise<boolean> {
  let takeBack = () => {};
  const late = new Promise<boolean>((resolve) => {
    takeBack = clock.after(ms, () => resolve(false));
  });
  try {
    return await Promise.race([done.then(() => true), late]);
  } finally {
    takeBack();
  }
}

function destroyPipes({ stdin, stdout, stderr }: ChildProcessWithoutNullStreams): void {
  for (const stream of [stdin, stdout, stderr]) stream.destroy();
}
