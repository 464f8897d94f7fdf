/** Follows one chain from its first line to its last, and says where it is not as it was written. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { headFile, segmentFile } from './chain-names.ts';
import { CHECKPOINT_START, isSigned, type KnownKeys, parseCheckpoint } from './checkpoint.ts';
import { type ChainFound, segmentPath } from './find-chains.ts';
import { linesOf, readBlocks } from './read-blocks.ts';
import { GENESIS, type LinePlace, openPart, placeOf } from './receipt-line.ts';
import { isReceipt } from './receipt-text.ts';
import { readSignedHead, type SignedHead } from './signed-head.ts';
import type { ProblemKind, TornTail, Witness } from './verify-receipts.ts';

/** Takes a problem down. */
export type Tell = (file: string, line: number, kind: ProblemKind, message: string) => void;

/** What one chain came to. */
export interface ChainReport {
  readonly count: number;
  readonly head: string | null;
  readonly tornTail: TornTail | null;
  /** Whether the chain holds what somebody outside has seen of it. */
  readonly isWitnessed: boolean;
}

/** What is known while a chain is followed. */
interface Walk {
  readonly chain: string;
  readonly keys: KnownKeys | null;
  readonly witness: Witness | null;
  readonly signed: SignedHead | null;
  readonly tell: Tell;
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
}

const UNKNOWN = '';

/** Reads the signed head before the lines: a live writer only ever adds, so what was signed by then must be found. */
export async function verifyChain(found: ChainFound, keys: KnownKeys | null, witness: Witness | null, tell: Tell): Promise<ChainReport> {
  const head = readSignedHead(join(found.folder, headFile(found.chain)));
  const walk = startWalk(found, keys, witness, head === 'missing' ? null : head, tell);
  let tornTail: TornTail | null = null;
  let expectedSegment = found.first;
  const segments = segmentsNow(found);
  for (const segment of segments) {
    if (segment !== expectedSegment)
      tell(segmentFile(found.chain, segment), 1, 'segment', `segment ${expectedSegment} is missing before it`);
    expectedSegment = segment + 1;
    const torn = await followSegment(walk, segmentPath(found, segment), segment);
    if (torn === null) continue;
    if (segment === segments.at(-1)) tornTail = torn;
    else tell(torn.file, torn.line, 'torn_line', 'the line has no end');
  }
  checkHead(walk, head);
  return { count: walk.count, head: walk.head === GENESIS ? null : walk.head, tornTail, isWitnessed: walk.isWitnessed };
}

/** A live writer may have begun another segment since they were listed. What it signed there is known by now. */
function segmentsNow(found: ChainFound): readonly number[] {
  const segments = [...found.segments];
  for (let next = (segments.at(-1) ?? 0) + 1; existsSync(segmentPath(found, next)); next += 1) segments.push(next);
  return segments;
}

function startWalk(found: ChainFound, keys: KnownKeys | null, witness: Witness | null, signed: SignedHead | null, tell: Tell): Walk {
  const start = found.first === 1 ? { seq: 0, head: GENESIS } : { seq: -1, head: UNKNOWN };
  const file = segmentFile(found.chain, found.first);
  return {
    ...{ chain: found.chain, keys, witness, signed, tell, file, segment: found.first, line: 0, count: 0 },
    ...{ ...start, realHead: UNKNOWN, isWitnessed: witness === null || witness.count === 0, isHeadFound: false },
  };
}

async function followSegment(walk: Walk, path: string, segment: number): Promise<TornTail | null> {
  walk.file = segmentFile(walk.chain, segment);
  walk.segment = segment;
  walk.line = 0;
  try {
    for await (const block of readBlocks(path)) {
      if (block.kind === 'rest') return { file: walk.file, line: walk.line + 1, bytes: block.length };
      if (block.kind === 'unreadable') lost(walk, 'unreadable', 'there is no file that can be read');
      else if (block.kind === 'too_long') lost(walk, 'malformed', 'the line is longer than a receipt can be');
      else for (const line of linesOf(block.bytes)) followLine(walk, line);
    }
  } catch {
    lost(walk, 'unreadable', 'the file cannot be read from here on');
  }
  return null;
}

