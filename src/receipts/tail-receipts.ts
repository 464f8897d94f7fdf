/** The newest receipts of a chain, and those that come. */

import { closeSync, fstatSync, readSync } from 'node:fs';
import { type Clock, systemClock } from '../core/clock.ts';
import { checkOptions, expected } from '../core/options.ts';
import { type ChainFound, findChain, segmentPath } from './find-chains.ts';
import { openRegular } from './open-regular.ts';
import { parseReceipt, type StoredReceipt } from './query-receipts.ts';
import { followChain } from './follow-chain.ts';
import { linesOf } from './read-blocks.ts';
import { completeLength, LINE_FEED } from './receipt-line.ts';

/** How much is wanted. */
export interface TailOptions {
  /** How many receipts from the end. @default 10 */
  readonly lines?: number;
  /** Go on with those that come, also in later segments, until the signal is aborted. @default false */
  readonly follow?: boolean;
  /** Ends it. @default none */
  readonly signal?: AbortSignal;
  /** Where the system does not tell of changes, files are looked at every second by this clock. @default the system's clock */
  readonly clock?: Clock;
}

const BLOCK_BYTES = 64 * 1024;

/** The last receipts of a file and the segments after it, oldest first. Reads backwards: long files do not take longer. */
export async function* tailReceipts(file: string, options: TailOptions = {}): AsyncGenerator<StoredReceipt, void, undefined> {
  checkOptions('tailReceipts', options, {
    lines: expected.integer(0),
    follow: expected.boolean,
    signal: { text: 'an AbortSignal', test: (value) => value instanceof AbortSignal },
    clock: expected.object,
  });
  const { lines = 10, follow = false, signal, clock = systemClock } = options;
  const chain = findChain('tailReceipts', file);
  const last = chain.segments.at(-1) ?? chain.first;
  const { receipts, end } = lastReceipts(chain, lines);
  yield* receipts;
  if (follow) yield* followChain(chain, { segment: last, position: end }, clock, signal);
}

interface Found {
  readonly receipts: readonly StoredReceipt[];
  /** Where the complete lines of the last segment end. */
  readonly end: number;
}

function lastReceipts(chain: ChainFound, wanted: number): Found {
  const newestFirst: StoredReceipt[] = [];
  let end: number | null = null;
  for (const segment of chain.segments.toReversed()) {
    end = collectBackwards(segmentPath(chain, segment), newestFirst, wanted, end);
    if (newestFirst.length >= wanted) break;
  }
  return { receipts: newestFirst.slice(0, wanted).reverse(), end: end ?? 0 };
}

/** Adds the receipts of a file from its end on. Answers where its complete lines end, unless that is known from a later file. */
function collectBackwards(path: string, found: StoredReceipt[], wanted: number, known: number | null): number {
  const file = openRegular(path);
  if (typeof file !== 'number') return known ?? 0;
  try {
    let position = fstatSync(file).size;
    let complete = known;
    let later = Buffer.alloc(0);
    while (position > 0 && (found.length < wanted || complete === null)) {
      const block = Buffer.alloc(Math.min(BLOCK_BYTES, position));
      position -= readSync(file, block, 0, block.length, position - block.length);
      const bytes = Buffer.concat([block, later]);
      // What stands before the first line feed belongs to a line that begins further up.
      const from = position === 0 ? 0 : bytes.indexOf(LINE_FEED) + 1;
      const to = completeLength(bytes);
      complete ??= to === 0 ? null : position + to;
      for (const line of [...linesOf(bytes.subarray(from, Math.max(from, to)))].reverse()) addReceipt(found, line);
      later = bytes.subarray(0, from);
    }
    return complete ?? 0;
  } finally {
    closeSync(file);
  }
}

function addReceipt(found: StoredReceipt[], line: Buffer): void {
  const receipt = parseReceipt(line);
  if (receipt !== null) found.push(receipt);
}
