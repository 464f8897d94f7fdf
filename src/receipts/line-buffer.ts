/** Lines of a chain laid out as the bytes that are written: what is hashed and written as text is laid out three times. */

import { CHAIN_FIELDS, digestOf } from './receipt-line.ts';

const { SEQ, PREV, HASH, END } = CHAIN_FIELDS;

/** Room for the chain fields of one line. */
const CHAIN_BYTES = 256;

/** Grows as it is filled. What it hands out is good until the next line is added. */
export interface LineBuffer {
  /** Puts a JSON object that lacks its closing brace at its place in a chain, as `chainLine` does. Answers the hash of the line. */
  add(open: string, seq: number, prevHash: string): string;
  /** The line that was added last, as text. */
  lastLine(): string;
  bytes(): Buffer;
  readonly size: number;
}

/** A buffer for lines in ASCII; `capacity` is a guess. */
export function createLineBuffer(capacity: number): LineBuffer {
  let buffer = Buffer.allocUnsafe(Math.max(capacity, CHAIN_BYTES));
  let size = 0;
  let lineStart = 0;
  const put = (text: string): void => {
    size += buffer.write(text, size, 'latin1');
  };
  return {
    add(open, seq, prevHash) {
      const needed = size + open.length + CHAIN_BYTES;
      if (needed > buffer.length) buffer = Buffer.concat([buffer.subarray(0, size)], Math.max(needed, buffer.length * 2));
      lineStart = size;
      put(open);
      put(`${SEQ}${seq}${PREV}${prevHash}"`);
      const hash = digestOf(buffer.subarray(lineStart, size));
      put(`${HASH.slice(1)}${hash}${END}\n`);
      return hash;
    },
    lastLine: () => buffer.toString('latin1', lineStart, size),
    bytes: () => buffer.subarray(0, size),
    get size() {
      return size;
    },
  };
}
