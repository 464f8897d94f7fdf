/** Changes every byte of a receipt file, one after the other. */

import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { localReceiptSink, verifyReceipts } from '../../../src/receipts/index.ts';
import { createPlace } from './crash-runs.ts';
import { receiptOf } from './sample-receipt.ts';

/**
 * One of several shares of the bytes, from 1, so that a long sweep can be spread over processes.
 */
export interface Share {
  readonly nth: number;
  readonly of: number;
}

/** What the sweep came to. */
export interface SweepFigures {
  /** How many bytes were changed, and how many there are. */
  readonly bytes: number;
  readonly ofBytes: number;
  /** Changes that no problem was reported for, or a first one in another line. */
  readonly missed: number;
}

/** Told after every so many bytes. */
const STEP = 10_000;
const LINE_FEED = 10;

/**
 * Flips one bit of each byte of so many receipts, and looks whether the first problem is reported
 * in the line of the change.
 */
export async function flipSweep(
  receipts: number,
  share: Share,
  onProgress: (done: number, of: number) => void,
  verify: typeof verifyReceipts = verifyReceipts,
): Promise<SweepFigures> {
  const place = createPlace();
  try {
    const sink = localReceiptSink({
      dir: place.dir,
      key: false,
      signingKey: readFileSync(place.keyFile, 'utf8'),
    });
    for (let nth = 0; nth < receipts; nth += 1)
      sink.append('sweep', () => receiptOf(`c${nth}`, 'sweep'), 'background');
    await sink.close();
    const file = readdirSync(place.dir).find((name) => name.endsWith('.jsonl')) ?? '';
    const problemLine = async (): Promise<number | undefined> =>
      (await verify(join(place.dir, file), { publicKey: place.publicKey })).problems[0]?.line;
    return await sweepFile(join(place.dir, file), share, problemLine, onProgress);
  } finally {
    rmSync(place.folder, { recursive: true, force: true });
  }
}

async function sweepFile(
  path: string,
  { nth, of }: Share,
  problemLine: () => Promise<number | undefined>,
  onProgress: (done: number, of: number) => void,
): Promise<SweepFigures> {
  const bytes = readFileSync(path);
  const [from, to] = [nth - 1, nth].map((edge) => Math.floor((bytes.length * edge) / of)) as [
    number,
    number,
  ]; // One for each.
  const file = openSync(path, 'r+');
  let missed = 0;
  let line = 1 + bytes.subarray(0, from).filter((byte) => byte === LINE_FEED).length;
  try {
    for (let at = from; at < to; at += 1) {
      const whole = bytes[at] ?? 0;
      writeByte(file, whole ^ (1 << (at % 8)), at);
      if ((await problemLine()) !== line) missed += 1;
      writeByte(file, whole, at);
      if (whole === LINE_FEED) line += 1;
      if ((at + 1 - from) % STEP === 0) onProgress(at + 1 - from, to - from);
    }
    if ((await problemLine()) !== undefined)
      throw new Error('the sweep did not put back what it changed');
  } finally {
    closeSync(file);
  }
  return { bytes: to - from, ofBytes: bytes.length, missed };
}

const writeByte = (file: number, byte: number, at: number): void =>
  void writeSync(file, Uint8Array.of(byte), 0, 1, at);
