/**
 * The lines of one write, put together as bytes: a line is hashed where it lies, and goes to the
 * system from there. As texts, the same lines would be copied three times, and be garbage each
 * time.
 */

import { CHAIN_FIELDS, DIGEST_LENGTH, digestOf } from '../receipt-line.ts';

/** Lines in ASCII, and how much of the buffer they take. */
export interface BatchBytes {
  buffer: Buffer;
  length: number;
}

const { SEQ, PREV, HASH, END } = CHAIN_FIELDS;
/** The quote before it belongs to what is hashed. */
const HASH_FIELD = HASH.slice(1);
/** The chain fields with the longest number, and the line feed. */
const MAX_CHAIN_LENGTH =
  SEQ.length + 16 + PREV.length + DIGEST_LENGTH + HASH.length + DIGEST_LENGTH + END.length + 1;
/** What a receipt of the usual size takes with room to spare. Longer ones make the buffer grow. */
const LINE_BYTES = 2048;
/** A larger one is not kept. Twice the most that one write takes. */
const MAX_KEPT_BYTES = 2 * 1024 * 1024;

/**
 * One is kept for the next batch, whoever's it is. Chains that write at the same time have one
 * each.
 */
let spare: Buffer | null = null;

/** Nothing yet, with room for about so many lines. */
export function takeBytes(lineCount: number): BatchBytes {
  const buffer = spare ?? Buffer.allocUnsafeSlow(Math.min(lineCount * LINE_BYTES, MAX_KEPT_BYTES));
  spare = null;
  return { buffer, length: 0 };
}

/**
 * Lets go of the bytes. Only once, and only when nobody reads them any more: another batch is
 * written over them.
 */
export function giveBackBytes({ buffer }: BatchBytes): void {
  if (buffer.length <= MAX_KEPT_BYTES && buffer.length >= (spare?.length ?? 0)) spare = buffer;
}

/** The lines themselves, good until they are given back. */
export const bytesOf = ({ buffer, length }: BatchBytes): Buffer => buffer.subarray(0, length);

/** Adds a line that is complete. */
export function addLine(lines: BatchBytes, text: string): void {
  makeRoom(lines, text.length);
  lines.length += lines.buffer.write(text, lines.length, 'latin1');
}

/** Adds what `chainLine` makes of the same. Answers the hash of the line. */
export function addChainedLine(
  lines: BatchBytes,
  open: string,
  seq: number,
  prevHash: string,
): string {
  makeRoom(lines, open.length + MAX_CHAIN_LENGTH);
  const { buffer, length: start } = lines;
  let at = start + buffer.write(open, start, 'latin1');
  at += buffer.write(`${SEQ}${seq}${PREV}${prevHash}"`, at, 'latin1');
  // A plain view is made faster than a slice of a buffer.
  const hash = digestOf(new Uint8Array(buffer.buffer, buffer.byteOffset + start, at - start));
  lines.length = at + buffer.write(`${HASH_FIELD}${hash}${END}\n`, at, 'latin1');
  return hash;
}

function makeRoom(lines: BatchBytes, more: number): void {
  const { buffer, length } = lines;
  if (length + more <= buffer.length) return;
  lines.buffer = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, length + more));
  buffer.copy(lines.buffer, 0, 0, length);
}
