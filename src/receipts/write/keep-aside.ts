/**
 * Keeps a part of a file in a file beside it before the part is cut off: nothing that was
 * written is ever deleted.
 */

import { closeSync, fsyncSync, readSync, writeSync } from 'node:fs';
import { openRegular } from '../../system/open-regular.ts';
import { completeLength } from '../receipt-line.ts';

const BLOCK_BYTES = 256 * 1024;
const MAX_NAMES = 1000;

/**
 * Copies the bytes from `from` to `to` into `<path>.<why>-<from>`, or into the first of
 * `<path>.<why>-<from>-2` and so on that is not there. Answers the name. The file itself is left to
 * the caller.
 */
export function keepAside(
  file: number,
  path: string,
  why: 'torn' | 'behind',
  from: number,
  to: number,
): string {
  const { name, aside } = newFile(`${path}.${why}-${from}`);
  try {
    const block = Buffer.alloc(Math.min(BLOCK_BYTES, to - from));
    for (let at = from; at < to; ) {
      const read = readSync(file, block, 0, Math.min(block.length, to - at), at);
      if (read === 0) break;
      for (let written = 0; written < read; )
        written += writeSync(aside, block, written, read - written);
      at += read;
    }
    fsyncSync(aside);
    return name;
  } finally {
    closeSync(aside);
  }
}

/** Never a file that is there: it may be what was kept before, or have been put there. */
function newFile(wanted: string): { readonly name: string; readonly aside: number } {
  for (let nth = 1; nth <= MAX_NAMES; nth += 1) {
    const name = nth === 1 ? wanted : `${wanted}-${nth}`;
    try {
      const aside = openRegular(name, { access: 'append', create: 'new' });
      if (aside !== null) return { name, aside };
    } catch (error) {
      // Every error of the file system has a code.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new Error(`${wanted}: there are ${MAX_NAMES} files of this name`);
}

/** Where the last complete line of a file ends. What is behind it was torn off by a crash. */
export function lastLineEnd(file: number, size: number): number {
  const block = Buffer.alloc(Math.min(BLOCK_BYTES, size));
  for (let end = size; end > 0; end -= Math.min(end, BLOCK_BYTES)) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const complete = completeLength(
      block.subarray(0, readSync(file, block, 0, end - start, start)),
    );
    if (complete > 0) return start + complete;
  }
  return 0;
}
