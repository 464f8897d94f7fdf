/**
 * Finds the end of a chain that another process left, mends what a crash tore, and moves aside what
 * stands behind an end.
 */

import { closeSync, fstatSync, ftruncateSync, lstatSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { openRegular } from '../../system/open-regular.ts';
import { headFile, segmentFile } from '../chain-names.ts';
import {
  CHECKPOINT_START,
  type CheckpointNotes,
  isSigned,
  type KnownKeys,
  parseCheckpoint,
  type Signer,
} from '../checkpoint.ts';
import { linesOf } from '../read/read-blocks.ts';
import { GENESIS, LINE_FEED, openPart, placeOf } from '../receipt-line.ts';
import { readSignedHead } from '../signed-head.ts';
import { keepAside, lastLineEnd } from './keep-aside.ts';
import { isReceipt } from './receipt-text.ts';

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
  /**
   * A checkpoint goes before the next receipt: a segment begins, the last line is an end, or
   * another process ended without one.
   */
  readonly due: boolean;
  /** When the last checkpoint was made by this writer. Before its first one, never. */
  readonly signedAt: number;
  /** What the checkpoint that is due says about how the chain was found. */
  readonly notes: CheckpointNotes;
  /** The last line is an end, or there is no line at all: closing has nothing to sign. */
  readonly isEnded: boolean;
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
  notes: {},
  isEnded: true,
});

/**
 * The end of a chain, its torn tail cut off and kept aside, and likewise everything behind a
 * closing checkpoint of `signer`: no writer with the key has written it. `null` where the chain
 * does not end as it was signed: it stays as it is, as evidence.
 */
export function findEnd(folder: string, chain: string, signer: Signer): ChainEnd | null {
  const head = readSignedHead(join(folder, headFile(chain)));
  const signed = head === 'missing' || head === null || head.fields.count === 0 ? null : head;
  const pathOf = (segment: number) => join(folder, segmentFile(chain, segment));
  const last = lastSegment(pathOf, signed?.fields.segment ?? 1);
  const { size, cutBytes } = cutTornTail(pathOf(last));
  const isHead = ({ hash }: Boundary): boolean => hash === signed?.hash;
  if (
    signed !== null &&
    tailIn(pathOf(signed.fields.segment), { chain, segment: signed.fields.segment }, isHead) ===
      null
  )
    return null;
  // A crash between the making of a segment and its first line leaves it empty.
  const written = size > 0 ? last : last - 1;
  if (written === 0) return NEW_CHAIN;
  const place = { chain, segment: written };
  const isOwn = ({ isSignedWith }: Boundary): boolean => isSignedWith(signer.keys);
  // Only where the key was replaced is the word of the head file enough.
  const tail = tailIn(pathOf(written), place, isOwn) ?? tailIn(pathOf(written), place, isHead);
  if (tail === null) return null;
  const cut = cutBytes > 0 ? { cut_bytes: cutBytes } : {};
  const from = { segment: last, size, unsigned: 0, signedAt: Number.NEGATIVE_INFINITY };
  return tail.boundary.isEnd
    ? endedAt(pathOf(written), tail, from, cut)
    : goesOnAt(tail, from, cut);
}

type From = Pick<ChainEnd, 'segment' | 'size' | 'unsigned' | 'signedAt'>;

/** Where the newest signed line is an end: what stands behind it goes. */
function endedAt(
  path: string,
  { boundary, behind, offset }: ChainTail,
  from: From,
  cut: CheckpointNotes,
): ChainEnd {
  const { seq: count, hash } = boundary;
  const bytes = behind.reduce((sum, line) => sum + line.length + 1, 0);
  const end = { ...from, count, head: hash, due: true };
  // What was cut or moved is told by a checkpoint also when nothing else is written.
  if (bytes === 0) return { ...end, notes: cut, isEnded: cut.cut_bytes === undefined };
  const kept = moveBehind(path, offset);
  process.emitWarning(
    `${path}: ${bytes} bytes behind the closing checkpoint were written by nobody here, and moved to ${kept}`,
    {
      type: 'AlliumWarning',
      code: 'ALLIUM_RECEIPTS_ASIDE',
    },
  );
  return {
    ...end,
    size: from.size === 0 ? 0 : offset,
    notes: { ...cut, aside_bytes: bytes },
    isEnded: false,
  };
}

/**
 * Where a writer ended without a closing checkpoint: its last receipts are signed as found, if they
 * are whole.
 */
function goesOnAt(
  { boundary, behind }: ChainTail,
  from: From,
  cut: CheckpointNotes,
): ChainEnd | null {
  const last = receiptsBehind(boundary, behind);
  if (last === null) return null;
  const notes = behind.length > 0 ? { ...cut, found: behind.length } : cut;
  const due = from.size === 0 || cut.cut_bytes !== undefined || behind.length > 0;
  return { ...from, count: last.seq, head: last.hash, due, notes, isEnded: false };
}

/**
 * Without following links: a link in the place of the next segment is found where the segment is
 * opened.
 */
function lastSegment(pathOf: (segment: number) => string, from: number): number {
  let segment = from;
  while (lstatSync(pathOf(segment + 1), { throwIfNoEntry: false }) !== undefined) segment += 1;
  return segment;
}

function tailIn(
  path: string,
  place: { chain: string; segment: number },
  isWanted: (line: Boundary) => boolean,
): ChainTail | null {
  const file = openRegular(path, { access: 'read' });
  if (file === null) return null;
  try {
    return tailBehind(file, place, isWanted);
  } finally {
    closeSync(file);
  }
}

/**
 * Cuts a torn line off and keeps it in `<file>.torn-<size>`. Answers how many bytes it had, and how
 * many are left.
 */
function cutTornTail(path: string): { readonly size: number; readonly cutBytes: number } {
  const file = openRegular(path, { access: 'update' });
  if (file === null) return { size: 0, cutBytes: 0 };
  try {
    const { size } = fstatSync(file);
    const keep = lastLineEnd(file, size);
    if (keep < size) {
      keepAside(file, path, 'torn', keep, size);
      ftruncateSync(file, keep);
    }
    return { size: keep, cutBytes: size - keep };
  } finally {
    closeSync(file);
  }
}

function moveBehind(path: string, offset: number): string {
  const file = openRegular(path, { access: 'update' });
  if (file === null) throw new Error('the file has gone');
  try {
    const kept = keepAside(file, path, 'behind', offset, fstatSync(file).size);
    ftruncateSync(file, offset);
    return kept;
  } finally {
    closeSync(file);
  }
}

/**
 * A checkpoint in its place: it has the hash it states, and speaks of the line before it and of its
 * own file.
 */
interface Boundary {
  readonly seq: number;
  readonly hash: string;
  /** Whether it ends its file. */
  readonly isEnd: boolean;
  readonly isSignedWith: (keys: KnownKeys) => boolean;
}

/** The end of a segment from a checkpoint on. */
interface ChainTail {
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
 * The newest checkpoint that is wanted. `null` where there is none within the last 256 MiB. The
 * file must end with a line feed. `isWanted` decides whose word counts: without the key any process
 * can write a checkpoint.
 */
function tailBehind(
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

/**
 * The last of some lines, where all of them are receipts that follow one another. `null` where one
 * is not.
 */
function receiptsBehind(
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
