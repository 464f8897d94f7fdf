/** Lays receipts out as lines of a chain, with the checkpoints between them. Writes nothing. */

import { isoTime } from '../core/clock.ts';
import type { Signer } from './checkpoint.ts';
import type { ChainEnd } from './open-chain.ts';
import { createLineBuffer } from './line-buffer.ts';
import { chainLine, type ChainedLine } from './receipt-line.ts';

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
  readonly bytes: Buffer;
  readonly end: ChainEnd;
  /** How many of the receipts are in it. */
  readonly taken: number;
  /** The newest checkpoint line. */
  readonly checkpoint: string | null;
  /** The segment has its size: the next line belongs to another one. */
  readonly full: boolean;
}

const MAX_BATCH_BYTES = 1024 * 1024;

/** The next lines of a chain for receipts that lack their closing brace. Takes as many as fit one segment and one write. */
export function renderBatch(rules: ChainRules, from: ChainEnd, receipts: readonly string[], start: number): Batch {
  const lines = createLineBuffer(roomFor(receipts, start));
  let { size, count, head, unsigned, signedAt } = from;
  let checkpoint: string | null = null;
  const add = (open: string): void => {
    head = lines.add(open, count, head);
    size = from.size + lines.size;
  };
  const sign = (cutBytes = 0): void => {
    add(openCheckpoint(rules, { ...from, count, head, cutBytes }));
    checkpoint = lines.lastLine();
    unsigned = 0;
    signedAt = rules.now();
  };
  if (from.due) sign(from.cutBytes);
  let index = start;
  for (; index < receipts.length && size < rules.maxFileBytes && size - from.size < MAX_BATCH_BYTES; index += 1) {
    count += 1;
    add(receipts[index] ?? '');
    unsigned += 1;
    if (unsigned >= rules.checkpointEvery) sign();
  }
  const full = size >= rules.maxFileBytes;
  if (unsigned > 0 && (full || rules.now() - signedAt >= rules.checkpointMs)) sign();
  const end = { segment: from.segment, size, count, head, unsigned, due: false, signedAt, cutBytes: 0 };
  return { bytes: lines.bytes(), end, taken: index - start, checkpoint, full };
}

/** Receipts as long as the first, and a checkpoint on each side. */
const roomFor = (receipts: readonly string[], start: number): number =>
  Math.min((receipts.length - start) * ((receipts[start]?.length ?? 0) + LINE_ROOM) + 2 * CHECKPOINT_ROOM, MAX_BATCH_BYTES);

const LINE_ROOM = 256;
const CHECKPOINT_ROOM = 1024;

/** A signed line that says where the chain stands. */
export const checkpointLine = (rules: ChainRules, end: ChainEnd): ChainedLine => chainLine(openCheckpoint(rules, end), end.count, end.head);

function openCheckpoint({ chain, signer, now }: ChainRules, { segment, count, head, cutBytes }: ChainEnd): string {
  const cut = cutBytes === 0 ? {} : { cut_bytes: cutBytes };
  return signer.sign({ chain, segment, count, head, time: isoTime(now()), ...cut });
}
