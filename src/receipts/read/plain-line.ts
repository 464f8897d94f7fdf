/**
 * Tells at a glance that a receipt follows the line before it, without making a text of either.
 * What it accepts, `placeOf` accepts; what it does not accept may be right all the same, and is
 * looked at slowly.
 */

import { hash } from 'node:crypto';
import { CHAIN_FIELDS, DIGEST_LENGTH, DIGEST_NAME } from '../receipt-line.ts';
import { INTENT_START, RECEIPT_START } from '../write/receipt-text.ts';

/** A text to be found in a buffer: in words of four bytes, and the bytes that are left. */
interface Mark {
  readonly words: Int32Array;
  readonly rest: Uint8Array;
  readonly length: number;
}

function markOf(text: string): Mark {
  const bytes = Buffer.from(text, 'latin1');
  const words = Int32Array.from({ length: bytes.length >> 2 }, (_, nth) =>
    bytes.readInt32LE(4 * nth),
  );
  return { words, rest: Uint8Array.from(bytes.subarray(4 * words.length)), length: bytes.length };
}

const { SEQ, PREV, HASH, END } = CHAIN_FIELDS;
const RECEIPT_MARK = markOf(RECEIPT_START);
const INTENT_MARK = markOf(INTENT_START);
const SEQ_MARK = markOf(SEQ);
const PREV_MARK = markOf(PREV);
const HASH_MARK = markOf(`${HASH}${DIGEST_NAME}`);
const END_MARK = markOf(END);
/** How far before a line's end things are. */
const HEX_AT = 64 + END.length;
const HASH_AT = HEX_AT + HASH_MARK.length;
const PREV_AT = HASH_AT + DIGEST_LENGTH;
const CHAIN_AT = PREV_AT + PREV.length;
/** What follows the bytes a line's own hash is made over: its closing quote belongs to them. */
const COVERED_AT = HASH_AT - 1;
/** A number of this many digits is exact whichever way it is added up. */
const MAX_DIGITS = 15;

/** Where the hash stands that a line states for itself. */
export const statedHashAt = (end: number): number => end - HEX_AT - DIGEST_NAME.length;

/** Complete lines, ready to be looked at. */
interface PlainBytes {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/**
 * Whether the line from `start` to `end` is receipt number `seq`, unchanged, behind a line whose
 * hash stands at `headAt`.
 */
export function isNextReceipt(
  { bytes, view }: PlainBytes,
  start: number,
  end: number,
  seq: number,
  headAt: number,
): boolean {
  const chainAt = end - CHAIN_AT;
  return (
    chainAt - start > RECEIPT_START.length &&
    (holds(view, start, RECEIPT_MARK) || holds(view, start, INTENT_MARK)) &&
    holds(view, chainAt, PREV_MARK) &&
    holds(view, end - HASH_AT, HASH_MARK) &&
    holds(view, end - END.length, END_MARK) &&
    isSame(view, end - PREV_AT, headAt) &&
    hasNumber(view, chainAt, seq) &&
    isHex(view, end - HEX_AT, hash('sha256', bytes.subarray(start, end - COVERED_AT)))
  );
}

/** Letter by letter: making a text of the bytes first takes twice as long. */
function isHex(view: DataView, at: number, digest: string): boolean {
  for (let nth = 0; nth < 64; nth += 1)
    if (view.getUint8(at + nth) !== digest.charCodeAt(nth)) return false;
  return true;
}

function holds(view: DataView, at: number, { words, rest, length }: Mark): boolean {
  if (at + length > view.byteLength) return false;
  for (let nth = 0; nth < words.length; nth += 1)
    if (view.getInt32(at + 4 * nth, true) !== words[nth]) return false;
  const restAt = at + 4 * words.length;
  for (let nth = 0; nth < rest.length; nth += 1)
    if (view.getUint8(restAt + nth) !== rest[nth]) return false;
  return true;
}

/** Compares two hashes. Their last words overlap the ones before. */
function isSame(view: DataView, at: number, other: number): boolean {
  for (let nth = 0; nth < DIGEST_LENGTH - 4; nth += 4)
    if (view.getInt32(at + nth) !== view.getInt32(other + nth)) return false;
  return view.getInt32(at + DIGEST_LENGTH - 4) === view.getInt32(other + DIGEST_LENGTH - 4);
}

function hasNumber(view: DataView, end: number, wanted: number): boolean {
  let value = 0;
  let at = end;
  for (let unit = 1; end - at < MAX_DIGITS; unit *= 10, at -= 1) {
    const digit = view.getUint8(at - 1) - 48;
    if (digit < 0 || digit > 9) break;
    value += digit * unit;
  }
  return (
    value === wanted &&
    at < end &&
    view.getUint8(at) !== 48 &&
    holds(view, at - SEQ.length, SEQ_MARK)
  );
}
