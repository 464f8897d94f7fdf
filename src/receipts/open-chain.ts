/** Finds the end of a chain that another process left, and mends what a crash tore. */

import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKPOINT_START } from './checkpoint.ts';
import { headFile, segmentFile } from './chain-names.ts';
import { completeLength, GENESIS, placeOf } from './receipt-line.ts';
import { readSignedHead } from './signed-head.ts';

/** Where the next line of a chain goes. */
export interface ChainEnd {
  readonly segment: number;
  readonly size: number;
  /** Receipts so far. */
  readonly count: number;
  /** The hash of the last line. */
  readonly head: string;
  /** Receipts since the last checkpoint. */
  readonly unsigned: number;
  /** A checkpoint goes before the next receipt: a segment begins, or somebody else ended without one. */
  readonly due: boolean;
  /** When the last checkpoint was made by this writer. Before its first one, never. */
  readonly signedAt: number;
  readonly cutBytes: number;
}

/** The end of a chain that has no lines yet. */
export const NEW_CHAIN: ChainEnd = Object.freeze({
  segment: 1,
  size: 0,
  count: 0,
  head: GENESIS,
  unsigned: 0,
  due: true,
  signedAt: Number.NEGATIVE_INFINITY,
  cutBytes: 0,
});

/**
 * The end of a chain, its torn tail cut off and kept aside. `null` where the chain does not end as it was signed: it is left as it
 * is, for whoever looks into it.
 */
export function findEnd(folder: string, chain: string): ChainEnd | null {
  const head = readSignedHead(join(folder, headFile(chain)));
  const signed = head === 'missing' || head === null || head.fields.count === 0 ? null : head;
  const pathOf = (segment: number) => join(folder, segmentFile(chain, segment));
  const last = lastSegment(pathOf, signed?.fields.segment ?? 1);
  const cutBytes = cutTornTail(pathOf(last));
  const size = sizeOf(pathOf(last));
  if (signed !== null && !lineWith(pathOf(signed.fields.segment), ({ hash }) => hash === signed.hash)) return null;
  // A crash between the making of a segment and its first line leaves it empty.
  const written = size > 0 ? last : last - 1;
  if (written === 0) return NEW_CHAIN;
  const line = lineWith(pathOf(written), () => true);
  if (line === null) return null;
  const due = size === 0 || cutBytes > 0 || !line.isCheckpoint;
  return { segment: last, size, count: line.seq, head: line.hash, unsigned: 0, due, signedAt: Number.NEGATIVE_INFINITY, cutBytes };
}

function lastSegment(pathOf: (segment: number) => string, from: number): number {
  let segment = from;
  while (existsSync(pathOf(segment + 1))) segment += 1;
  return segment;
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

interface EndLine {
  readonly seq: number;
  readonly hash: string;
  readonly isCheckpoint: boolean;
}

const BLOCK_BYTES = 256 * 1024;

/** The last line that fits, looked for from the end. `null` where none does or the last line of all is damaged. */
function lineWith(path: string, fits: (line: EndLine) => boolean): EndLine | null {
  const size = sizeOf(path);
  for (let bytes = Math.min(BLOCK_BYTES, size); bytes > 0; bytes = Math.min(bytes * 4, size)) {
    // The first line of a block is whole only where the file begins with it.
    const texts = readEnd(path, size, bytes)
      .toString('latin1')
      .split('\n')
      .slice(bytes === size ? 0 : 1, -1);
    const lines = texts.map(endLine).reverse();
    if (lines[0] === null) return null;
    const found = lines.find((line) => line !== null && fits(line));
    if (found !== undefined) return found;
    if (bytes === size) return null;
  }
  return null;
}

function readEnd(path: string, size: number, bytes: number): Buffer {
  const block = Buffer.alloc(bytes);
  const file = openSync(path, 'r');
  try {
    return block.subarray(0, readSync(file, block, 0, bytes, size - bytes));
  } finally {
    closeSync(file);
  }
}

function endLine(text: string): EndLine | null {
  const place = placeOf(Buffer.from(text, 'latin1'));
  if (place === null || place.hash !== place.realHash) return null;
  return { seq: place.seq, hash: place.hash, isCheckpoint: text.startsWith(CHECKPOINT_START) };
}

/** Cuts a torn line off and keeps it in `<file>.torn-<size>`. Answers how many bytes it had. */
function cutTornTail(path: string): number {
  if (sizeOf(path) === 0) return 0;
  const file = openSync(path, 'r+');
  try {
    const { size } = fstatSync(file);
    const keep = lastLineEnd(file, size);
    if (keep === size) return 0;
    const torn = Buffer.alloc(Math.min(size - keep, BLOCK_BYTES));
    readSync(file, torn, 0, torn.length, keep);
    writeFileSync(`${path}.torn-${keep}`, torn, { mode: 0o600 });
    ftruncateSync(file, keep);
    return size - keep;
  } finally {
    closeSync(file);
  }
}

function lastLineEnd(file: number, size: number): number {
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let end = size; end > 0; end -= Math.min(end, BLOCK_BYTES)) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const complete = completeLength(block.subarray(0, readSync(file, block, 0, end - start, start)));
    if (complete > 0) return start + complete;
  }
  return 0;
}
