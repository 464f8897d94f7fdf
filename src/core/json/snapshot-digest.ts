/**
 * SHA-256 over the canonical JSON of a snapshot, written as bytes where they are hashed: a text in
 * between costs as much again. Writes only what is plain. For everything else the text is the way,
 * and it says what is wrong.
 */

import { createHash, hash, type Hash } from 'node:crypto';
import { membersOf } from './canonical-members.ts';
import { quoted } from './canonical-text.ts';
import { isSnapshot, MAX_JSON_DEPTH } from './json.ts';
import { bytes, FULL, NOT_PLAIN, type Style, writeJson } from './json-bytes.ts';

/**
 * Takes what does not fit. Nothing foreign runs while a snapshot is read, so there is one at a
 * time.
 */
let overflow: Hash | null = null;

/**
 * The digest of `head` and the canonical JSON of a value, or `null` where that has to be made from
 * its text.
 */
export function snapshotDigest(
  value: unknown,
  head: Uint8Array,
  encoding: 'hex' | 'binary',
): string | null {
  if (typeof value !== 'object' || value === null || !isSnapshot(value)) return null;
  bytes.set(head);
  overflow = null;
  const end = writeJson(value, head.length, CANONICAL);
  if (end === NOT_PLAIN) return null;
  return overflow === null
    ? hash('sha256', bytes.subarray(0, end), encoding)
    : overflowed(end).digest(encoding);
}

const CANONICAL: Style = {
  maxDepth: MAX_JSON_DEPTH,
  labels: membersOf,
  below: () => CANONICAL,
  writeText(text, at) {
    const written = quoted(text);
    if (written === undefined) return NOT_PLAIN;
    // A character is at most three bytes of UTF-8.
    if (at + 3 * written.length <= FULL) return at + bytes.write(written, at);
    overflowed(at).update(written);
    return 0;
  },
  makeRoom(at) {
    overflowed(at);
    return 0;
  },
};

/** Hashes what stands before a place. */
function overflowed(end: number): Hash {
  overflow ??= createHash('sha256');
  return overflow.update(bytes.subarray(0, end));
}
