/**
 * The index of a folder: which sessions were begun, how each ended, and which were removed. Every
 * entry is signed and names the one before, so that a session that is gone is missed. Appended to
 * when a session begins and when a writer closes it, never for a receipt.
 */

import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isoTime } from '../core/time/clock.ts';
import { isObject } from '../core/json/json.ts';
import { openRegular } from '../system/open-regular.ts';
import { isSigned, type SignedText, type Signer } from './checkpoint.ts';
import { keepAside, lastLineEnd } from './write/keep-aside.ts';
import { asciiJson, CHAIN_FIELDS, digestOf, GENESIS, LINE_FEED } from './receipt-line.ts';
import { takeLock } from '../system/writer-lock.ts';

/** The name of the index. */
export const INDEX_FILE = 'sessions.index';

/** What an entry tells. */
export interface IndexEvent {
  /**
   * A session's first file is made; a writer closes it; its files are about to be removed on
   * purpose.
   */
  readonly record: 'opened' | 'closed' | 'pruned';
  readonly chain: string;
  /** Receipts at that time. */
  readonly count: number;
  /** The hash of the last line of the session at that time. */
  readonly head: string;
}

/** A line of the index, as it was read. */
export interface IndexEntry extends IndexEvent {
  readonly key_id: string;
  readonly time: string;
  readonly seq: number;
  readonly prev_hash: string;
  readonly hash: string;
  /** The hash the line really has. */
  readonly realHash: string;
  /** What `signature` covers: everything before it, the place in the index included. */
  readonly signedText: string;
  readonly signature: string;
}

const { SEQ, PREV } = CHAIN_FIELDS;
const SIGNATURE = ',"signature":"';
const HASH = ',"hash":"';

/**
 * Appends an entry, and answers its number. Waits for other processes, and mends what one that was
 * killed has torn.
 */
export function appendToIndex(
  folder: string,
  signer: Signer,
  now: () => number,
  event: IndexEvent,
): number {
  const path = join(folder, INDEX_FILE);
  const release = lockIndex(`${path}.lock`);
  try {
    const file = openRegular(path, { access: 'extend', create: 'missing' });
    if (file === null) throw new Error('the folder has gone');
    try {
      const { seq, hash } = mendedEnd(file, path, signer);
      appendWhole(file, entryLine(signer, isoTime(now()), event, seq + 1, hash));
      return seq + 1;
    } finally {
      closeSync(file);
    }
  } finally {
    release();
  }
}

/** Puts the index on disk: with `fsync`, a session's entry is as safe as its receipts. */
export function syncIndex(folder: string): void {
  const file = openRegular(join(folder, INDEX_FILE), { access: 'append' });
  if (file === null) return;
  try {
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
}

function entryLine(
  signer: Signer,
  time: string,
  { record, chain, count, head }: IndexEvent,
  seq: number,
  prevHash: string,
): string {
  const open = asciiJson({
    schema_version: 1,
    record,
    chain,
    count,
    head,
    key_id: signer.keyId,
    time,
  }).slice(0, -1);
  const signed = `${open}${SEQ}${seq}${PREV}${prevHash}"`;
  const covered = `${signed}${SIGNATURE}${signer.signText(signed)}"`;
  return `${covered}${HASH}${digestOf(covered)}"}\n`;
}

/**
 * Reads a line without its line feed. `null` where it is no entry; whether it is true is for others
 * to say.
 */
export function parseEntry(line: Buffer): IndexEntry | null {
  const text = line.toString('latin1');
  const [signatureAt, hashAt] = [text.lastIndexOf(SIGNATURE), text.lastIndexOf(HASH)];
  if (signatureAt === -1 || hashAt < signatureAt) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || !isEntry(value)) return null;
    return {
      ...value,
      realHash: digestOf(text.slice(0, hashAt)),
      signedText: text.slice(0, signatureAt),
    };
  } catch {
    return null;
  }
}

