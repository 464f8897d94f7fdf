/**
 * The lines of a chain, in the buffer that goes to the system: a receipt is laid out where its line
 * is hashed and written from. As texts, the same lines would be copied three times, and be garbage
 * each time.
 */

import { hash } from 'node:crypto';
import {
  CHAIN_FIELDS,
  chainLine,
  type ChainedLine,
  DIGEST_LENGTH,
  DIGEST_NAME,
} from '../receipt-line.ts';
import { type Clock, isoTime } from '../../core/time/clock.ts';
import type { CheckpointNotes, Signer } from '../checkpoint.ts';
import type { ChainEnd } from './open-chain.ts';

/** What a chain is laid out by. */
export interface ChainRules {
  readonly chain: string;
  readonly signer: Signer;
  readonly checkpointEvery: number;
  readonly checkpointMs: number;
  readonly maxFileBytes: number;
  readonly clock: Pick<Clock, 'now'>;
}

/** Some lines, and where the chain ends once they are written. */
export interface Batch {
  /** Good until the receipts are given back. */
  readonly bytes: Buffer;
  readonly end: ChainEnd;
  /** How many of the receipts are in it. */
  readonly taken: number;
  /** The newest checkpoint line. */
  readonly checkpoint: string | null;
  /** The segment has its size: the next line belongs to another one. */
  readonly full: boolean;
}

const MAX_BATCH_BYTES = 1024 * 1024;

/**
 * The next lines of a chain for some receipts from number `start` on. Takes as many as fit one
 * segment and one write. The hashes of the receipts are filled in where they lie, which may be done
 * again for a chain that ends elsewhere.
 */
export function renderBatch(
  rules: ChainRules,
  from: ChainEnd,
  { buffer, ends }: ReceiptLines,
  start: number,
): Batch {
  const { size } = from;
  const end: OpenEnd = {
    segment: from.segment,
    size,
    count: from.count,
    head: from.head,
    unsigned: from.unsigned,
    due: false,
    signedAt: from.signedAt,
    notes: {},
    isEnded: false,
  };
  const pieces: Buffer[] = [];
  let checkpoint = from.due ? sign(rules, end, pieces, from.notes) : null;
  const room = Math.min(rules.maxFileBytes - size, MAX_BATCH_BYTES);
  let at = ends[start - 1] ?? 0;
  let pieceAt = at;
  let index = start;
  // One in any case: a segment that could not be left although it is full goes on.
  for (; index < ends.length && (index === start || end.size - size < room); index += 1) {
    const lineEnd = ends[index] ?? at;
    end.head = seal(buffer, at, lineEnd, end.head);
    end.size += lineEnd - at;
    end.count += 1;
    end.unsigned += 1;
    at = lineEnd;
    if (end.unsigned < rules.checkpointEvery) continue;
    pieces.push(buffer.subarray(pieceAt, at));
    pieceAt = at;
    checkpoint = sign(rules, end, pieces, {});
  }
  if (pieceAt < at) pieces.push(buffer.subarray(pieceAt, at));
  const full = end.size >= rules.maxFileBytes;
  const isOld = end.unsigned > 0 && rules.clock.now() - end.signedAt >= rules.checkpointMs;
  if (full || isOld) checkpoint = sign(rules, end, pieces, full ? { end: true } : {});
  end.due = full;
  end.isEnded = full;
  const [first] = pieces;
  const bytes = first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
  return { bytes, end, taken: index - start, checkpoint, full };
}

type OpenEnd = { -readonly [K in keyof ChainEnd]: ChainEnd[K] };

/** Adds a checkpoint behind the lines so far. Answers its line. */
function sign(rules: ChainRules, end: OpenEnd, pieces: Buffer[], notes: CheckpointNotes): string {
  const { text, hash: head } = checkpointLine(rules, end, notes);
  pieces.push(Buffer.from(text, 'latin1'));
  end.size += text.length;
  end.head = head;
  end.unsigned = 0;
  end.signedAt = rules.clock.now();
  return text;
}

/** A signed line that says where the chain stands. */
export function checkpointLine(
  { chain, signer, clock }: ChainRules,
  { segment, count, head }: ChainEnd,
  notes: CheckpointNotes,
): ChainedLine {
  const time = isoTime(clock.now());
  return chainLine(signer.sign({ chain, segment, count, head, time, ...notes }), count, head);
}

