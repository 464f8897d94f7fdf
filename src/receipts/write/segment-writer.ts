/**
 * Appends lines to the segments of a chain: a batch as a whole or not at all, and never behind
 * something torn.
 */

import { closeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder, openRegular } from '../../system/open-regular.ts';
import { headFile, segmentFile } from '../chain-names.ts';
import {
  type Batch,
  checkpointLine,
  type ChainRules,
  NO_RECEIPTS,
  type ReceiptLines,
  renderBatch,
} from './render-batch.ts';
import { type ChainFiles, syncFolder } from '../chain-files.ts';
import { type ChainEnd, findEnd } from './open-chain.ts';
import { GENESIS } from '../receipt-line.ts';
import { appendToIndex, type IndexEvent, syncIndex } from '../session-index.ts';
import { readSignedHead, writeSignedHead } from '../signed-head.ts';

/** A chain that is open for writing. Its functions are called one at a time. */
export interface Segments {
  readonly folder: string;
  readonly rules: ChainRules;
  readonly files: ChainFiles;
  /** Segments with a higher number are made here, and must not be there before. */
  readonly firstSegment: number;
  readonly heads: number;
  headTurn: number;
  end: ChainEnd;
  /** How many receipts the chain had when it was opened: the index knows of those. */
  readonly toldCount: number;
  file: number | null;
  /**
   * The same file once more, for writes that return when they are on disk: one trip to the disk
   * instead of two.
   */
  durableFile: number | null;
  /**
   * Something in the segment may not be on disk. A durable write behind it would not change that.
   */
  isUnsynced: boolean;
  /** A receipt was appended with `fsync`: segments are synced when they are left. */
  isDurable: boolean;
  /** The name of the segment is not on disk yet. */
  isNewName: boolean;
}

/** Opens a chain at its end, or answers `null` where it does not end as it was signed. */
export function openSegments(
  folder: string,
  rules: ChainRules,
  files: ChainFiles,
): Segments | null {
  const end = findEnd(folder, rules.chain, rules.signer);
  if (end === null) return null;
  const path = join(folder, headFile(rules.chain));
  const heads = openRegular(path, { access: 'update', create: 'missing' });
  if (heads === null) throw new Error('the folder has gone');
  const chain: Segments = {
    ...{
      folder,
      rules,
      files,
      firstSegment: end.segment,
      heads,
      headTurn: 0,
      end,
      file: null,
      durableFile: null,
    },
    // What another process left may not be on disk.
    ...{ isUnsynced: true, isDurable: false, isNewName: true, toldCount: end.count },
  };
  try {
    begin(chain, path);
    return chain;
  } catch (error) {
    letGo(chain);
    closeSync(heads);
    throw error;
  }
}

/**
 * The head comes first, then the entry in the index, then the first line: a kill in between leaves
 * nothing that would be missed.
 */
function begin(chain: Segments, headPath: string): void {
  const { rules, end } = chain;
  if (end.head === GENESIS) {
    const head = readSignedHead(headPath);
    if (head === 'missing' || head === null) keepHead(chain, checkpointLine(rules, end, {}).text);
    chain.end = { ...end, notes: { ...end.notes, entry: tellIndex(chain, 'opened') } };
  }
  // A segment that is full is not gone on with.
  if (end.size >= rules.maxFileBytes)
    chain.end = { ...end, segment: end.segment + 1, size: 0, due: true };
  openChain(chain);
}

/** Opens the segment now: a tool must not run when there is no file to write its receipt to. */
export function openChain(chain: Segments): void {
  soundSegment(chain);
}

function tellIndex({ folder, rules, end }: Segments, record: IndexEvent['record']): number {
  return appendToIndex(folder, rules.signer, () => rules.clock.now(), {
    record,
    chain: rules.chain,
    count: end.count,
    head: end.head,
  });
}

/** Writes the next of some receipts. Where it rejects, the chain ends where it ended before. */
export async function writeSome(
  chain: Segments,
  receipts: ReceiptLines,
  start: number,
  isDurable: boolean,
): Promise<Batch> {
  const file = soundSegment(chain);
  const batch = renderBatch(chain.rules, chain.end, receipts, start);
  const durable = isDurable && !chain.isUnsynced ? durableFile(chain) : null;
  try {
    for (let rest = batch.bytes; ; ) {
      const written = await chain.files.write(durable ?? file, rest);
      if (written >= rest.length) break;
      rest = behind(rest, written);
    }
  } catch (error) {
    rollBack(chain, file);
    // Anything else than a lack of room is a failed sync: see `syncSegment`.
    if (durable !== null && !isLackOfRoom(error)) leave(chain);
    throw error;
  }
  if (durable === null) chain.isUnsynced = true;
  chain.end = batch.end;
  if (batch.checkpoint !== null) keepHead(chain, batch.checkpoint);
  return batch;
}

