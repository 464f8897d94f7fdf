/**
 * A line of a receipt file: JSON in ASCII, with its place in the chain at the end. The end has a
 * fixed form, so that a chain can be followed without parsing JSON.
 */

import { hash } from 'node:crypto';

export { asciiJson } from '../core/json/json-bytes.ts';

/** What the first line of a chain names as the one before it. */
export const GENESIS = `sha256:${'0'.repeat(64)}`;

/** How every digest begins. */
export const DIGEST_NAME = 'sha256:';
/** The length of a digest. */
export const DIGEST_LENGTH = GENESIS.length;
/** What stands between the chain fields. */
export const CHAIN_FIELDS = Object.freeze({
  SEQ: ',"seq":',
  PREV: ',"prev_hash":"',
  HASH: '","hash":"',
  END: '"}',
});

const { SEQ, PREV, HASH, END } = CHAIN_FIELDS;
const MAX_SEQ_LENGTH = SEQ.length + 16;
/** What follows the bytes a line's own hash is made over. */
const SEALED_LENGTH = HASH.length - 1 + DIGEST_LENGTH + END.length;
const CHAIN_LENGTH = PREV.length + DIGEST_LENGTH + 1 + SEALED_LENGTH;

/** A line that has its place, and the hash that the next one names. */
export interface ChainedLine {
  readonly text: string;
  readonly hash: string;
}

/** Puts a JSON object that lacks its closing brace at its place in a chain. */
export function chainLine(open: string, seq: number, prevHash: string): ChainedLine {
  const covered = `${open}${SEQ}${seq}${PREV}${prevHash}"`;
  const digest = digestOf(covered);
  return { text: `${covered}${HASH.slice(1)}${digest}${END}\n`, hash: digest };
}

/** `sha256:<hex>` of bytes, or of text as UTF-8. */
export const digestOf = (bytes: Uint8Array | string): string =>
  `${DIGEST_NAME}${hash('sha256', bytes)}`;

/** The chain fields as a line states them, and the hash that it really has. */
export interface LinePlace {
  readonly seq: number;
  readonly prevHash: string;
  readonly hash: string;
  readonly realHash: string;
}

/**
 * Reads the end of a line without its line feed. `null` where it has not the form that `chainLine`
 * writes.
 */
export function placeOf(line: Buffer): LinePlace | null {
  const chainAt = line.length - CHAIN_LENGTH;
  if (chainAt < SEQ.length) return null;
  const tail = line.toString('latin1', chainAt);
  const hashAt = PREV.length + DIGEST_LENGTH;
  if (!tail.startsWith(PREV) || !tail.startsWith(HASH, hashAt) || !tail.endsWith(END)) return null;
  const seq = seqBefore(line, chainAt);
  if (seq === null) return null;
  return {
    seq,
    prevHash: tail.slice(PREV.length, hashAt),
    hash: tail.slice(hashAt + HASH.length, -END.length),
    realHash: digestOf(line.subarray(0, line.length - SEALED_LENGTH)),
  };
}

function seqBefore(line: Buffer, end: number): number | null {
  const text = line.toString('latin1', Math.max(0, end - MAX_SEQ_LENGTH), end);
  const at = text.lastIndexOf(SEQ);
  const digits = text.slice(at + SEQ.length);
  return at !== -1 && /^(?:0|[1-9]\d{0,15})$/.test(digits) ? Number(digits) : null;
}

/** The part of a line before its chain fields. */
export const openPart = (line: string): string => line.slice(0, line.lastIndexOf(SEQ));

/** Ends a line. */
export const LINE_FEED = 10;

/**
 * How many bytes at the front are complete lines: what is behind them was torn off by a crash. A
 * pure function.
 */
export const completeLength = (bytes: Uint8Array): number => bytes.lastIndexOf(LINE_FEED) + 1;
