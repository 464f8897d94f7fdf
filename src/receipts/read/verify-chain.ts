/**
 * Follows one chain from its first line to its last, and says where it is not as it was written.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { headFile, segmentFile } from '../chain-names.ts';
import { checkChainEnd, type IndexedSession, type Witness } from './verify-index.ts';
import { CHECKPOINT_START, isSignedLater, type KnownKeys, parseCheckpoint } from '../checkpoint.ts';
import { type ChainFound, segmentPath } from './find-chains.ts';
import {
  type Problem,
  type ProblemKind,
  type ProblemList,
  signatureProblem,
} from './problem-list.ts';
import { type Block, readBlocks } from './read-blocks.ts';
import { isNextReceipt, statedHashAt } from './plain-line.ts';
import {
  DIGEST_LENGTH,
  GENESIS,
  LINE_FEED,
  type LinePlace,
  openPart,
  placeOf,
} from '../receipt-line.ts';
import { isReceipt } from '../write/receipt-text.ts';
import { readSignedHead, type SignedHead } from '../signed-head.ts';

/**
 * A line at the end of a file that has no end: a crash tore it, or it is being written just now.
 */
export interface TornTail {
  readonly file: string;
  readonly line: number;
  readonly bytes: number;
}

/** What a chain is verified with. */
interface VerifyWith {
  readonly keys: KnownKeys | null;
  readonly witness: Witness | null;
  readonly list: ProblemList;
  /**
   * What the folder's index says of the chain. `null` where nothing does, or only a file was asked
   * for.
   */
  readonly indexed: IndexedSession | null;
  /** Called after each piece of a file with its bytes and receipts. May throw to end it all. */
  readonly onPiece: (bytes: number, receipts: number) => void;
}

/** What one chain came to. */
export interface ChainReport {
  readonly count: number;
  readonly head: string | null;
  readonly tornTail: TornTail | null;
  /** Whether the chain holds what `witness` says was seen of it. */
  readonly isWitnessed: boolean;
  /** Receipts behind the newest checkpoint. */
  readonly unsigned: number;
  /** Receipts that were signed by a writer that had not written them. */
  readonly found: number;
  /** Bytes that were moved out of the files, because they stood behind an end. */
  readonly asideBytes: number;
  /** Which entry of the index the chain says it is. */
  readonly entry: number | null;
}

/** What is known while a chain is followed. */
interface Walk extends VerifyWith {
  readonly chain: string;
  readonly signed: SignedHead | null;
  file: string;
  segment: number;
  line: number;
  count: number;
  seq: number;
  head: string;
  /** The hash that the last line really has, where it is not the one it states. */
  realHead: string;
  isWitnessed: boolean;
  isHeadFound: boolean;
  /** The last line ends its file. */
  isEnded: boolean;
  /** Receipts up to the newest checkpoint. */
  signedCount: number;
  found: number;
  asideBytes: number;
  entry: number | null;
  /** Ends that the index names and that were not met yet, by their hash. */
  readonly endsMissing: Map<string, number>;
}

const UNKNOWN = '';

/** Signatures that are looked at on other threads while the lines behind them are followed. */
const MAX_SIGNATURES = 32;

/**
 * Reads the signed head before the lines: a live writer only ever adds, so what was signed by then
 * must be found.
 */
export async function verifyChain(found: ChainFound, given: VerifyWith): Promise<ChainReport> {
  const head = readSignedHead(join(found.folder, headFile(found.chain)));
  const walk = startWalk(found, given, head === 'missing' ? null : head);
  let tornTail: TornTail | null = null;
  let expectedSegment = found.first;
  const segments = segmentsNow(found);
  for (const segment of segments) {
    if (segment !== expectedSegment)
      walk.list.tell(segmentFile(found.chain, segment), 1, [
        'segment',
        `segment ${expectedSegment} is missing before it`,
      ]);
    expectedSegment = segment + 1;
    const torn = await followSegment(walk, segmentPath(found, segment), segment);
    if (torn === null) continue;
    if (segment === segments.at(-1)) tornTail = torn;
    else walk.list.tell(torn.file, torn.line, ['torn_line', 'the line has no end']);
  }
  checkChainEnd(walk, head);
  const { count, isWitnessed, found: foundCount, asideBytes, entry } = walk;
  const ends = { unsigned: count - walk.signedCount, found: foundCount, asideBytes, entry };
  return { count, head: walk.head === GENESIS ? null : walk.head, tornTail, isWitnessed, ...ends };
}

