/**
 * The next lines of a chain, put together as bytes for one write: a line is hashed where it lies,
 * and goes to the system from there. As texts, the same lines would be copied three times, and be
 * garbage each time.
 */

import {
  CHAIN_FIELDS,
  DIGEST_LENGTH,
  digestOf,
  chainLine,
  type ChainedLine,
} from '../receipt-line.ts';
import { isoTime } from '../../core/time/clock.ts';
import type { CheckpointNotes, Signer } from '../checkpoint.ts';
import type { ChainEnd } from './open-chain.ts';

/** What a chain is laid out by. */
export interface ChainRules {
  readonly chain: string;
  readonly signer: Signer;
  readonly checkpointEvery: number;
  readonly checkpointMs: number;
  readonly maxFileBytes: number;
  readonly now: () => number;
}

/** Some lines, and where the chain ends once they are written. */
export interface Batch {
  readonly lines: BatchBytes;
  readonly end: ChainEnd;
  /** How many of the receipts are in it. */
  readonly taken: number;
  /** The newest checkpoint line. */
  readonly checkpoint: string | null;
  /** The segment has its size: the next line belongs to another one. */
  readonly full: boolean;
}

const MAX_BATCH_BYTES = 1024 * 1024;

/**
 * The next lines of a chain for receipts that lack their closing brace. Takes as many as fit one
 * segment and one write.
 */
export function renderBatch(
  rules: ChainRules,
  from: ChainEnd,
  receipts: readonly string[],
  start: number,
): Batch {
  // One more for a checkpoint.
  const lines = takeBytes(receipts.length - start + 1);
  let { count, head, unsigned, signedAt } = from;
  let checkpoint: string | null = null;
  const sign = (notes: CheckpointNotes = {}): void => {
    const { text, hash } = checkpointLine(rules, { ...from, count, head }, notes);
    addLine(lines, text);
    head = hash;
    checkpoint = text;
    unsigned = 0;
    signedAt = rules.now();
  };
  if (from.due) sign(from.notes);
  const room = Math.min(rules.maxFileBytes - from.size, MAX_BATCH_BYTES);
  let index = start;
  // One in any case: a segment that could not be left although it is full goes on.
  for (; index < receipts.length && (index === start || lines.length < room); index += 1) {
    count += 1;
    head = addChainedLine(lines, receipts[index] ?? '', count, head);
    unsigned += 1;
    if (unsigned >= rules.checkpointEvery) sign();
  }
  const full = from.size + lines.length >= rules.maxFileBytes;
  if (full) sign({ end: true });
  else if (unsigned > 0 && rules.now() - signedAt >= rules.checkpointMs) sign();
  const size = from.size + lines.length;
  const end = {
    segment: from.segment,
    size,
    count,
    head,
    unsigned,
    due: full,
    signedAt,
    notes: {},
    isEnded: full,
  };
  return { lines, end, taken: index - start, checkpoint, full };
}

/** A signed line that says where the chain stands. */
export function checkpointLine(
  { chain, signer, now }: ChainRules,
  { segment, count, head }: ChainEnd,
  notes: CheckpointNotes,
): ChainedLine {
  return chainLine(
    signer.sign({ chain, segment, count, head, time: isoTime(now()), ...notes }),
    count,
    head,
  );
}

/** Lines in ASCII, and how much of the buffer they take. */
export interface BatchBytes {
  buffer: Buffer;
  length: number;
}

const { SEQ, PREV, HASH, END } = CHAIN_FIELDS;
/** The quote before it belongs to what is hashed. */
const HASH_FIELD = HASH.slice(1);
/** The chain fields with the longest number, and the line feed. */
const MAX_CHAIN_LENGTH =
  SEQ.length + 16 + PREV.length + DIGEST_LENGTH + HASH.length + DIGEST_LENGTH + END.length + 1;
/** What a receipt of the usual size takes with room to spare. Longer ones make the buffer grow. */
const LINE_BYTES = 2048;
/** A larger one is not kept. Twice the most that one write takes. */
const MAX_KEPT_BYTES = 2 * 1024 * 1024;

/**
 * One is kept for the next batch, whoever's it is. Chains that write at the same time have one
 * each.
 */
let spare: Buffer | null = null;

/** Nothing yet, with room for about so many lines. */
export function takeBytes(lineCount: number): BatchBytes {
  const buffer = spare ?? Buffer.allocUnsafeSlow(Math.min(lineCount * LINE_BYTES, MAX_KEPT_BYTES));
  spare = null;
  return { buffer, length: 0 };
}

/**
 * Lets go of the bytes. Only once, and only when nobody reads them any more: another batch is
 * written over them.
 */
export function giveBackBytes({ buffer }: BatchBytes): void {
  if (buffer.length <= MAX_KEPT_BYTES && buffer.length >= (spare?.length ?? 0)) spare = buffer;
}

/** The lines themselves, good until they are given back. */
export const bytesOf = ({ buffer, length }: BatchBytes): Buffer => buffer.subarray(0, length);

/** Adds a line that is complete. */
export function addLine(lines: BatchBytes, text: string): void {
  makeRoom(lines, text.length);
  lines.length += lines.buffer.write(text, lines.length, 'latin1');
}

/** Adds what `chainLine` makes of the same. Answers the hash of the line. */
export function addChainedLine(
  lines: BatchBytes,
  open: string,
  seq: number,
  prevHash: string,
): string {
  makeRoom(lines, open.length + MAX_CHAIN_LENGTH);
  const { buffer, length: start } = lines;
  let at = start + buffer.write(open, start, 'latin1');
  at += buffer.write(`${SEQ}${seq}${PREV}${prevHash}"`, at, 'latin1');
  // A plain view is made faster than a slice of a buffer.
  const hash = digestOf(new Uint8Array(buffer.buffer, buffer.byteOffset + start, at - start));
  lines.length = at + buffer.write(`${HASH_FIELD}${hash}${END}\n`, at, 'latin1');
  return hash;
}

function makeRoom(lines: BatchBytes, more: number): void {
  const { buffer, length } = lines;
  if (length + more <= buffer.length) return;
  lines.buffer = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, length + more));
  buffer.copy(lines.buffer, 0, 0, length);
}
