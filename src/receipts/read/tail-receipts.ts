/** The newest receipts of a chain, and those that come. */

import { closeSync, existsSync, fstatSync, readSync, statSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { checkOptions, expected } from '../../core/contract/options.ts';
import { type Clock, systemClock } from '../../core/time/clock.ts';
import { completeLength, LINE_FEED } from '../receipt-line.ts';
import { type ChainFound, findChains, segmentPath } from './find-chains.ts';
import { linesOf, openToRead, readBlocks } from './read-blocks.ts';
import { parseReceipt, type StoredReceipt } from './stored-receipt.ts';

/** How much is wanted. */
export interface TailOptions {
  /** How many receipts from the end. @default 10 */
  readonly lines?: number;
  /**
   * Go on with those that come, also in later segments, until the signal is aborted. @default false
   */
  readonly follow?: boolean;
  /** Ends it. @default none */
  readonly signal?: AbortSignal;
  /**
   * Where the system does not tell of changes, files are looked at every second by this clock.
   * @default the system's clock
   */
  readonly clock?: Clock;
}

const BLOCK_BYTES = 64 * 1024;

/**
 * The last receipts of a file and the segments after it, or of all chains of a folder, oldest
 * first. Reads backwards: long files do not take longer. With `follow` also those of sessions that
 * begin later in the folder.
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

/**
 * By time; where it is the same, in the order of the files. Receipts of one chain have the order in
 * which they were written.
 */
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

/**
 * Adds the receipts of a file from its end on. Answers where its complete lines end, unless that is
 * known from a later file.
 */
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

/** How far a chain was read. */
interface ReadUpTo {
  readonly segment: number;
  readonly position: number;
}

/** Where the system does not tell of changes, files are looked at this often. */
const LOOK_MS = 1000;

const BEGINNING: ReadUpTo = Object.freeze({ segment: 1, position: 0 });

/**
 * What is followed: the chains there are each time one looks, and how far each was read. One that
 * is not in `from` is new.
 */
interface Followed {
  readonly folder: string;
  readonly chains: () => readonly ChainFound[];
  readonly from: ReadonlyMap<string, ReadUpTo>;
}

/** The receipts behind a place in each chain, as they come, until the signal is aborted. */
async function* followChains(
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
