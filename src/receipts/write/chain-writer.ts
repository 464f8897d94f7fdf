/**
 * Queues the receipts of a chain and writes them out: one write at a time, and everything that came
 * meanwhile in the next one.
 */

import { AlliumError, isAlliumError } from '../../core/contract/errors.ts';
import type { HashKey } from '../../core/json/hash-canonical.ts';
import type { Appended, Durability, Receipt } from '../receipt.ts';
import { receiptText } from './receipt-text.ts';
import {
  closeSegments,
  openChain,
  rotate,
  type Segments,
  syncSegment,
  writeSome,
} from './segment-writer.ts';

/** Writes one chain. */
export interface ChainWriter {
  append(build: (uri: string) => Receipt, durability: Durability): Appended;
  /**
   * Tries what failed once more. Rejects when it fails again, or when there is no file that could
   * be written to.
   */
  ready(): Promise<void> | null;
  /** Waits until everything appended so far is written. Rejects when something could not be. */
  flush(): Promise<void>;
  /** True when nothing is under way and nothing is left to write. */
  readonly isIdle: boolean;
  /** Signs the end and lets go of the files. Only for a writer that is idle or has failed. */
  closeNow(): void;
}

interface Waiter {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** What goes out together. Those who wait for the same thing share one promise. */
interface Waiting {
  receipts: string[];
  written: Waiter | null;
  synced: Waiter | null;
}

/** What failed is kept for another try, but not without end. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

const KEPT = Promise.resolve();

/** What a writer has before it. */
interface Queue {
  readonly chain: Segments;
  waiting: Waiting;
  waitingBytes: number;
  /** The number of the receipt that was appended last. */
  seq: number;
  failure: Error | null;
  running: Promise<void> | null;
}

/**
 * A writer for an open chain. `uriOf` gives the URI of a receipt by its number; `release` gives the
 * chain back.
 */
export function createChainWriter(
  chain: Segments,
  uriOf: (seq: number) => string,
  key: HashKey | null,
  release: () => void,
): ChainWriter {
  const queue: Queue = {
    chain,
    waiting: nothingWaiting(),
    waitingBytes: 0,
    seq: chain.end.count,
    failure: null,
    running: null,
  };
  return {
    append(build, durability) {
      const uri = uriOf(queue.seq + 1);
      const before = queue.seq;
      const text = receiptText(build(uri), key);
      if (queue.seq !== before)
        throw new Error('a receipt cannot be appended while another one is being built');
      add(queue, text);
      return { uri, kept: durability === 'background' ? KEPT : waiterFor(queue, durability) };
    },
    ready() {
      if (queue.failure !== null) {
        void start(queue);
        // A failed sync leaves nothing to write, and no file either.
        return settle(queue).then(() => openIfNone(queue));
      }
      if (queue.running !== null || chain.file !== null) return null;
      return KEPT.then(() => openIfNone(queue));
    },
    async flush() {
      if (queue.waiting.receipts.length > 0 || queue.failure !== null) void start(queue);
      await settle(queue);
    },
    get isIdle() {
      const { running, failure, waiting } = queue;
      return running === null && failure === null && waiting.receipts.length === 0;
    },
    closeNow() {
      try {
        closeSegments(chain);
      } finally {
        release();
      }
    },
  };
}

function add(queue: Queue, text: string): void {
  if (queue.waitingBytes + text.length > MAX_WAITING_BYTES)
    throw queue.failure ?? new Error('too many receipts wait to be written');
  queue.seq += 1;
  queue.waitingBytes += text.length;
  queue.waiting.receipts.push(text);
  void start(queue);
}

const start = (queue: Queue): Promise<void> => (queue.running ??= run(queue));

async function run(queue: Queue): Promise<void> {
  // What is appended in one go is written in one go.
  await KEPT;
  do {
    const taken = queue.waiting;
    queue.waiting = nothingWaiting();
    const { left, error } = await writeOut(queue.chain, taken);
    queue.failure = error;
    // In their order, before those that came meanwhile.
    if (left.length > 0) queue.waiting.receipts = [...left, ...queue.waiting.receipts];
    queue.waitingBytes = bytesOf(queue.waiting.receipts);
    // Somebody who waits gets a try of their own; nobody else is tried again before the next
    // append.
  } while (
    queue.waiting.receipts.length > 0 &&
    (queue.failure === null || queue.waiting.written !== null || queue.waiting.synced !== null)
  );
  queue.running = null;
}

async function settle(queue: Queue): Promise<void> {
  while (queue.running !== null) await queue.running;
  if (queue.failure !== null) throw queue.failure;
}

function openIfNone({ chain, running }: Queue): void {
  if (running !== null || chain.file !== null) return;
  try {
    openChain(chain);
  } catch (error) {
    throw unavailable(error);
  }
}

/** Writes all it can, and tells those who wait. Never rejects. */
async function writeOut(
  chain: Segments,
  { receipts, written, synced }: Waiting,
): Promise<{ left: string[]; error: Error | null }> {
  let done = 0;
  try {
    if (synced !== null) chain.isDurable = true;
    while (done < receipts.length) {
      const batch = await writeSome(chain, receipts, done, synced !== null);
      done += batch.taken;
      if (batch.full) await rotate(chain);
    }
    written?.resolve();
    if (synced !== null) await syncSegment(chain);
    synced?.resolve();
    return { left: [], error: null };
  } catch (cause) {
    const error = unavailable(cause);
    written?.reject(error);
    synced?.reject(error);
    return { left: receipts.slice(done), error };
  }
}

const nothingWaiting = (): Waiting => ({ receipts: [], written: null, synced: null });

const bytesOf = (receipts: readonly string[]): number =>
  receipts.reduce((sum, { length }) => sum + length, 0);

function waiterFor({ waiting }: Queue, durability: 'write' | 'fsync'): Promise<void> {
  const waiter =
    durability === 'fsync'
      ? (waiting.synced ??= createWaiter())
      : (waiting.written ??= createWaiter());
  return waiter.promise;
}

function createWaiter(): Waiter {
  let resolve: () => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  // Whoever appended may not look at the promise at all.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

/**
 * Says what kind of failure it was. The system's own message names the file, and stays with the
 * host as the cause; a file that was put in the place of one of ours is named.
 */
export function unavailable(cause: unknown): Error {
  if (isAlliumError(cause, 'ERR_UNSAFE_FILE'))
    return new AlliumError(
      'ERR_RECEIPTS_UNAVAILABLE',
      `the receipts of a session could not be written: ${cause.message}`,
      {},
      { cause },
    );
  if (isAlliumError(cause)) return cause;
  const code =
    cause instanceof Error && 'code' in cause && typeof cause.code === 'string'
      ? cause.code
      : 'no reason known';
  return new AlliumError(
    'ERR_RECEIPTS_UNAVAILABLE',
    `the receipts of a session could not be written (${code})`,
    {},
    { cause },
  );
}
