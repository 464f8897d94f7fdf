/** Waits for the receipts that come. */

import { existsSync, statSync, watch } from 'node:fs';
import type { Clock } from '../core/clock.ts';
import { type ChainFound, segmentPath } from './find-chains.ts';
import { parseReceipt, type StoredReceipt } from './stored-receipt.ts';
import { linesOf, readBlocks } from './read-blocks.ts';

/** How far a chain was read. */
export interface ReadUpTo {
  readonly segment: number;
  readonly position: number;
}

/** Where the system does not tell of changes, files are looked at this often. */
const LOOK_MS = 1000;

const BEGINNING: ReadUpTo = Object.freeze({ segment: 1, position: 0 });

/** What is followed: the chains there are each time one looks, and how far each was read. One that is not in `from` is new. */
export interface Followed {
  readonly folder: string;
  readonly chains: () => readonly ChainFound[];
  readonly from: ReadonlyMap<string, ReadUpTo>;
}

/** The receipts behind a place in each chain, as they come, until the signal is aborted. */
export async function* followChains(
  { folder, chains, from }: Followed,
  clock: Clock,
  signal: AbortSignal | undefined,
): AsyncGenerator<StoredReceipt, void, undefined> {
  const changes = watchFolder(folder, clock, signal);
  const readUpTo = new Map(from);
  try {
    while (signal?.aborted !== true) {
      changes.begin();
      for (const chain of chains()) {
        const now = yield* newReceipts(chain, readUpTo.get(chain.chain) ?? BEGINNING, signal);
        readUpTo.set(chain.chain, now);
      }
      await changes.next();
    }
  } finally {
    changes.stop();
  }
}

/** Everything behind a place, also in later segments. Answers how far it went. */
async function* newReceipts(
  chain: ChainFound,
  from: ReadUpTo,
  signal: AbortSignal | undefined,
): AsyncGenerator<StoredReceipt, ReadUpTo, undefined> {
  let { segment, position } = from;
  while (signal?.aborted !== true) {
    // Asked before reading: a writer has left a segment for good by the time it makes the next one.
    const isLeft = existsSync(segmentPath(chain, segment + 1));
    if (hasMore(segmentPath(chain, segment), position)) {
      for await (const block of readBlocks(segmentPath(chain, segment), position)) {
        if (block.kind === 'too_long') position += block.length;
        if (block.kind !== 'lines') continue;
        position += block.bytes.length;
        yield* receiptsIn(block.bytes);
      }
    }
    if (!isLeft) break;
    segment += 1;
    position = 0;
  }
  return { segment, position };
}

const hasMore = (path: string, position: number): boolean =>
  (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > position;

/** Read before anything is handed out: the bytes are not good for longer. */
const receiptsIn = (bytes: Buffer): readonly StoredReceipt[] =>
  [...linesOf(bytes)].map(parseReceipt).filter((receipt) => receipt !== null);

interface Changes {
  /** What happens from here on counts. */
  begin(): void;
  next(): Promise<void>;
  stop(): void;
}

function watchFolder(folder: string, clock: Clock, signal: AbortSignal | undefined): Changes {
  let isChanged = false;
  let wake: () => void = () => {};
  const tell = (): void => {
    isChanged = true;
    wake();
  };
  const watcher = watch(folder, { persistent: false }, tell);
  // Without it, looking now and then is all there is.
  watcher.on('error', () => {});
  signal?.addEventListener('abort', tell);
  return {
    begin() {
      isChanged = false;
    },
    next: () =>
      new Promise((resolve) => {
        if (isChanged || signal?.aborted === true) return resolve();
        let cancel: () => void = () => {};
        // Set before the timer is: a clock may be one that runs its task at once.
        wake = () => {
          cancel();
          resolve();
        };
        cancel = clock.after(LOOK_MS, tell);
      }),
    stop() {
      watcher.close();
      signal?.removeEventListener('abort', tell);
    },
  };
}
