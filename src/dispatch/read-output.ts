/** Reads a part of an output file, and no other file. */

import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { borderBefore } from '../core/cut-utf8.ts';

/** A part of an output, cut between characters. */
export interface OutputSlice {
  readonly text: string;
  /** Where the part begins: at the asked offset, or a little before it if that lies inside a character. */
  readonly offset: number;
  /** Where the next part begins. */
  readonly end: number;
  /** The size of the whole output. */
  readonly bytes: number;
}

/** What is read at once, whatever is asked for. */
const MAX_SLICE = 1_048_576;
/** A character has at most four bytes: three before a position may belong to the one there, and less would not hold one. */
const LONGEST = 4;

/** `null` where there is no plain file of exactly this path; links are not followed below the folder. */
export async function readSlice(folder: string, path: string, offset: number, length: number): Promise<OutputSlice | null> {
  const handle = await openPlain(folder, path);
  if (handle === null) return null;
  try {
    const stats = await handle.stat();
    // A second name for a file, made elsewhere, would lead out as a link does.
    if (!stats.isFile() || stats.nlink !== 1) return null;
    return await sliceOf(handle, stats.size, whole(offset, 0, stats.size), whole(length, LONGEST, MAX_SLICE));
  } finally {
    await handle.close();
  }
}

const whole = (value: number, min: number, max: number): number =>
  Number.isNaN(value) ? min : Math.min(Math.max(Math.trunc(value), min), max);

async function openPlain(folder: string, path: string): Promise<FileHandle | null> {
  try {
    const home = join(await realpath(folder), basename(dirname(path)));
    if ((await realpath(dirname(path))) !== home) return null;
    // Without blocking: a pipe in the place of the file would be waited for.
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK', 'ENXIO'].includes(String(error.code));

async function sliceOf(handle: FileHandle, bytes: number, offset: number, length: number): Promise<OutputSlice> {
  const from = Math.max(0, offset - LONGEST + 1);
  const wanted = Buffer.alloc(Math.min(bytes, offset + length + 1) - from);
  const { bytesRead } = await handle.read(wanted, 0, wanted.length, from);
  const read = wanted.subarray(0, bytesRead);
  const start = borderBefore(read, offset - from);
  const end = from + start + length >= bytes ? read.length : borderBefore(read, start + length);
  return { text: read.subarray(start, end).toString(), offset: from + start, end: from + end, bytes };
}
