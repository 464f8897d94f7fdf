/**
 * Messages by line: over this process's own standard streams, and over those of a server that it
 * starts.
 */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import spawn from 'cross-spawn';
import { exactLine } from '../../core/json/exact-json.ts';
import { readMessage } from '../../core/wire/json-rpc.ts';
import { splitLines } from '../../system/lines.ts';
import { endTree, signalTree, SPAWN_AS_TREE } from '../../system/process-tree.ts';
import { MAX_LINE_BYTES } from '../wire.ts';
import { deliver, type Link, type LinkHandlers } from '../proxy/link.ts';

/**
 * A link over a pair of streams. It ends when reading ends: a side that says nothing more answers
 * nothing more.
 */
export function streamLink(input: Readable, output: Writable): Link {
  let drained: (() => void) | null = null;
  let isOpen = true;
  const gather = oneWriteATurn(output);
  const end = (handlers: LinkHandlers, why: string): void => {
    if (!isOpen) return;
    isOpen = false;
    handlers.onClose(why);
  };
  const write = (data: Uint8Array | string): boolean => {
    if (!isOpen || output.destroyed || output.writableEnded) return true;
    return output.write(data);
  };
  return {
    transport: 'pipe',
    async start(handlers) {
      const split = splitLines({
        maxBytes: MAX_LINE_BYTES,
        tellLong: 'at_once',
        onLine: (line) => readLine(line, handlers),
        onLongLine: () => handlers.onGarbage('a line that is too long'),
      });
      input.on('data', (chunk: Uint8Array) =>
        handlers.onChunk === undefined ? split(chunk) : handlers.onChunk(chunk),
      );
      input.once('end', () => end(handlers, 'the stream ended'));
      input.once('close', () => end(handlers, 'the stream ended'));
      input.on('error', () => end(handlers, 'the stream broke'));
      // What cannot be written is owed to somebody who is gone.
      output.on('error', () => end(handlers, 'the stream broke'));
      output.on('drain', () => drained?.());
    },
    send({ message }) {
      gather();
      return write(`${exactLine(message)}\n`);
    },
    sendChunk: write,
    onDrain: (listener) => void (drained = listener),
    pause: () => void input.pause(),
    resume: () => void input.resume(),
    async close() {
      isOpen = false;
      input.destroy();
      output.end();
    },
  };
}

/**
 * To be called before each message. The messages of a turn of the loop leave in one write, because
 * each write wakes the reader. After a turn with a single message the first leaves at once: nothing
 * may follow it.
 */
function oneWriteATurn(output: Writable): () => void {
  let sentThisTurn = 0;
  /** Which message of a turn is the first to wait for the others of it. */
  let gatheredFrom = 2;
  const letGo = (): void => {
    if (sentThisTurn >= gatheredFrom) output.uncork();
    gatheredFrom = sentThisTurn > 1 ? 1 : 2;
    sentThisTurn = 0;
  };
  return () => {
    sentThisTurn += 1;
    if (sentThisTurn === 1) process.nextTick(letGo);
    if (sentThisTurn === gatheredFrom) output.cork();
  };
}

const SPACES = /^[ \t\r\n]*$/;

function readLine(bytes: Uint8Array, handlers: LinkHandlers): void {
  const reading = readMessage(bytes);
  if (
    'message' in reading ||
    bytes.length > 15 ||
    !SPACES.test(Buffer.from(bytes).toString('latin1'))
  )
    deliver(reading, handlers);
}

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the variables of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface ChildLink extends Link {
  /** Kills with this signal what is left of the server's whole group. */
  kill(signal: NodeJS.Signals): void;
  readonly pid: number | undefined;
}

/**
 * How long a server may take to end by itself once nobody speaks to it, and then once it was told
 * to.
 */
const PATIENCE_MS = 2000;

/**
 * Starts a server. It leads a process group of its own, so that what it starts itself ends with it.
 * Its standard error goes to `stderr`. Closing asks in three steps: end of input, SIGTERM, SIGKILL.
 */
export function childLink({ command, args, env, cwd }: ServerCommand, stderr: Writable): ChildLink {
  const child = spawn(command, [...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    ...SPAWN_AS_TREE,
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
    // All three are pipes.
  }) as ChildProcess & { stdin: Writable; stdout: Readable; stderr: Readable };
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      resolve(`it could not be started (${error.code ?? 'unknown'})`),
    );
    child.once('exit', (code, signal) =>
      resolve(signal === null ? `it ended with code ${code ?? 0}` : `it was ended by ${signal}`),
    );
  });
  child.stderr.pipe(stderr, { end: false });
  const kill = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined) signalTree(child.pid, signal);
  };
  const streams = streamLink(child.stdout, child.stdin);
  return {
    ...streams,
    pid: child.pid,
    async start(handlers) {
      let hasEnded = false;
      const end = (why: string): void => {
        if (!hasEnded) handlers.onClose(why);
        hasEnded = true;
      };
      void exited.then(async (why) => {
        // What it wrote before it died is still in the pipe.
        if (!child.stdout.readableEnded && child.pid !== undefined)
          await Promise.race([once(child.stdout, 'close'), pause(PATIENCE_MS)]);
        end(why);
      });
      // Whoever closes its output cannot answer any more, even where it lives on.
      await streams.start({
        ...handlers,
        onClose: () =>
          void Promise.race([exited, pause(PATIENCE_MS)]).then((why) =>
            end(why ?? 'it closed its output'),
          ),
      });
    },
    kill,
    async close() {
      await endTree(
        child,
        async () => (await Promise.race([exited, pause(PATIENCE_MS)])) !== undefined,
      );
      await exited;
      // What the server started and left behind is still of its group.
      kill('SIGKILL');
      child.stdout.destroy();
      child.stderr.unpipe(stderr);
      child.stderr.destroy();
    },
  };
}

const pause = (ms: number): Promise<undefined> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
