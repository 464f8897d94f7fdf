/** Finds receipts in all chains of a place, oldest first. */

import { closeSync, readSync } from 'node:fs';
import { type ChainFound, findChains, segmentPath } from './find-chains.ts';
import { linesOf, openToRead } from './read-blocks.ts';
import { completeLength } from '../receipt-line.ts';
import {
  type FoundReceipt,
  type ReceiptFilter,
  searchChain,
  type SearchOptions,
} from './search-receipts.ts';
import { parseReceipt } from './stored-receipt.ts';

/** A chain that is being read, with the receipt that comes next. */
interface Open {
  readonly rest: AsyncGenerator<FoundReceipt, void, undefined>;
  next: FoundReceipt;
  time: number;
}

/**
 * Files that are read at the same time. Sessions beyond that come when another one has ended, and
 * then out of their order.
 */
const MAX_OPEN = 128;
/** Each of several chains is read in smaller pieces. Any receipt fits into one. */
const PIECE_BYTES = 128 * 1024;

/**
 * The receipts of a file or folder that fit, by time: a chain is opened when its first receipt is
 * due, so that what is held in memory goes with the sessions that ran at the same time. `limit` is
 * not looked at.
 */
export async function* searchAll(
  owner: string,
  fileOrFolder: string,
  filter: ReceiptFilter,
  options: SearchOptions = {},
): AsyncGenerator<FoundReceipt, void, undefined> {
  options.signal?.throwIfAborted();
  const chains = findChains(owner, fileOrFolder);
  const [only] = chains;
  if (only !== undefined && chains.length === 1) return yield* searchChain(only, filter, options);
  const waiting = chains
    .map((chain) => ({ chain, from: firstTime(chain) }))
    .sort((a, b) => a.from - b.from);
  const open: Open[] = [];
  try {
    for (;;) {
      let oldest = oldestOf(open);
      while (
        open.length < MAX_OPEN &&
        waiting[0] !== undefined &&
        (oldest === null || waiting[0].from <= oldest.time)
      ) {
        const { chain, from } = waiting.shift() ?? waiting[0];
        const rest = searchChain(chain, filter, { ...options, pieceBytes: PIECE_BYTES });
        const { value, done } = await rest.next();
        if (done !== true) open.push({ rest, next: value, time: timeOf(value, from) });
        oldest = oldestOf(open);
      }
      if (oldest === null) return;
      yield oldest.next;
      await advance(open, oldest);
    }
  } finally {
    for (const { rest } of open) await rest.return();
  }
}

async function advance(open: Open[], chain: Open): Promise<void> {
  const { value, done } = await chain.rest.next();
  if (done === true) return void open.splice(open.indexOf(chain), 1);
  chain.next = value;
  chain.time = timeOf(value, chain.time);
}

function oldestOf(open: readonly Open[]): Open | null {
  let oldest: Open | null = null;
  for (const one of open) if (oldest === null || one.time < oldest.time) oldest = one;
  return oldest;
}

/** A time that cannot be read counts as the one before it. */
const timeOf = ({ receipt }: FoundReceipt, before: number): number => {
  const time = Date.parse(receipt.emitted_at);
  return Number.isNaN(time) ? before : time;
};

/** When the first receipt of a chain was emitted. */
function firstTime(chain: ChainFound): number {
  const file = openToRead(segmentPath(chain, chain.segments[0] ?? 1));
  if (typeof file !== 'number') return Number.NEGATIVE_INFINITY;
  try {
    const bytes = Buffer.alloc(PIECE_BYTES);
    const read = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
    for (const line of linesOf(read.subarray(0, completeLength(read)))) {
      const time = Date.parse(parseReceipt(line)?.emitted_at ?? '');
      if (!Number.isNaN(time)) return time;
    }
    return Number.NEGATIVE_INFINITY;
  } finally {
    closeSync(file);
  }
}
