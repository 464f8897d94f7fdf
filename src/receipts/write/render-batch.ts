/**
 * The next lines of a chain, put together as bytes for one write: a line is hashed where it lies,
 * and goes to the system from there. As texts, the same lines would be copied three times, and be
 * garbage each time.
 */

import {
  CHAIN_FIELDS,
  DIGEST_LENGTH,
  digestOf,
  chainLine,
  type ChainedLine,
} from '../receipt-line.ts';
import { isoTime } from '../../core/time/clock.ts';
import type { CheckpointNotes, Signer } from '../checkpoint.ts';
import type { ChainEnd } from './open-chain.ts';

/** What a chain is laid out by. */
export interface ChainRules {
  readonly chain: string;
  readonly signer: Signer;
  readonly checkpointEvery: number;
  readonly checkpointMs: number;
  readonly maxFileBytes: number;
  readonly now: () => number;
}

/** Some lines, and where the chain ends once they are written. */
export interface Batch {
  readonly lines: BatchBytes;
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
 * segment and one write.
 */
export function renderBatch(
  rules: ChainRules,
  from: ChainEnd,
  receipts: OpenLines,
  start: number,
): Batch {
  const { buffer, ends } = receipts;
  // One more for a checkpoint.
  const lines = takeBytes(ends.length - start + 1);
  let { count, head, unsigned, signedAt } = from;
  let checkpoint: string | null = null;
  const sign = (notes: CheckpointNotes = {}): void => {
    const { text, hash } = checkpointLine(rules, { ...from, count, head }, notes);
    addLine(lines, text);
    head = hash;
    checkpoint = text;
    unsigned = 0;
    signedAt = rules.now();
  };
  if (from.due) sign(from.notes);
  const room = Math.min(rules.maxFileBytes - from.size, MAX_BATCH_BYTES);
  let index = start;
  // One in any case: a segment that could not be left although it is full goes on.
  for (; index < ends.length && (index === start || lines.length < room); index += 1) {
    count += 1;
    head = addChainedLine(lines, buffer, ends[index - 1] ?? 0, ends[index] ?? 0, count, head);
    unsigned += 1;
    if (unsigned >= rules.checkpointEvery) sign();
  }
  const full = from.size + lines.length >= rules.maxFileBytes;
  if (full) sign({ end: true });
  else if (unsigned > 0 && rules.now() - signedAt >= rules.checkpointMs) sign();
  const size = from.size + lines.length;
  const end = {
    segment: from.segment,
    size,
    count,
    head,
    unsigned,
    due: full,
    signedAt,
    notes: {},
    isEnded: full,
  };
  return { lines, end, taken: index - start, checkpoint, full };
}

/** A signed line that says where the chain stands. */
export function checkpointLine(
  { chain, signer, now }: ChainRules,
  { segment, count, head }: ChainEnd,
  notes: CheckpointNotes,
): ChainedLine {
  return chainLine(
    signer.sign({ chain, segment, count, head, time: isoTime(now()), ...notes }),
    count,
    head,
  );
}

/** Lines in ASCII, and how much of the buffer they take. */
export interface BatchBytes {
  buffer: Buffer;
  length: number;
}

/** Receipts without their closing braces, one behind the other, and where each ends. */
export interface OpenLines extends BatchBytes {
  readonly ends: number[];
}

export const NO_RECEIPTS: OpenLines = { buffer: Buffer.alloc(0), length: 0, ends: [] };

/** The receipts of some texts. */
export function openLines(...texts: readonly string[]): OpenLines {
  const lines = { ...takeBytes(texts.length), ends: [] };
  for (const text of texts) addOpenText(lines, text);
  return lines;
}

export function addOpenText(lines: OpenLines, text: string): void {
  addLine(lines, text);
  lines.ends.push(lines.length);
}

/** Adds what stands in a buffer between two places. */
export function addOpenBytes(lines: OpenLines, from: Buffer, start: number, end: number): void {
  makeRoom(lines, end - start);
  lines.length += from.copy(lines.buffer, lines.length, start, end);
  lines.ends.push(lines.length);
}

/** The receipts from number `start` on, and behind them those of `later`. */
export function joinedLines(lines: OpenLines, start: number, later: OpenLines | null): OpenLines {
  const joined = openLines();
  const addAll = ({ buffer, ends }: OpenLines, first: number): void => {
    for (let index = first; index < ends.length; index += 1)
      addOpenBytes(joined, buffer, ends[index - 1] ?? 0, ends[index] ?? 0);
  };
  addAll(lines, start);
  if (later !== null) addAll(later, 0);
  return joined;
}

const { SEQ, PREV, HASH, END } = CHAIN_FIELDS;
/** The quote before it belongs to what is hashed. */
const HASH_FIELD = HASH.slice(1);
const LINE_END = `${END}\n`;
/** The chain fields with the longest number, and the line feed. */
const MAX_CHAIN_LENGTH =
  SEQ.length + 16 + PREV.length + DIGEST_LENGTH + HASH.length + DIGEST_LENGTH + END.length + 1;
/** Room for a receipt of the usual size. Longer ones make the buffer grow. */
const LINE_BYTES = 2048;
/** A larger one is not kept. Twice the most that one write takes. */
const MAX_KEPT_BYTES = 2 * 1024 * 1024;
/** Of a chain: the receipts that wait, those that are being written, and their lines. */
const MAX_SPARES = 3;

/** For the next lines of any chain. */
const spares: Buffer[] = [];

/** Nothing yet, with room for about so many lines. */
export function takeBytes(lineCount: number): BatchBytes {
  const size = Math.min(lineCount * LINE_BYTES, MAX_KEPT_BYTES);
  return { buffer: spares.pop() ?? Buffer.allocUnsafeSlow(size), length: 0 };
}

/**
 * Hands the buffer to the next `takeBytes`. Only once, and only when `bytesOf` is no longer read:
 * other lines are written over it.
 */
export function giveBackBytes({ buffer }: BatchBytes): void {
  if (buffer.length <= MAX_KEPT_BYTES && spares.length < MAX_SPARES) spares.push(buffer);
}

/** The lines themselves, good until they are given back. */
export const bytesOf = ({ buffer, length }: BatchBytes): Buffer => buffer.subarray(0, length);

/** Adds a line that is complete. */
export function addLine(lines: BatchBytes, text: string): void {
  makeRoom(lines, text.length);
  lines.length += lines.buffer.write(text, lines.length, 'latin1');
}

/** Adds what `chainLine` makes of the open line in a buffer. Answers the hash of the line. */
export function addChainedLine(
  lines: BatchBytes,
  from: Buffer,
  start: number,
  end: number,
  seq: number,
  prevHash: string,
): string {
  makeRoom(lines, end - start + MAX_CHAIN_LENGTH);
  const { buffer, length } = lines;
  let at = length + from.copy(buffer, length, start, end);
  at = put(buffer, SEQ, at);
  at = put(buffer, `${seq}`, at);
  at = put(buffer, PREV, at);
  at = put(buffer, prevHash, at);
  at = put(buffer, '"', at);
  // A plain view is made faster than a slice of a buffer.
  const hash = digestOf(new Uint8Array(buffer.buffer, buffer.byteOffset + length, at - length));
  at = put(buffer, HASH_FIELD, at);
  at = put(buffer, hash, at);
  lines.length = put(buffer, LINE_END, at);
  return hash;
}

/** Writes ASCII, answers the next place. For short texts a call out of the engine costs more. */
function put(buffer: Buffer, text: string, at: number): number {
  for (let index = 0; index < text.length; index += 1) buffer[at + index] = text.charCodeAt(index);
  return at + text.length;
}

function makeRoom(lines: BatchBytes, more: number): void {
  const { buffer, length } = lines;
  if (length + more <= buffer.length) return;
  lines.buffer = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, length + more));
  buffer.copy(lines.buffer, 0, 0, length);
}
