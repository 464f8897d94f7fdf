/**
 * Reads the index of a folder, says where it is not as it was written, what it knows of each
 * session, and whether a chain that was followed to its last line went as far as was signed
 * elsewhere: beside it, and in the index.
 */

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isSigned, isSignedLater, type KnownKeys } from '../checkpoint.ts';
import { GENESIS } from '../receipt-line.ts';
import { INDEX_FILE, type IndexEntry, parseEntry, signedEntry } from '../session-index.ts';
import { headFile } from '../chain-names.ts';
import type { readSignedHead } from '../signed-head.ts';
import { type Problem, type ProblemList, signatureProblem } from './problem-list.ts';
import { linesOf, readBlocks } from './read-blocks.ts';

/**
 * What was seen elsewhere: `count` and `head` of a file's report, or of a folder's `index`, at that
 * time.
 */
export interface Witness {
  readonly count: number;
  readonly head: string;
}

/** What the index says of a session. */
export interface IndexedSession {
  /** The ends its writers signed, by the hash of their line, with the receipts there were. */
  readonly ends: ReadonlyMap<string, number>;
  /** The receipts it had when it was last closed. */
  readonly count: number;
  /** Its files were removed on purpose. */
  readonly isPruned: boolean;
}

/** The same while entries are being read. */
interface SessionSoFar {
  ends: Map<string, number>;
  count: number;
  isPruned: boolean;
}

/** An entry takes half a kilobyte. */
const PIECE_BYTES = 64 * 1024;
/** Signatures that are looked at on other threads at the same time. */
const MAX_SIGNATURES = 32;

/** An index that was read. */
export interface SessionIndex {
  /** Whether there is one at all. */
  readonly isThere: boolean;
  readonly count: number;
  readonly head: string;
  readonly sessions: ReadonlyMap<string, IndexedSession>;
  /** Whether an entry with this number tells that the chain was begun. */
  hasOpened(entry: number, chain: string): boolean;
  /** Whether the entry with this number has this hash. */
  hasSeen(entry: number, hash: string): boolean;
}

/**
 * Follows the index of a folder. A torn last line is what a killed writer leaves, and no problem.
 */
export async function readSessionIndex(
  folder: string,
  keys: KnownKeys | null,
  list: ProblemList,
): Promise<SessionIndex> {
  const path = join(folder, INDEX_FILE);
  const sessions = new Map<string, SessionSoFar>();
  const entries: { readonly record: string; readonly chain: string; readonly hash: string }[] = [];
  let [line, seq, head, isThere] = [0, 0, GENESIS, true];
  const tell = (problem: Problem): void => list.tell(INDEX_FILE, line, problem);
  for await (const block of readBlocks(path, 0, PIECE_BYTES)) {
    if (block.kind === 'rest') continue;
    if (block.kind === 'unreadable')
      isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    if (block.kind === 'unreadable' && isThere)
      list.tell(INDEX_FILE, 1, ['unreadable', 'there is no file that can be read']);
    if (block.kind === 'too_long') tell(['malformed', 'the line is longer than an entry can be']);
    if (block.kind !== 'lines') continue;
    for (const bytes of linesOf(block.bytes)) {
      line += 1;
      const entry = parseEntry(bytes);
      const problem = entry === null ? MALFORMED : placeProblem(entry, seq, head);
      if (problem !== null) tell(problem);
      if (entry === null) continue;
      ({ seq, hash: head } = entry);
      // An entry that is not in its place says nothing about sessions.
      if (problem !== null) continue;
      if (keys !== null)
        list.tellLater(INDEX_FILE, line, async () =>
          signatureProblem('entry', await isSignedLater(signedEntry(entry), keys)),
        );
      await list.settle(MAX_SIGNATURES);
      entries[seq] = { record: entry.record, chain: entry.chain, hash: entry.hash };
      addEntry(sessions, entry);
    }
  }
  return {
    ...{ isThere, count: seq, head, sessions },
    hasOpened: (entry, chain) =>
      entries[entry]?.record === 'opened' && entries[entry].chain === chain,
    hasSeen: (entry, hash) => entries[entry]?.hash === hash,
  };
}

const MALFORMED: Problem = ['malformed', 'the line is no entry of an index'];

function placeProblem(entry: IndexEntry, seq: number, head: string): Problem | null {
  if (entry.hash !== entry.realHash)
    return ['hash', 'the entry was changed: it does not have the hash it states'];
  if (entry.prev_hash !== head)
    return [
      'chain',
      'the entry does not follow the one before it: entries were removed, added or moved',
    ];
  return entry.seq === seq + 1 ? null : ['sequence', 'the entry has the wrong number'];
}

function addEntry(
  sessions: Map<string, SessionSoFar>,
  { record, chain, count, head }: IndexEntry,
): void {
  const known = sessions.get(chain);
  // What is told behind a removal is told of another session of the same name.
  const session =
    known === undefined || known.isPruned
      ? { ends: new Map<string, number>(), count: 0, isPruned: false }
      : known;
  sessions.set(chain, session);
  if (record === 'pruned') session.isPruned = true;
  if (record !== 'closed') return;
  session.ends.set(head, count);
  session.count = count;
}

/** What is known of a chain when its last line was followed. */
interface FollowedChain {
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