const { SEQ, PREV, HASH, END } = CHAIN_FIELDS;
const LINE_END = `${END}\n`;
/** From the hash of a line to its end. */
const HASH_LENGTH = DIGEST_LENGTH + LINE_END.length;
/** The quote before the field belongs to what is hashed. */
const UNHASHED_LENGTH = HASH.length - 1 + HASH_LENGTH;
/** From the hash of the line before to its end. */
const PREV_LENGTH = DIGEST_LENGTH + HASH.length + HASH_LENGTH;
/** The chain fields with the longest number. */
const MAX_CHAIN_LENGTH = SEQ.length + 16 + PREV.length + PREV_LENGTH;

/** Fills in both hashes of a line, and answers its own. */
function seal(buffer: Buffer, start: number, end: number, prevHash: string): string {
  put(buffer, prevHash, end - PREV_LENGTH);
  // A plain view is made faster than a slice of a buffer.
  const length = end - UNHASHED_LENGTH - start;
  const hashed = new Uint8Array(buffer.buffer, buffer.byteOffset + start, length);
  const digest = `${DIGEST_NAME}${hash('sha256', hashed)}`;
  put(buffer, digest, end - HASH_LENGTH);
  return digest;
}

/** Writes ASCII, answers the next place. For short texts a call out of the engine costs more. */
function put(buffer: Buffer, text: string, at: number): number {
  for (let index = 0; index < text.length; index += 1) buffer[at + index] = text.charCodeAt(index);
  return at + text.length;
}

/** The lines of receipts one behind the other. `renderBatch` fills in the hashes. */
export interface ReceiptLines {
  buffer: Buffer;
  length: number;
  /** Where each line ends. */
  readonly ends: number[];
}

export const NO_RECEIPTS: ReceiptLines = { buffer: Buffer.alloc(0), length: 0, ends: [] };

const FIRST_BYTES = 16 * 1024;
/** A larger one is not kept. Twice the most that one write takes. */
const MAX_KEPT_BYTES = 2 * 1024 * 1024;
/** Of a chain: the receipts that wait, and those that are being written. */
const MAX_SPARES = 2;

/** For the next lines of any chain. */
const spares: Buffer[] = [];

export const openLines = (): ReceiptLines => ({
  buffer: spares.pop() ?? Buffer.allocUnsafeSlow(FIRST_BYTES),
  length: 0,
  ends: [],
});

/**
 * Hands the buffer to the next `openLines`. Only once, and only when the bytes of a batch are no
 * longer read: other lines are written over it.
 */
export function giveBackLines({ buffer }: ReceiptLines): void {
  if (buffer.length <= MAX_KEPT_BYTES && spares.length < MAX_SPARES) spares.push(buffer);
}

/**
 * Adds receipt number `seq`: a JSON object in ASCII that lacks its closing brace, as the first
 * `length` bytes of `open`.
 */
export function addLine(lines: ReceiptLines, open: Buffer, length: number, seq: number): void {
  const size = length + MAX_CHAIN_LENGTH;
  if (lines.length + size > lines.buffer.length) grow(lines, size);
  const { buffer } = lines;
  let at = lines.length + open.copy(buffer, lines.length, 0, length);
  at = put(buffer, SEQ, at);
  at = put(buffer, `${seq}`, at);
  at = put(buffer, PREV, at) + DIGEST_LENGTH;
  at = put(buffer, HASH, at) + DIGEST_LENGTH;
  lines.length = put(buffer, LINE_END, at);
  lines.ends.push(lines.length);
}

/** The receipts from number `start` on, and behind them those of `later`. */
export function joinedLines(lines: ReceiptLines, start: number, later: ReceiptLines): ReceiptLines {
  const joined = openLines();
  addAll(joined, lines, start);
  addAll(joined, later, 0);
  return joined;
}

function addAll(lines: ReceiptLines, { buffer, length, ends }: ReceiptLines, first: number): void {
  const from = ends[first - 1] ?? 0;
  const shift = lines.length - from;
  if (shift + length > lines.buffer.length) grow(lines, length - from);
  buffer.copy(lines.buffer, lines.length, from, length);
  for (let index = first; index < ends.length; index += 1)
    lines.ends.push((ends[index] ?? 0) + shift);
  lines.length = shift + length;
}

function grow(lines: ReceiptLines, more: number): void {
  const { buffer, length } = lines;
  lines.buffer = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, length + more));
  buffer.copy(lines.buffer, 0, 0, length);
}