const TEXTS = ['chain', 'head', 'key_id', 'time', 'prev_hash', 'hash', 'signature'] as const;

const isEntry = (
  value: Readonly<Record<string, unknown>>,
): value is Omit<IndexEntry, 'realHash' | 'signedText'> & Record<string, unknown> =>
  value.schema_version === 1 &&
  ['opened', 'closed', 'pruned'].includes(String(value.record)) &&
  TEXTS.every((name) => typeof value[name] === 'string') &&
  Number.isSafeInteger(value.seq) &&
  Number.isSafeInteger(value.count);

/** An entry with what is needed to check its signature. */
export const signedEntry = ({ key_id, signedText, signature }: IndexEntry): SignedText => ({
  fields: { key_id },
  signedText,
  signature,
});

const TAIL_BYTES = 64 * 1024;

interface IndexEnd {
  readonly seq: number;
  readonly hash: string;
}

/**
 * The last entry that stands. A torn line, and lines behind that entry that were written without
 * the key, are moved into a file beside the index.
 */
function mendedEnd(file: number, path: string, signer: Signer): IndexEnd {
  const { size } = fstatSync(file);
  if (size === 0) return { seq: 0, hash: GENESIS };
  const whole = lastLineEnd(file, size);
  if (whole < size) cutOff(file, path, 'torn', whole, size);
  const block = Buffer.alloc(Math.min(TAIL_BYTES, whole));
  readSync(file, block, 0, block.length, whole - block.length);
  const isAll = block.length === whole;
  for (let end = block.length; end > 0; ) {
    const start = end === 1 ? 0 : block.lastIndexOf(LINE_FEED, end - 2) + 1;
    // The first line of a block is whole only where the file begins with it.
    if (start === 0 && !isAll) break;
    const entry = parseEntry(block.subarray(start, end - 1));
    if (entry !== null && stands(entry, signer)) {
      const behind = whole - block.length + end;
      if (behind < whole) cutOff(file, path, 'behind', behind, whole);
      return { seq: entry.seq, hash: entry.hash };
    }
    end = start;
  }
  if (!isAll) throw new Error(`${path} ends with lines that nobody signed`);
  if (whole > 0) cutOff(file, path, 'behind', 0, whole);
  return { seq: 0, hash: GENESIS };
}

/**
 * The key may have been replaced: entries under another key id are left to `verifyReceipts`, which
 * is given the public keys.
 */
const stands = (entry: IndexEntry, { keyId, keys }: Signer): boolean =>
  entry.hash === entry.realHash &&
  (entry.key_id !== keyId || isSigned(signedEntry(entry), keys) === true);

function cutOff(
  file: number,
  path: string,
  why: 'torn' | 'behind',
  from: number,
  to: number,
): void {
  const kept = keepAside(file, path, why, from, to);
  ftruncateSync(file, from);
  if (why === 'torn') return;
  const text = `${path}: ${to - from} bytes at its end were written by nobody here, and moved to ${kept}`;
  process.emitWarning(text, { type: 'AlliumWarning', code: 'ALLIUM_RECEIPTS_ASIDE' });
}

function appendWhole(file: number, line: string): void {
  const bytes = Buffer.from(line, 'latin1');
  const { size } = fstatSync(file);
  try {
    for (let written = 0; written < bytes.length; )
      written += writeSync(file, bytes, written, bytes.length - written);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}

const RETRY_MS = 2;
const WAIT_MS = 5000;
const cell = new Int32Array(new SharedArrayBuffer(4));

/**
 * Receipts are given their place without waiting, so this waits in place. The lock is held for
 * about a millisecond.
 */
function lockIndex(path: string): () => void {
  for (let waited = 0; waited <= WAIT_MS; waited += RETRY_MS) {
    const release = takeLock(path);
    if (release !== null) return release;
    Atomics.wait(cell, 0, 0, RETRY_MS);
  }
  throw new Error(`${path} stays taken: a process may hang, or have died on another machine`);
}
