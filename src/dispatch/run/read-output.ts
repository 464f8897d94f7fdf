/** Reads a part of an output file, and no other file. */

import type { FileHandle } from 'node:fs/promises';
import { borderBefore } from '../../core/json/cut-utf8.ts';
import { openRegularHandle } from '../../system/open-regular.ts';

/** A part of an output, cut between characters. */
export interface OutputSlice {
  readonly text: string;
  /**
   * Where the part begins: at the asked offset, or a little before it if that lies inside a
   * character.
   */
  readonly offset: number;
  /** Where the next part begins. */
  readonly end: number;
  /** The size of the whole output. */
  readonly bytes: number;
}

/** What is read at once, whatever is asked for. */
const MAX_SLICE = 1_048_576;
/**
 * A character has at most four bytes: three before a position may belong to the one there, and less
 * would not hold one.
 */
const LONGEST = 4;

/**
 * `null` where there is no file. Throws `ERR_UNSAFE_FILE` for anything but a plain file; the
 * folders are for the caller to check.
 */
export async function readSlice(
  path: string,
  offset: number,
  length: number,
): Promise<OutputSlice | null> {
  const handle = await openRegularHandle(path, { access: 'read' });
  if (handle === null) return null;
  try {
    const stats = await handle.stat();
    // A second name for a file, made elsewhere, would lead out as a link does.
    if (stats.nlink !== 1) return null;
    return await sliceOf(
      handle,
      stats.size,
      whole(offset, 0, stats.size),
      whole(length, LONGEST, MAX_SLICE),
    );
  } finally {
    await handle.close();
  }
}

const whole = (value: number, min: number, max: number): number =>
  Number.isNaN(value) ? min : Math.min(Math.max(Math.trunc(value), min), max);

async function sliceOf(
  handle: FileHandle,
  bytes: number,
  offset: number,
  length: number,
): Promise<OutputSlice> {
  const from = Math.max(0, offset - LONGEST + 1);
  const wanted = Buffer.alloc(Math.min(bytes, offset + length + 1) - from);
  const { bytesRead } = await handle.read(wanted, 0, wanted.length, from);
  const read = wanted.subarray(0, bytesRead);
  const start = borderBefore(read, offset - from);
  const end = from + start + length >= bytes ? read.length : borderBefore(read, start + length);
  return {
    text: read.subarray(start, end).toString(),
    offset: from + start,
    end: from + end,
    bytes,
  };
}
