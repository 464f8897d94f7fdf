/** The newest receipts of a chain, and those that come. */

import { closeSync, existsSync, fstatSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Clock, systemClock } from '../core/clock.ts';
import { checkOptions, expected } from '../core/options.ts';
import { type ChainFound, findChains, segmentPath } from './find-chains.ts';
import { parseReceipt, type StoredReceipt } from './stored-receipt.ts';
import { followChains, type ReadUpTo } from './follow-chain.ts';
import { linesOf, openToRead } from './read-blocks.ts';
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

/**
 * The last receipts of a file and the segments after it, or of all chains of a folder, oldest first. Reads backwards: long files do not
 * take longer. With `follow` also those of sessions that begin later in the folder.
 */
export async function* tailReceipts(
  fileOrFolder: string,
  options: TailOptions = {},
): AsyncGenerator<StoredReceipt, void, undefined> {
  checkOptions('tailReceipts', options, {
    lines: expected.integer(0),
    follow: expected.boolean,
    signal: { text: 'an AbortSignal', test: (value) => value instanceof AbortSignal },
    clock: expected.object,
  });
  const { lines = 10, follow = false, signal, clock = systemClock } = options;
  const chains = findChains('tailReceipts', fileOrFolder);
  const isFolder = statSync(fileOrFolder).isDirectory();
  const from = new Map<string, ReadUpTo>();
  let newest: readonly StoredReceipt[] = [];
  for (const chain of chains) {
    if (signal?.aborted === true) return;
    const { receipts, end } = lastReceipts(chain, lines);
    from.set(chain.chain, { segment: chain.segments.at(-1) ?? chain.first, position: end });
    newest = chains.length === 1 ? receipts : newestOf([...newest, ...receipts], lines);
  }
  for (const receipt of newest) {
    if (signal?.aborted === true) return;
    yield receipt;
  }
  const folder = isFolder ? fileOrFolder : dirname(fileOrFolder);
  const list = (): readonly ChainFound[] =>
    isFolder && existsSync(folder) ? findChains('tailReceipts', folder) : chains;
  if (follow) yield* followChains({ folder, chains: list, from }, clock, signal);
}

/** By time; where it is the same, in the order of the files. Receipts of one chain have the order in which they were written. */
const newestOf = (receipts: readonly StoredReceipt[], wanted: number): readonly StoredReceipt[] =>
  wanted === 0 ? [] : receipts.toSorted((a, b) => timeOf(a) - timeOf(b)).slice(-wanted);

const timeOf = ({ emitted_at }: StoredReceipt): number => Date.parse(emitted_at) || 0;

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
function collectBackwards(
  path: string,
  found: StoredReceipt[],
  wanted: number,
  known: number | null,
): number {
  const file = openToRead(path);
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
      for (const line of [...linesOf(bytes.subarray(from, Math.max(from, to)))].reverse())
        addReceipt(found, line);
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
