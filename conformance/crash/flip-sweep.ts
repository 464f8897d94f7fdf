/** Changes every byte of a receipt file, one after the other. */

import type { KeyObject } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { localReceiptSink, verifyReceipts } from '../../src/receipts/index.ts';
import { createPlace } from './crash-runs.ts';
import { receiptOf } from './sample-receipt.ts';

/** What the sweep came to. */
export interface SweepFigures {
  readonly bytes: number;
  /** Changes that no problem was reported for, or a first one in another line. */
  readonly missed: number;
}

/** Told after every so many bytes. */
const STEP = 10_000;
const LINE_FEED = 10;

/** Flips one bit of each byte of so many receipts, and looks whether the first problem is reported in the line of the change. */
export async function flipSweep(receipts: number, onProgress: (done: number, of: number) => void): Promise<SweepFigures> {
  const place = createPlace();
  try {
    const sink = localReceiptSink({ dir: place.dir, key: false, signingKey: readFileSync(place.keyFile, 'utf8') });
    for (let nth = 0; nth < receipts; nth += 1) sink.append('sweep', () => receiptOf(`c${nth}`, 'sweep'), 'background');
    await sink.close();
    const file = readdirSync(place.dir).find((name) => name.endsWith('.jsonl')) ?? '';
    return await sweepFile(join(place.dir, file), place.publicKey, onProgress);
  } finally {
    rmSync(place.folder, { recursive: true, force: true });
  }
}

async function sweepFile(path: string, publicKey: KeyObject, onProgress: (done: number, of: number) => void): Promise<SweepFigures> {
  const bytes = readFileSync(path);
  let missed = 0;
  let line = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const whole = bytes[at] ?? 0;
    bytes[at] = whole ^ (1 << (at % 8));
    writeFileSync(path, bytes);
    const [problem] = (await verifyReceipts(path, { publicKey })).problems;
    if (problem?.line !== line) missed += 1;
    bytes[at] = whole;
    if (whole === LINE_FEED) line += 1;
    if ((at + 1) % STEP === 0) onProgress(at + 1, bytes.length);
  }
  return { bytes: bytes.length, missed };
}