/** `writeSome` without waiting. Where it throws, the chain ends where it ended before. */
export function writeSomeNow(
  chain: Segments,
  receipts: ReceiptLines,
  start: number,
  from = chain.end,
): Batch {
  const file = soundSegment(chain);
  const batch = renderBatch(chain.rules, from, receipts, start);
  try {
    for (let rest = batch.bytes; ; ) {
      const written = chain.files.writeNow(file, rest);
      if (written >= rest.length) break;
      rest = behind(rest, written);
    }
  } catch (error) {
    rollBack(chain, file);
    throw error;
  }
  chain.isUnsynced = true;
  chain.end = batch.end;
  if (batch.checkpoint !== null) keepHead(chain, batch.checkpoint);
  return batch;
}

/**
 * Waits until what was written is on disk. A failure gives the segment up: how much
 * of it the system still holds is not known.
 */
export async function syncSegment(chain: Segments): Promise<void> {
  if (chain.file === null) return;
  try {
    if (chain.isUnsynced) await chain.files.sync(chain.file);
    chain.isUnsynced = false;
  } catch (error) {
    leave(chain);
    throw error;
  }
  if (chain.isNewName) syncNames(chain);
}

/**
 * The next line begins a new segment, and names the head of this one. Where another file cannot be
 * opened, this one goes on: with no handles left, a receipt that has a file must not lose it.
 */
export async function rotate(chain: Segments): Promise<void> {
  if (chain.isDurable) await syncSegment(chain);
  if (chain.file !== null) openNext(chain);
}

/** `rotate` without waiting. */
export function rotateNow(chain: Segments): void {
  if (chain.file === null) return;
  if (chain.isDurable) chain.files.syncNow(chain.file);
  openNext(chain);
}

function openNext(chain: Segments): void {
  const { end, files } = chain;
  let next: number;
  try {
    next = files.open(pathOf(chain, end.segment + 1), 'new');
  } catch {
    return;
  }
  leave(chain);
  chain.file = next;
  chain.isNewName = true;
}

/** Signs the end, lets go of the files, and tells the index. */
export function closeSegments(chain: Segments): void {
  const isNews = !chain.end.isEnded || chain.end.count > chain.toldCount;
  try {
    if (!chain.end.isEnded) signEnd(chain);
    if (chain.isDurable && chain.file !== null) chain.files.syncNow(chain.file);
  } finally {
    letGo(chain);
    closeSync(chain.heads);
  }
  if (isNews) tellIndex(chain, 'closed');
}

function signEnd(chain: Segments): void {
  const notes = { ...chain.end.notes, end: true as const };
  writeSomeNow(chain, NO_RECEIPTS, 0, { ...chain.end, due: true, notes });
  chain.end = { ...chain.end, isEnded: true };
}

const isLackOfRoom = (error: unknown): boolean =>
  // Every error of the file system has a code.
  ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as NodeJS.ErrnoException).code ?? '');

/** What is left. A write that takes nothing and reports nothing would be asked for ever. */
function behind(bytes: Buffer, written: number): Buffer {
  if (written > 0) return bytes.subarray(written);
  throw new Error('the system wrote nothing');
}

/** Takes back what a failed write left, so that the next line is not glued to it. */
function rollBack(chain: Segments, file: number): void {
  try {
    chain.files.truncate(file, chain.end.size);
  } catch {
    leave(chain);
  }
}

/**
 * The open segment, as this writer left it. One that was cut, written to by others or deleted
 * meanwhile is given up.
 */
function soundSegment(chain: Segments): number {
  for (let tries = 0; tries < 2; tries += 1) {
    const file = chain.file ?? openSegment(chain);
    const { size, isLinked } = chain.files.look(file);
    if (isLinked && size === chain.end.size) return file;
    leave(chain);
  }
  throw new Error('the segments of the chain change under their writer');
}

function openSegment(chain: Segments): number {
  const { folder, files, end, firstSegment } = chain;
  makeFolder(folder);
  chain.file = files.open(pathOf(chain, end.segment), end.segment > firstSegment ? 'new' : 'any');
  chain.isNewName = true;
  return chain.file;
}

const pathOf = ({ folder, rules }: Segments, segment: number): string =>
  join(folder, segmentFile(rules.chain, segment));

/**
 * `null` where the segment cannot be opened once more under its name: what is written the other way
 * is synced.
 */
function durableFile(chain: Segments): number | null {
  if (chain.durableFile !== null) return chain.durableFile;
  try {
    chain.durableFile = chain.files.open(pathOf(chain, chain.end.segment), 'durable');
    return chain.files.look(chain.durableFile).size === chain.end.size ? chain.durableFile : null;
  } catch {
    return null;
  }
}

function letGo(chain: Segments): void {
  for (const file of [chain.file, chain.durableFile]) if (file !== null) chain.files.close(file);
  chain.file = null;
  chain.durableFile = null;
}

function leave(chain: Segments): void {
  letGo(chain);
  chain.isUnsynced = false;
  chain.end = { ...chain.end, segment: chain.end.segment + 1, size: 0, unsigned: 0, due: true };
}

function keepHead(chain: Segments, line: string): void {
  writeSignedHead(chain.heads, line, chain.headTurn);
  chain.headTurn += 1;
}

function syncNames(chain: Segments): void {
  syncIndex(chain.folder);
  syncFolder(chain.folder);
  syncFolder(dirname(chain.folder));
  chain.isNewName = false;
}
