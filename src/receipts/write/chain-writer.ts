/**
 * Queues the receipts of a chain and writes them out: one write at a time, and everything that came
 * meanwhile in the next one.
 */

import { AlliumError, isAlliumError } from '../../core/contract/errors.ts';
import type { HashKey } from '../../core/json/hash-canonical.ts';
import { bytes, NOT_PLAIN } from '../../core/json/json-bytes.ts';
import type { Appended, Durability, Receipt, ReceiptDraft } from '../receipt.ts';
import { layOut, receiptOf } from './create-receipt.ts';
import { receiptText } from './receipt-text.ts';
import {
  addOpenBytes,
  addOpenText,
  giveBackBytes,
  joinedLines,
  openLines,
  type OpenLines,
} from './render-batch.ts';
import {
  closeSegments,
  openChain,
  rotate,
  rotateNow,
  type Segments,
  syncSegment,
  writeSome,
  writeSomeNow,
} from './segment-writer.ts';

/** Writes one chain. */
export interface ChainWriter {
  append(build: (uri: string) => Receipt, durability: Durability): Appended;
  appendDraft(draft: ReceiptDraft, durability: Durability): Appended;
  /**
   * Tries what failed once more. Rejects when it fails again, or when there is no file that could
   * be written to.
   */
  ready(): Promise<void> | null;
  /** Waits until everything appended so far is written. Rejects when something could not be. */
  flush(): Promise<void>;
  /**
   * Writes what waits, without waiting. `false` where it cannot: a write is under way, a receipt
   * has to be on disk, or something failed.
   */
  writeNow(): boolean;
  /** Signs the end and lets go of the files. Only for a writer that has written all, or failed. */
  closeNow(): void;
}

