/**
 * Queues the receipts of a chain and writes them out: one write at a time, and everything that came
 * meanwhile in the next one.
 */

import { AlliumError, isAlliumError } from '../../core/contract/errors.ts';
import type { HashKey } from '../../core/json/hash-canonical.ts';
import { bytes, NOT_PLAIN } from '../../core/json/json-bytes.ts';
import type { Appended, Durability, Receipt, ReceiptDraft } from '../receipt.ts';
import { layOut, receiptOf } from './build-receipt.ts';
import { receiptText } from './receipt-text.ts';
import {
  addLine,
  giveBackLines,
  joinedLines,
  openLines,
  type ReceiptLines,
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
  readonly receipts: ReceiptLines;
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
  waiting: Waiting | null;
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
 * A writer for an open chain. `file` is the URL that the URIs of its receipts begin with; `release`
 * gives the chain back.
 */
export function createChainWriter(
  chain: Segments,
  file: string,
  key: HashKey | null,
  release: () => void,
): ChainWriter {
  const queue: Queue = {
    chain,
    waiting: null,
    taken: null,
    seq: chain.end.count,
    failure: null,
    running: null,
    hurry: null,
  };
  const append: ChainWriter['append'] = (build, durability) => {
    const seq = queue.seq + 1;
    const uri = `${file}#seq=${seq}`;
    const open = Buffer.from(receiptText(build(uri), key), 'latin1');
    return { uri, kept: add(queue, seq, open, open.length, durability) };
  };
  return {
    append,
    appendDraft(draft, durability) {
      const seq = queue.seq + 1;
      const uri = `${file}#seq=${seq}`;
      const length = layOut(draft, uri);
      return length === NOT_PLAIN
        ? append((place) => receiptOf(draft, place), durability)
        : { uri, kept: add(queue, seq, bytes, length, durability) };
    },
    ready() {
      const hasFile = queue.running !== null || chain.file !== null;
      return queue.failure === null && hasFile ? null : makeReady(queue);
    },
    async flush() {
      if (queue.waiting !== null || queue.failure !== null) queue.running ??= run(queue, false);
      await settle(queue);
    },
    writeNow() {
      if (
        queue.taken !== null ||
        queue.failure !== null ||
        (queue.waiting?.synced ?? null) !== null
      )
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

/** Puts receipt number `seq` behind the others. Answers when it is kept. */
function add(
  queue: Queue,
  seq: number,
  open: Buffer,
  length: number,
  durability: Durability,
): Promise<void> {
  if (queue.seq !== seq - 1)
    throw new Error('a receipt cannot be appended while another one is being built');
  const bytesBefore = (queue.waiting?.receipts.length ?? 0) + (queue.taken?.receipts.length ?? 0);
  if (bytesBefore + length > MAX_WAITING_BYTES)
    throw queue.failure ?? new Error('too many receipts wait to be written');
  const waiting = (queue.waiting ??= nothingWaiting());
  addLine(waiting.receipts, open, length, seq);
  queue.seq = seq;
  let kept = KEPT;
  if (durability === 'write') kept = (waiting.written ??= createWaiter()).promise;
  if (durability === 'fsync') kept = (waiting.synced ??= createWaiter()).promise;
  queue.running ??= run(queue, kept !== KEPT);
  if (kept !== KEPT) queue.hurry?.();
  return kept;
}

const isAwaited = (waiting: Waiting): boolean =>
  waiting.written !== null || waiting.synced !== null;

/**
 * Writes what waits, and settles its promises. Never rejects. What is appended in one go is written
 * in one go. Where no call waits for its receipt, calls that are under way come first.
 */
async function run(queue: Queue, atOnce: boolean): Promise<void> {
  const { chain } = queue;
  await (atOnce ? KEPT : gathered(queue));
  do {
    const taken = queue.waiting ?? nothingWaiting();
    const { receipts, written, synced } = taken;
    queue.waiting = null;
    queue.taken = taken;
    let done = 0;
    try {
      if (synced !== null) chain.isDurable = true;
      while (done < receipts.ends.length) {
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
    // After a failure only receipts that calls wait for are tried at once; others go with the next
    // append.
  } while (queue.waiting !== null && (queue.failure === null || isAwaited(queue.waiting)));
  queue.running = null;
}

/** Resolves after `GATHER_MS`, or as soon as a receipt comes that a call waits for. */
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

/**
 * Tries what failed once more, and opens a file where there is none: a failed sync leaves nothing
 * to write, and no file either.
 */
async function makeReady(queue: Queue): Promise<void> {
  if (queue.failure !== null) queue.running ??= run(queue, false);
  await settle(queue);
  if (queue.running !== null || queue.chain.file !== null) return;
  try {
    openChain(queue.chain);
  } catch (error) {
    throw unavailable(error);
  }
}

/** What `run` does, without waiting, where no receipt has to be on disk. Never throws. */
function writeOutNow(queue: Queue): void {
  const { chain } = queue;
  const taken = queue.waiting ?? nothingWaiting();
  const { receipts, written } = taken;
  queue.waiting = null;
  queue.taken = taken;
  let done = 0;
  try {
    while (done < receipts.ends.length) {
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

/** What could not be written waits again, before what came meanwhile. */
function conclude(queue: Queue, taken: Waiting, done: number, failure: Error | null): void {
  const { receipts, written, synced } = taken;
  queue.taken = null;
  queue.failure = failure;
  if (failure !== null) {
    written?.reject(failure);
    synced?.reject(failure);
  }
  if (done < receipts.ends.length) {
    const later = queue.waiting ?? nothingWaiting();
    queue.waiting = { ...later, receipts: joinedLines(receipts, done, later.receipts) };
    giveBackLines(later.receipts);
  }
  giveBackLines(receipts);
}

const nothingWaiting = (): Waiting => ({ receipts: openLines(), written: null, synced: null });

/** A caller of `append` may drop the promise. */
const unheard = (): void => {};

function createWaiter(): Waiter {
  let resolve: Waiter['resolve'] = unheard;
  let reject: Waiter['reject'] = unheard;
  const promise = new Promise<void>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  promise.catch(unheard);
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