function followLine(walk: Walk, line: Buffer): void {
  const place = placeOf(line);
  const start = line.toString('latin1', 0, CHECKPOINT_START.length);
  const isCheckpoint = start === CHECKPOINT_START;
  if (place === null || (!isCheckpoint && !isReceipt(start)))
    return lost(walk, 'malformed', 'the line is neither a receipt nor a checkpoint');
  walk.line += 1;
  if (!isCheckpoint) walk.count += 1;
  const problem = placeProblem(walk, place, isCheckpoint) ?? (isCheckpoint ? checkpointProblem(walk, line, place) : null);
  if (problem !== null) walk.tell(walk.file, walk.line, ...problem);
  if (walk.line === 1 && !isCheckpoint) walk.tell(walk.file, 1, 'unsigned', 'the first line is not a checkpoint');
  walk.seq = place.seq;
  walk.head = place.hash;
  walk.realHead = place.realHash;
  if (place.seq === walk.witness?.count && place.hash === walk.witness.head) walk.isWitnessed = true;
  if (place.hash === walk.signed?.hash) walk.isHeadFound = true;
}

/** A line that cannot be read has no hash, so the next one is taken at its word. */
function lost(walk: Walk, kind: ProblemKind, message: string): void {
  walk.line += 1;
  walk.tell(walk.file, walk.line, kind, message);
  walk.seq = -1;
  walk.head = UNKNOWN;
}

type Problem = readonly [kind: ProblemKind, message: string];

function placeProblem(walk: Walk, place: LinePlace, isCheckpoint: boolean): Problem | null {
  if (place.hash !== place.realHash) return ['hash', 'the line was changed: it does not have the hash it states'];
  // Of a line that was changed, either the text or the hash may be as it was written.
  const follows = walk.head === UNKNOWN || place.prevHash === walk.head || place.prevHash === walk.realHead;
  if (!follows) return ['chain', 'the line does not follow the one before it: lines were removed, added or moved'];
  if (walk.seq !== -1 && place.seq !== walk.seq + (isCheckpoint ? 0 : 1)) return ['sequence', 'the line has the wrong number'];
  return null;
}

function checkpointProblem(walk: Walk, line: Buffer, place: LinePlace): Problem | null {
  const checkpoint = parseCheckpoint(openPart(line));
  if (checkpoint === null) return ['malformed', 'the checkpoint cannot be read'];
  const { chain, segment, count, head } = checkpoint.fields;
  if (count !== place.seq || head !== place.prevHash) return ['checkpoint', 'the checkpoint does not speak of the line before it'];
  if (chain !== walk.chain || segment !== walk.segment) return ['name', 'the checkpoint belongs to a file of another name'];
  if (walk.keys === null) return null;
  const signed = isSigned(checkpoint, walk.keys);
  if (signed === null) return ['unknown_key', 'the checkpoint was signed with a key that was not given'];
  return signed ? null : ['signature', 'the checkpoint was not signed with the key it names'];
}

/** What the file beside the chain says about how far it went. */
function checkHead(walk: Walk, head: ReturnType<typeof readSignedHead>): void {
  const file = headFile(walk.chain);
  if (head === 'missing') {
    if (walk.keys !== null && walk.count > 0) walk.tell(file, 1, 'head_missing', 'the file with the newest signed head is not there');
    return;
  }
  // Killed between making the file and writing to it, which comes before the first line.
  if (head === null && walk.head === GENESIS) return;
  if (head === null) return walk.tell(file, 1, 'head_unreadable', 'the newest signed head cannot be read');
  if (head.fields.chain !== walk.chain) walk.tell(file, 1, 'name', 'the signed head belongs to a file of another name');
  if (walk.keys !== null && isSigned(head, walk.keys) !== true)
    walk.tell(file, 1, 'signature', 'the head was not signed with a key that was given');
  if (head.fields.count === 0 || walk.isHeadFound) return;
  walk.tell(walk.file, walk.line + 1, 'truncated', `${head.fields.count} receipts were signed, and the last of them are not there`);
}