interface Waiter {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Receipts that go out in one write. All with the same durability share one promise. */
interface Waiting {
  /** `null` where there are none. */
  receipts: OpenLines | null;
  written: Waiter | null;
  synced: Waiter | null;
}

/** What failed is kept for another try, but not without end. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/**
 * How long receipts that no call waits for are gathered. A write of its own for each takes as long
 * as half a call, and the next call waits behind it.
 */
const GATHER_MS = 5;

const KEPT = Promise.resolve();

/** What a writer has before it. */
interface Queue {
  readonly chain: Segments;
  waiting: Waiting;
  /** What is being written. */
  taken: Waiting | null;
  /** The number of the receipt that was appended last. */
  seq: number;
  failure: Error | null;
  running: Promise<void> | null;
  /** Ends the gathering; `null` while nothing is gathered. */
  hurry: (() => void) | null;
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
  const queue = emptyQueue(chain);
  return {
    append(build, durability) {
      const seq = queue.seq + 1;
      const uri = uriOf(seq);
      const text = receiptText(build(uri), key);
      addOpenText(roomFor(queue, seq, text.length), text);
      return appended(queue, seq, uri, durability);
    },
    appendDraft(draft, durability) {
      const seq = queue.seq + 1;
      const uri = uriOf(seq);
      const length = layOut(draft, uri);
      if (length === NOT_PLAIN) {
        const text = receiptText(receiptOf(draft, uri), key);
        addOpenText(roomFor(queue, seq, text.length), text);
      } else addOpenBytes(roomFor(queue, seq, length), bytes, 0, length);
      return appended(queue, seq, uri, durability);
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
      if (queue.waiting.receipts !== null || queue.failure !== null) void start(queue);
      await settle(queue);
    },
    writeNow() {
      if (queue.taken !== null || queue.failure !== null || queue.waiting.synced !== null)
        return false;
      writeOutNow(queue);
      return queue.failure === null;
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

const emptyQueue = (chain: Segments): Queue => ({
  chain,
  waiting: nothingWaiting(),
  taken: null,
  seq: chain.end.count,
  failure: null,
  running: null,
  hurry: null,
});

/** Where the receipt that is number `seq` is added. */
function roomFor(queue: Queue, seq: number, length: number): OpenLines {
  if (queue.seq !== seq - 1)
    throw new Error('a receipt cannot be appended while another one is being built');
  const lines = (queue.waiting.receipts ??= openLines());
  const bytesBefore = lines.length + (queue.taken?.receipts?.length ?? 0);
  if (bytesBefore + length > MAX_WAITING_BYTES)
    throw queue.failure ?? new Error('too many receipts wait to be written');
  return lines;
}

function appended(queue: Queue, seq: number, uri: string, durability: Durability): Appended {
  queue.seq = seq;
  const kept = durability === 'background' ? KEPT : waiterFor(queue, durability);
  void start(queue);
  if (durability !== 'background') queue.hurry?.();
  return { uri, kept };
}

const start = (queue: Queue): Promise<void> => (queue.running ??= run(queue));

async function run(queue: Queue): Promise<void> {
  const { written, synced } = queue.waiting;
  // What is appended in one go is written in one go. Where no call waits for its receipt, calls
  // that are under way come first.
  await (written === null && synced === null ? gathered(queue) : KEPT);
  do {
    await writeOut(queue);
    // After a failure only receipts that calls wait for are tried at once; others go with the next
    // append.
  } while (
    queue.waiting.receipts !== null &&
    (queue.failure === null || queue.waiting.written !== null || queue.waiting.synced !== null)
  );
  queue.running = null;
}

const gathered = (queue: Queue): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => queue.hurry?.(), GATHER_MS);
    queue.hurry = () => {
      clearTimeout(timer);
      queue.hurry = null;
      resolve();
    };
  });

async function settle(queue: Queue): Promise<void> {
  queue.hurry?.();
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

/** Writes what waits, and settles its promises. Never rejects. */
async function writeOut(queue: Queue): Promise<void> {
  const { chain } = queue;
  const taken = take(queue);
  const { receipts, written, synced } = taken;
  let done = 0;
  try {
    if (synced !== null) chain.isDurable = true;
    while (receipts !== null && done < receipts.ends.length) {
      const batch = await writeSome(chain, receipts, done, synced !== null);
      done += batch.taken;
      if (batch.full) await rotate(chain);
    }
    written?.resolve();
    if (synced !== null) await syncSegment(chain);
    synced?.resolve();
    conclude(queue, taken, done, null);
  } catch (cause) {
    conclude(queue, taken, done, unavailable(cause));
  }
}

/** The same without waiting, where no receipt has to be on disk. Never throws. */
function writeOutNow(queue: Queue): void {
  const { chain } = queue;
  const taken = take(queue);
  const { receipts, written } = taken;
  let done = 0;
  try {
    while (receipts !== null && done < receipts.ends.length) {
      const batch = writeSomeNow(chain, receipts, done);
      done += batch.taken;
      if (batch.full) rotateNow(chain);
    }
    written?.resolve();
    conclude(queue, taken, done, null);
  } catch (cause) {
    conclude(queue, taken, done, unavailable(cause));
  }
}

function take(queue: Queue): Waiting {
  const taken = queue.waiting;
  queue.waiting = nothingWaiting();
  queue.taken = taken;
  return taken;
}

/** What could not be written waits again, before what came meanwhile. */
function conclude(queue: Queue, taken: Waiting, done: number, failure: Error | null): void {
  const { receipts, written, synced } = taken;
  const { waiting } = queue;
  queue.taken = null;
  queue.failure = failure;
  if (failure !== null) {
    written?.reject(failure);
    synced?.reject(failure);
  }
  if (receipts === null) return;
  if (done < receipts.ends.length) {
    const later = waiting.receipts;
    waiting.receipts = joinedLines(receipts, done, later);
    if (later !== null) giveBackBytes(later);
  }
  giveBackBytes(receipts);
}

const nothingWaiting = (): Waiting => ({ receipts: null, written: null, synced: null });

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
  // A caller of `append` may drop the promise.
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
