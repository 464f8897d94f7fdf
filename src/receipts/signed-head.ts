/**
 * The newest checkpoint of a chain, kept once more beside it: a file that was cut off behind an
 * earlier checkpoint looks whole by itself. Two places are written in turn, so that a torn write
 * leaves the one before.
 */

import { closeSync, readSync, writeSync } from 'node:fs';
import { parseCheckpoint, type SignedCheckpoint } from './checkpoint.ts';
import { openToRead } from './read/read-blocks.ts';
import { openPart, placeOf } from './receipt-line.ts';

/** Room for one checkpoint line. */
const PLACE_BYTES = 4096;

/** A checkpoint and its place in the chain. */
export interface SignedHead extends SignedCheckpoint {
  /** The hash of the checkpoint's own line. */
  readonly hash: string;
  /** Whether nothing in the line was changed by accident. Says nothing about who wrote it. */
  readonly intact: boolean;
}

/** Reads a checkpoint line without its line feed. `null` where it is none. */
export function readCheckpointLine(line: Buffer): SignedHead | null {
  const place = placeOf(line);
  const checkpoint = place === null ? null : parseCheckpoint(openPart(line.toString('latin1')));
  return place === null || checkpoint === null
    ? null
    : { ...checkpoint, hash: place.hash, intact: place.hash === place.realHash };
}

/** Writes a checkpoint line into the place whose turn it is. */
export function writeSignedHead(file: number, line: string, turn: number): void {
  const text = line.trimEnd().padEnd(PLACE_BYTES - 1);
  writeSync(file, `${text}\n`, (turn % 2) * PLACE_BYTES, 'latin1');
}

/**
 * The newest checkpoint of a head file. `missing` where there is no file, `null` where it holds
 * none that can be read.
 */
export function readSignedHead(path: string): SignedHead | 'missing' | null {
  const bytes = bytesOf(path);
  if (bytes === null) return 'missing';
  const places = [bytes.subarray(0, PLACE_BYTES), bytes.subarray(PLACE_BYTES, 2 * PLACE_BYTES)];
  const heads = places.map((place) =>
    readCheckpointLine(Buffer.from(place.toString('latin1').trimEnd(), 'latin1')),
  );
  const [one = null, other = null] = heads.filter((head) => head?.intact === true);
  return one === null || other === null || !isBefore(one, other) ? one : other;
}

/** With the same count, a checkpoint stands right behind the other one, as an end does. */
const isBefore = (one: SignedHead, other: SignedHead): boolean =>
  one.fields.count < other.fields.count ||
  (one.fields.count === other.fields.count && other.fields.head === one.hash);

/** `null` where there is no file; nothing where it is something else than a file. */
function bytesOf(path: string): Buffer | null {
  const file = openToRead(path);
  if (typeof file !== 'number') return file === 'missing' ? null : Buffer.alloc(0);
  try {
    const bytes = Buffer.alloc(2 * PLACE_BYTES);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}