/**
 * A live writer may have begun another segment since they were listed. What it signed there is
 * known by now.
 */
function segmentsNow(found: ChainFound): readonly number[] {
  const segments = [...found.segments];
  for (let next = (segments.at(-1) ?? 0) + 1; existsSync(segmentPath(found, next)); next += 1)
    segments.push(next);
  return segments;
}

function startWalk(found: ChainFound, given: VerifyWith, signed: SignedHead | null): Walk {
  const { witness, indexed } = given;
  const isWhole = found.first === 1;
  return {
    ...given,
    chain: found.chain,
    signed,
    file: segmentFile(found.chain, found.first),
    segment: found.first,
    line: 0,
    count: 0,
    seq: isWhole ? 0 : -1,
    head: isWhole ? GENESIS : UNKNOWN,
    realHead: UNKNOWN,
    isWitnessed: witness === null || witness.count === 0,
    isHeadFound: false,
    isEnded: false,
    signedCount: 0,
    found: 0,
    asideBytes: 0,
    entry: null,
    endsMissing: new Map(indexed?.ends),
  };
}

async function followSegment(walk: Walk, path: string, segment: number): Promise<TornTail | null> {
  walk.file = segmentFile(walk.chain, segment);
  walk.segment = segment;
  walk.line = 0;
  walk.isEnded = false;
  for await (const block of blocksOf(path)) {
    const before = walk.count;
    if (block.kind === 'rest') return { file: walk.file, line: walk.line + 1, bytes: block.length };
    if (block.kind === 'unreadable') lost(walk, 'unreadable', 'there is no file that can be read');
    else if (block.kind === 'failed')
      lost(walk, 'unreadable', 'the file cannot be read from here on');
    else if (block.kind === 'too_long')
      lost(walk, 'malformed', 'the line is longer than a receipt can be');
    else followLines(walk, block.bytes);
    walk.onPiece(bytesIn(block), walk.count - before);
    await walk.list.settle(MAX_SIGNATURES);
  }
  return null;
}

/** The pieces of a file. That it cannot be read any further is one of them. */
async function* blocksOf(
  path: string,
): AsyncGenerator<Block | { readonly kind: 'failed' }, void, undefined> {
  try {
    yield* readBlocks(path);
  } catch {
    yield { kind: 'failed' };
  }
}

function bytesIn(block: Block | { readonly kind: 'failed' }): number {
  if (block.kind === 'lines') return block.bytes.length;
  return block.kind === 'too_long' ? block.length : 0;
}

function followLines(walk: Walk, bytes: Buffer): void {
  const plain = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
  /** Where the hash of the line before stands, while that line is right and in this piece. */
  let headAt = -1;
  for (
    let start = 0, end = bytes.indexOf(LINE_FEED);
    end !== -1;
    start = end + 1, end = bytes.indexOf(LINE_FEED, start)
  ) {
    let isWhole =
      headAt !== -1 &&
      !walk.isEnded &&
      walk.seq + 1 !== walk.witness?.count &&
      isNextReceipt(plain, start, end, walk.seq + 1, headAt);
    if (isWhole) {
      walk.line += 1;
      walk.count += 1;
      walk.seq += 1;
    } else {
      if (headAt !== -1) takeHead(walk, bytes, headAt);
      isWhole = followLine(walk, bytes.subarray(start, end));
    }
    headAt = isWhole ? statedHashAt(end) : -1;
  }
  if (headAt !== -1) takeHead(walk, bytes, headAt);
}

