/**
 * A server as a child process. In place of the SDK's own transport, which ends only the program it
 * started and not what that started, and which waits for a broken pipe where a helper of a dead
 * server holds it open.
 */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { type Readable, Writable } from 'node:stream';
import {
  type JSONRPCMessage,
  type JSONRPCResultResponse,
  parseJSONRPCMessage,
  SdkError,
  SdkErrorCode,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
  type Transport,
} from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import type { Clock } from '../../core/time/clock.ts';
import { exactLine } from '../../core/json/exact-json.ts';
import {
  endTree,
  forgetTree,
  hasExited,
  rememberTree,
  signalTree,
  SPAWN_AS_TREE,
} from '../../system/process-tree.ts';
import type { McpCommand } from './target.ts';
import { isObject } from '../../core/json/json.ts';
import { readMessage } from '../../core/wire/json-rpc.ts';
import { ownAnswer } from './watch-transport.ts';
import { StringDecoder } from 'node:string_decoder';
import { splitLines } from '../../system/lines.ts';
import { oneLine } from '../../core/contract/errors.ts';
import type { Logger } from '../../tools/tool.ts';

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

/** In the steps that the protocol wants. A pipe that a helper of the server holds open is cut. */
async function endChild(child: ChildProcessWithoutNullStreams, clock: Clock): Promise<void> {
  if (child.pid === undefined) return;
  const closed = new Promise<void>((resolve) => child.once('close', resolve));
  if (child.stdout.destroyed && hasExited(child)) return;
  const isClosed = (): Promise<boolean> => within(closed, GRACE_MS, clock);
  await endTree(child, isClosed);
  if (!(await isClosed())) destroyPipes(child);
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

/**
 * Gives every message of a server's standard output to `take`. A line that is no message is
 * dropped, as servers print what they should not; a line that would be an answer is answered for.
 * Answers `false` when a line is longer than any may be: nothing that follows can be understood.
 */
export function messageReader(take: (message: JSONRPCMessage) => void): (chunk: Buffer) => boolean {
  let isTooLong = false;
  const split = splitLines({
    maxBytes: STDIO_DEFAULT_MAX_BUFFER_SIZE,
    tellLong: 'at_once',
    onLine(line) {
      const message = messageIn(line);
      if (message !== null) take(message);
    },
    onLongLine: () => void (isTooLong = true),
  });
  return (chunk) => {
    split(chunk);
    return !isTooLong;
  };
}

function messageIn(line: Buffer): JSONRPCMessage | null {
  const reading = readMessage(line);
  if (!('message' in reading))
    return reading.isAnswer && reading.id !== undefined
      ? ownAnswer(reading.id, 'unreadable')
      : null;
  const { message } = reading;
  try {
    return isPlainResult(message) ? message : parseJSONRPCMessage(message);
  } catch {
    const id = 'method' in message ? undefined : message.id;
    return typeof id === 'string' || typeof id === 'number' ? ownAnswer(id, 'unreadable') : null;
  }
}

/**
 * An answer of which a look tells all that the SDK would check. Every other message is the SDK's to
 * judge, which takes far longer.
 */
function isPlainResult(value: unknown): value is JSONRPCResultResponse {
  if (!isObject(value) || value.jsonrpc !== '2.0' || Object.keys(value).length !== 3) return false;
  const { id, result } = value;
  return (
    (typeof id === 'string' || Number.isSafeInteger(id)) &&
    isObject(result) &&
    !Object.hasOwn(result, '_meta')
  );
}

/** A line that never ends is cut into pieces. */
const MAX_LINE = 4096;

/**
 * What a server writes there is its own: it is passed on as `debug`, and may hold what nobody else
 * should read.
 */
export function logLines(server: string, logger: Logger): Writable {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      const lines = (rest + decoder.write(chunk)).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE) {
        lines.push(rest);
        rest = '';
      }
      for (const line of lines) if (line.trim() !== '') logger.debug({ server }, oneLine(line));
      done();
    },
  });
}
