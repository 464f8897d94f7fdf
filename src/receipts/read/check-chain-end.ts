/**
 * Whether a chain that was followed to its last line went as far as was signed elsewhere: beside
 * it, and in the index.
 */

import { isSigned, type KnownKeys } from '../checkpoint.ts';
import { headFile } from '../chain-names.ts';
import type { ProblemList } from './problem-list.ts';
import { GENESIS } from '../receipt-line.ts';
import type { readSignedHead } from '../signed-head.ts';
import type { IndexedSession } from './verify-index.ts';

/** What is known of a chain when its last line was followed. */
export interface FollowedChain {
  readonly list: ProblemList;
  readonly keys: KnownKeys | null;
  readonly chain: string;
  readonly file: string;
  readonly line: number;
  readonly count: number;
  readonly head: string;
  readonly isHeadFound: boolean;
  /** What the index says of it. The index names a session only when its head is written. */
  readonly indexed: IndexedSession | null;
  /**
   * Ends that the index names and that were not met, by their hash, with the receipts there were.
   */
  readonly endsMissing: ReadonlyMap<string, number>;
}

/**
 * Tells what is missing at the end. What the head file tells is not told once more by the index.
 */
export function checkChainEnd(chain: FollowedChain, head: ReturnType<typeof readSignedHead>): void {
  if (!isCutByHead(chain, head)) checkEnds(chain);
}

/** What the index says about how far the chain went, also where the head was put back. */
function checkEnds({ list, endsMissing, file, line }: FollowedChain): void {
  for (const count of endsMissing.values()) {
    const message = `the index says that the session was closed with ${count} ${count === 1 ? 'receipt' : 'receipts'}, and that end is not there`;
    list.tell(file, line + 1, ['truncated', message]);
  }
}

/**
 * What the file beside the chain says about how far it went. Answers whether it told of receipts
 * that are gone.
 */
function isCutByHead(
  { list, keys, ...walk }: FollowedChain,
  head: ReturnType<typeof readSignedHead>,
): boolean {
  const file = headFile(walk.chain);
  const isBegun = walk.indexed?.isPruned === false;
  if (head === 'missing') {
    if (walk.count > 0 || isBegun)
      list.tell(file, 1, ['head_missing', 'the file with the newest signed head is not there']);
    return false;
  }
  // Killed between making the file and writing to it, which comes before the first line.
  if (head === null && walk.head === GENESIS && !isBegun) return false;
  if (head === null) {
    list.tell(file, 1, ['head_unreadable', 'the newest signed head cannot be read']);
    return false;
  }
  if (head.fields.chain !== walk.chain)
    list.tell(file, 1, ['name', 'the signed head belongs to a file of another name']);
  if (keys !== null && isSigned(head, keys) !== true)
    list.tell(file, 1, ['signature', 'the head was not signed with a key that was given']);
  // The head that is written before the first line is no line of the file, and has no entry to name
  // yet.
  const isBeforeFirst = head.fields.count === 0 && head.fields.entry === undefined;
  if (isBeforeFirst || walk.isHeadFound) return false;
  list.tell(walk.file, walk.line + 1, [
    'truncated',
    `${head.fields.count} receipts were signed, and the last of them are not there`,
  ]);
  return true;
}
