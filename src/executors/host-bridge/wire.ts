/**
 * Messages over a pair of streams: JSON-RPC 2.0, one a line. Both halves of a bridge stand on this.
 */

import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../core/time/clock.ts';
import { exactLine } from '../../core/json/exact-json.ts';
import { readMessage } from '../../core/wire/json-rpc.ts';
import { splitLines } from '../../system/lines.ts';
import { createWriteQueue, type Queued } from './write-queue.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';

/**
 * Two streams to the other side: standard input and output of a process, or a socket twice. A
 * bridge owns them and closes them.
 */
export interface BridgeChannel {
  readonly readable: Readable;
  readonly writable: Writable;
}

/** A message, or a line that is none, with the id it seems to have. */
export type Incoming =
  | { readonly message: Readonly<Record<string, unknown>> }
  | { readonly unreadable: 'unreadable_line' | 'line_too_long'; readonly id: unknown };

interface WireOptions {
  readonly maxLineBytes: number;
  readonly clock: Clock;
  readonly onIncoming: (incoming: Incoming) => void;
  /** The other side has gone, or this one was closed. Told once; nothing comes in afterwards. */
  readonly onEnd: () => void;
}

/** Why a message cannot go out. */
export type Unsent = 'closed' | 'not_json' | 'line_too_long' | 'queue_full';

export interface Wire {
  /** Sends as soon as the stream takes it. Until then it can be taken back. */
  send(message: object): Queued | Unsent;
  /**
   * Sends however much waits: for answers and cancellations, of which there are no more than
   * requests.
   */
  push(message: object): Queued | Unsent;
  /** Whether the other side reads at the moment. */
  readonly isReading: boolean;
  /** Lets out what waits, then closes both streams. */
  close(): Promise<void>;
  /** Closes both streams at once. */
  end(): void;
}

/** How long the other side may take to read what still waits when a bridge is closed. */
const CLOSE_MS = 1_000;
/** So many of the longest lines may wait. */
const QUEUED_LINES = 4;

export function openWire(
  channel: BridgeChannel,
  { maxLineBytes, clock, onIncoming, onEnd }: WireOptions,
): Wire {
  const queue = createWriteQueue(channel.writable, { maxQueuedBytes: QUEUED_LINES * maxLineBytes });
  let isOpen = true;
  let closing: Promise<void> | undefined;
  const split = splitLines({
    maxBytes: maxLineBytes,
    tellLong: 'at_end',
    onLine: (line) => isOpen && line.length > 0 && onIncoming(readLine(line)),
    onLongLine: (start) =>
      isOpen && onIncoming({ unreadable: 'line_too_long', id: idAtStart(start) }),
  });
  const unlisten = listen(channel, (chunk) => split(bytesOf(chunk)), end);

  function end(): void {
    if (!isOpen) return;
    isOpen = false;
    unlisten();
    // Before the queue is emptied: what still waits there was never sent.
    onEnd();
    queue.stop();
    channel.readable.destroy();
    channel.writable.destroy();
  }
  const sendWith = (take: (line: string) => Queued | null, message: object): Queued | Unsent => {
    if (!isOpen || closing !== undefined) return 'closed';
    const line = lineOf(message);
    if (line === null) return 'not_json';
    return Buffer.byteLength(line) > maxLineBytes ? 'line_too_long' : (take(line) ?? 'queue_full');
  };
  return {
    send: (message) => sendWith(queue.add, message),
    push: (message) => sendWith(queue.push, message),
    get isReading() {
      return !queue.isBlocked;
    },
    close: () => (closing ??= flushAndEnd(queue.flushed, channel.writable, clock).then(end)),
    end,
  };
}

/**
 * Errors are heard for good: a stream may fail after it was let go of, and an error that nobody
 * hears ends the process.
 */
function listen(
  { readable, writable }: BridgeChannel,
  onData: (chunk: unknown) => void,
  end: () => void,
): () => void {
  const streams = new Set([readable, writable]);
  for (const stream of streams) {
    stream.on('error', end);
    stream.on('close', end);
  }
  readable.on('end', end);
  readable.on('data', onData);
  // Streams that have ended before will not say so again. Told in another turn, when whoever opens
  // a wire has it in hands.
  if (readable.readableEnded || readable.destroyed || writable.writableEnded || writable.destroyed)
    setImmediate(end);
  return () => {
    readable.removeListener('data', onData);
    readable.removeListener('end', end);
    for (const stream of streams) stream.removeListener('close', end);
  };
}

/** Lets out what waits, as long as somebody reads it. */
function flushAndEnd(
  flushed: () => Promise<void>,
  writable: Writable,
  clock: Clock,
): Promise<void> {
  return new Promise((resolve) => {
    const giveUp = clock.after(CLOSE_MS, () => done());
    const done = (): void => {
      giveUp();
      writable.removeListener('close', done);
      resolve();
    };
    writable.once('close', done);
    void flushed().then(() => (writable.destroyed ? done() : writable.end(done)));
  });
}

function lineOf(message: object): string | null {
  try {
    return `${exactLine(message)}\n`;
  } catch {
    return null;
  }
}

function readLine(line: Buffer): Incoming {
  const reading = readMessage(line);
  if (!('message' in reading))
    return { unreadable: 'unreadable_line', id: reading.id ?? idAtStart(line) };
  const { message } = reading;
  return message.jsonrpc === '2.0'
    ? { message }
    : { unreadable: 'unreadable_line', id: message.id };
}

const ID_AT_START = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/;
const START_LENGTH = 256;

/**
 * The id that a broken answer would have had, so that its call need not wait for nothing. Taken
 * only from where it stands first: further in, it may be a tool's own text.
 */
function idAtStart(line: Buffer): number | undefined {
  const [, id] = ID_AT_START.exec(line.toString('latin1', 0, START_LENGTH)) ?? [];
  return id === undefined ? undefined : Number(id);
}

const NOTHING = Buffer.alloc(0);

/** A stream may have been told to give text; one of objects gives nothing that can be read. */
function bytesOf(chunk: unknown): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk;
  return typeof chunk === 'string' || chunk instanceof Uint8Array ? Buffer.from(chunk) : NOTHING;
}

const stream = (method: string) =>
  expected.required({
    text: 'a stream',
    test: (value: unknown) =>
      typeof value === 'object' && value !== null && method in value && 'destroy' in value,
  });

const EXPECTED = { readable: stream('read'), writable: stream('write') } as const;

export const checkChannel = (owner: string, channel: unknown): void =>
  checkOptions(owner, channel, EXPECTED);