function takeHead(walk: Walk, bytes: Buffer, at: number): void {
  walk.head = bytes.toString('latin1', at, at + DIGEST_LENGTH);
  walk.realHead = walk.head;
}

const BEHIND_END: Problem = [
  'after_end',
  'the line stands behind the end of the file: no writer of ours wrote it',
];

/** Answers whether the line has the hash it states. */
function followLine(walk: Walk, line: Buffer): boolean {
  const place = placeOf(line);
  const start = line.toString('latin1', 0, CHECKPOINT_START.length);
  const isCheckpoint = start === CHECKPOINT_START;
  if (place === null || (!isCheckpoint && !isReceipt(start))) {
    lost(walk, 'malformed', 'the line is neither a receipt nor a checkpoint');
    return false;
  }
  walk.line += 1;
  if (!isCheckpoint) walk.count += 1;
  const isBehindEnd = walk.isEnded && !isCheckpoint;
  const problem =
    placeProblem(walk, place, isCheckpoint) ??
    (isCheckpoint ? checkpointProblem(walk, line, place) : null) ??
    (isBehindEnd ? BEHIND_END : null);
  if (problem !== null) walk.list.tell(walk.file, walk.line, problem);
  if (walk.line === 1 && !isCheckpoint)
    walk.list.tell(walk.file, 1, ['unsigned', 'the first line is not a checkpoint']);
  walk.seq = place.seq;
  walk.head = place.hash;
  walk.realHead = place.realHash;
  if (place.seq === walk.witness?.count && place.hash === walk.witness.head)
    walk.isWitnessed = true;
  if (place.hash === walk.signed?.hash) walk.isHeadFound = true;
  return place.hash === place.realHash;
}

/** A line that cannot be read has no hash, so the next one is taken at its word. */
function lost(walk: Walk, kind: ProblemKind, message: string): void {
  walk.line += 1;
  walk.list.tell(walk.file, walk.line, [kind, message]);
  walk.seq = -1;
  walk.head = UNKNOWN;
}

function placeProblem(walk: Walk, place: LinePlace, isCheckpoint: boolean): Problem | null {
  if (place.hash !== place.realHash)
    return ['hash', 'the line was changed: it does not have the hash it states'];
  // Of a line that was changed, either the text or the hash may be as it was written.
  const follows =
    walk.head === UNKNOWN || place.prevHash === walk.head || place.prevHash === walk.realHead;
  if (!follows)
    return [
      'chain',
      'the line does not follow the one before it: lines were removed, added or moved',
    ];
  if (walk.seq !== -1 && place.seq !== walk.seq + (isCheckpoint ? 0 : 1))
    return ['sequence', 'the line has the wrong number'];
  return null;
}

function checkpointProblem(walk: Walk, line: Buffer, place: LinePlace): Problem | null {
  const checkpoint = parseCheckpoint(openPart(line.toString('latin1')));
  if (checkpoint === null) return ['malformed', 'the checkpoint cannot be read'];
  const { chain, segment, count, head, end, found = 0, aside_bytes = 0, entry } = checkpoint.fields;
  if (count !== place.seq || head !== place.prevHash)
    return ['checkpoint', 'the checkpoint does not speak of the line before it'];
  if (chain !== walk.chain || segment !== walk.segment)
    return ['name', 'the checkpoint belongs to a file of another name'];
  walk.isEnded = end === true;
  walk.signedCount = walk.count;
  walk.found += found;
  walk.asideBytes += aside_bytes;
  walk.entry ??= entry ?? null;
  walk.endsMissing.delete(place.hash);
  const { keys } = walk;
  if (keys !== null)
    walk.list.tellLater(walk.file, walk.line, async () =>
      signatureProblem('checkpoint', await isSignedLater(checkpoint, keys)),
    );
  return null;
}
