/**
 * Reads a file of lines piece by piece: what is held in memory does not grow with the file,
 * whatever is in it.
 */

import { close, read } from 'node:fs';
import { promisify } from 'node:util';
import { openRegular } from '../../system/open-regular.ts';
import { completeLength, LINE_FEED } from '../receipt-line.ts';

/** A piece of a file. The bytes are good until the next piece is asked for. */
export type Block =
  /** Complete lines, each with its line feed. */
  | { readonly kind: 'lines'; readonly bytes: Buffer }
  /** One line that is longer than any receipt can be. */
  | { readonly kind: 'too_long'; readonly length: number }
  /** What comes after the last line feed. */
  | { readonly kind: 'rest'; readonly length: number }
  /** There is no file, or it is none that can be read. */
  | { readonly kind: 'unreadable' };

const BLOCK_BYTES = 1024 * 1024;

const readAt = promisify(read);
const closeFile = promisify(close);

/**
 * Opens a receipt file of any user to be read: what is in it is proven by signatures. Pipes, links,
 * folders and devices are `other`, and so is what may not be read.
 */
export function openToRead(path: string): number | 'missing' | 'other' {
  try {
    return openRegular(path, { access: 'read', owner: 'anyone' }) ?? 'missing';
  } catch {
    return 'other';
  }
}

/**
 * The pieces of a file from `from` on, in their order, as far as it goes now. The next one is read
 * while one is being looked at.
 */
export async function* readBlocks(
  path: string,
  from = 0,
  size = BLOCK_BYTES,
): AsyncGenerator<Block, void, undefined> {
  const file = openToRead(path);
  if (typeof file !== 'number') return yield { kind: 'unreadable' };
  // Twice the piece: what is read goes into the second half, and the line that began in the piece
  // before ends right in front of it.
  let [buffer, other] = [Buffer.allocUnsafe(2 * size), Buffer.allocUnsafe(2 * size)];
  let reading = readAt(file, buffer, size, size, from);
  try {
    let position = from;
    let carried = 0;
    let restLength = 0;
    let isSkipping = false;
    for (;;) {
      const { bytesRead } = await reading;
      if (bytesRead === 0) break;
      position += bytesRead;
      reading = readAt(file, other, size, size, position);
      // Awaited in the next round, or at the end. Until then its failure is handled here.
      reading.catch(() => {});
      let bytes = buffer.subarray(size - carried, size + bytesRead);
      if (isSkipping) {
        const end = bytes.indexOf(LINE_FEED);
        restLength += end === -1 ? bytes.length : end + 1;
        bytes = end === -1 ? bytes.subarray(0, 0) : bytes.subarray(end + 1);
        isSkipping = end === -1;
        if (!isSkipping) yield { kind: 'too_long', length: restLength };
      }
      const complete = completeLength(bytes);
      if (complete > 0) yield { kind: 'lines', bytes: bytes.subarray(0, complete) };
      const rest = bytes.subarray(complete);
      if (rest.length > size) isSkipping = true;
      if (!isSkipping || rest.length > 0) restLength = rest.length;
      carried = isSkipping ? 0 : rest.length;
      other.set(rest.subarray(0, carried), size - carried);
      [buffer, other] = [other, buffer];
    }
    if (restLength > 0) yield { kind: 'rest', length: restLength };
  } finally {
    // A file that is closed under a read may be another one by the time it is read.
    await reading.catch(() => {});
    await closeFile(file);
  }
}

/** The lines of a block without their line feeds. */
export function* linesOf(bytes: Buffer): Generator<Buffer, void, undefined> {
  for (
    let start = 0, end = bytes.indexOf(LINE_FEED);
    end !== -1;
    start = end + 1, end = bytes.indexOf(LINE_FEED, start)
  )
    yield bytes.subarray(start, end);
}
