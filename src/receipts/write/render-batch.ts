/** Lays receipts out as lines of a chain, with the checkpoints between them. Writes nothing. */

import { isoTime } from '../../core/time/clock.ts';
import { addChainedLine, addLine, type BatchBytes, takeBytes } from './batch-bytes.ts';
import type { CheckpointNotes, Signer } from '../checkpoint.ts';
import type { ChainEnd } from './open-chain.ts';
import { chainLine, type ChainedLine } from '../receipt-line.ts';

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
