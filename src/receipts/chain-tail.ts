/** The last lines of a segment, read from its end: the newest checkpoint that counts, and what stands behind it. */

import { fstatSync, readSync } from 'node:fs';
import { CHECKPOINT_START, isSigned, type KnownKeys, parseCheckpoint } from './checkpoint.ts';
import { linesOf } from './read-blocks.ts';
import { LINE_FEED, openPart, placeOf } from './receipt-line.ts';
import { isReceipt } from './receipt-text.ts';

/** A checkpoint in its place: it has the hash it states, and speaks of the line before it and of its own file. */
export interface Boundary {
  readonly seq: number;
  readonly hash: string;
  /** Whether it ends its file. */
  readonly isEnd: boolean;
  readonly isSignedWith: (keys: KnownKeys) => boolean;
}

/** The end of a segment from a checkpoint on. */
export interface ChainTail {
  readonly boundary: Boundary;
  /** The lines behind it, without their line feeds. */
  readonly behind: readonly Buffer[];
  /** Where the checkpoint's line ends. */
  readonly offset: number;
}

const BLOCK_BYTES = 256 * 1024;
/** More than any writer leaves between two checkpoints of a file of the usual size. */
const MAX_TAIL_BYTES = 256 * 1024 * 1024;

/**
 * The newest checkpoint that is wanted. `null` where there is none within the last 256 MiB. The file must end with a line feed. `isWanted`
 * decides whose word counts: without the key anybody can write a checkpoint.
 */
export function tailBehind(
  file: number,
  place: { readonly chain: string; readonly segment: number },
  isWanted: (line: Boundary) => boolean,
): ChainTail | null {
  const { size } = fstatSync(file);
  for (let bytes = Math.min(BLOCK_BYTES, size); bytes > 0; bytes = Math.min(bytes * 4, size)) {
    const block = Buffer.alloc(bytes);
    const read = block.subarray(0, readSync(file, block, 0, bytes, size - bytes));
    // The first line of a block is whole only where the file begins with it.
    const lines = [...linesOf(bytes === size ? read : read.subarray(read.indexOf(LINE_FEED) + 1))];
    let offset = size;
    for (let nth = lines.length - 1; nth >= 0; nth -= 1) {
      const line = lines[nth] ?? block;
      const boundary = boundaryOf(line, place);
      if (boundary !== null && isWanted(boundary))
        return { boundary, behind: lines.slice(nth + 1), offset };
      offset -= line.length + 1;
    }
    if (bytes === size || bytes >= MAX_TAIL_BYTES) return null;
  }
  return null;
}

function boundaryOf(
  line: Buffer,
  { chain, segment }: { readonly chain: string; readonly segment: number },
): Boundary | null {
  if (line.toString('latin1', 0, CHECKPOINT_START.length) !== CHECKPOINT_START) return null;
  const place = placeOf(line);
  const checkpoint = parseCheckpoint(openPart(line.toString('latin1')));
  if (place === null || checkpoint === null || place.hash !== place.realHash) return null;
  const { fields } = checkpoint;
  if (fields.chain !== chain || fields.segment !== segment) return null;
  if (fields.count !== place.seq || fields.head !== place.prevHash) return null;
  const isSignedWith = (keys: KnownKeys): boolean => isSigned(checkpoint, keys) === true;
  return { seq: place.seq, hash: place.hash, isEnd: fields.end === true, isSignedWith };
}

/** The last of some lines, where all of them are receipts that follow one another. `null` where one is not. */
export function receiptsBehind(
  from: Boundary,
  lines: readonly Buffer[],
): { readonly seq: number; readonly hash: string } | null {
  let { seq, hash } = from;
  for (const line of lines) {
    const place = isReceipt(line.toString('latin1', 0, CHECKPOINT_START.length))
      ? placeOf(line)
      : null;
    if (
      place === null ||
      place.hash !== place.realHash ||
      place.prevHash !== hash ||
      place.seq !== seq + 1
    )
      return null;
    ({ seq, hash } = place);
  }
  return { seq, hash };
}
