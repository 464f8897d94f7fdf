/** Kills processes while they write receipts, and looks for what was lost. */

import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/core/time/clock.ts';
import { queryReceipts, verifyReceipts } from '../../../src/receipts/index.ts';
import { createRandom } from '../fuzz/random.ts';
import type { WriterOrders } from './crash-writer.ts';

/** How many kills, of what. */
export interface CrashOptions {
  readonly kills: number;
  readonly seed: number;
  readonly kind: WriterOrders['kind'];
  /** The built `crash-writer.js`. */
  readonly writerFile: string;
  readonly onProgress?: (kills: number) => void;
}

/** What came of it. */
export interface CrashFigures {
  readonly kills: number;
  readonly acknowledged: number;
  /** Acknowledged receipts that are not in the files. */
  readonly lost: number;
  readonly tornTails: number;
  readonly problems: readonly string[];
}

/**
 * A folder is written to by this many processes one after the other, each taking up what the one
 * before left.
 */
const KILLS_PER_FOLDER = 10;
const MAX_DELAY_MS = 120;
const MAX_FILE_BYTES = 64 * 1024;

/**
 * Runs writers, kills each at a random moment, and compares what they acknowledged with what is on
 * disk.
 */
export async function crashRuns({
  kills,
  seed,
  kind,
  writerFile,
  onProgress,
}: CrashOptions): Promise<CrashFigures> {
  const random = createRandom(seed);
  const sum = { kills: 0, acknowledged: 0, lost: 0, tornTails: 0, problems: [] as string[] };
  while (sum.kills < kills) {
    const place = createPlace();
    try {
      for (let nth = 0; nth < KILLS_PER_FOLDER && sum.kills < kills; nth += 1) {
        await killOne(
          writerFile,
          { ...ordersFor(place, `k${nth}`), kind },
          random.below(MAX_DELAY_MS),
        );
        sum.kills += 1;
        await look(place, kind, sum);
        onProgress?.(sum.kills);
      }
      sum.acknowledged += acknowledgedIn(place).length;
      sum.lost += (await missing(place, kind)).length;
    } finally {
      rmSync(place.folder, { recursive: true, force: true });
    }
  }
  return sum;
}

/** Where the writers of one run write. */
export interface CrashPlace {
  readonly folder: string;
  readonly dir: string;
  readonly acks: string;
  readonly keyFile: string;
  readonly publicKey: KeyObject;
}

/** A new folder with a key pair. */
export function createPlace(): CrashPlace {
  const folder = mkdtempSync(join(tmpdir(), 'allium-crash-'));
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const place = {
    folder,
    dir: join(folder, 'receipts'),
    acks: join(folder, 'acks'),
    keyFile: join(folder, 'key.pem'),
    publicKey,
  };
  mkdirSync(place.dir, { mode: 0o700 });
  writeFileSync(place.keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), {
    mode: 0o600,
  });
  return place;
}

/** What a writer of a place is told; it goes on until it is killed. */
export function ordersFor({ dir, acks, keyFile }: CrashPlace, name: string): WriterOrders {
  return { dir, acks, keyFile, name, kind: 'allium', receipts: null, maxFileBytes: MAX_FILE_BYTES };
}

/** Starts a program, and kills it so many milliseconds after its first word. */
export async function killOne(writerFile: string, orders: object, delayMs: number): Promise<void> {
  const child = spawn(process.execPath, [writerFile, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await firstOutput(child);
  await new Promise<void>((resolve) => systemClock.after(delayMs, resolve));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.kill('SIGKILL');
  await ended;
}

const firstOutput = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    child.stdout?.once('data', () => {
      // Read on: a full pipe would stop the writer.
      child.stdout?.resume();
      resolve();
    });
    child.once('close', () => reject(new Error('the writer ended by itself')));
  });

async function look(
  place: CrashPlace,
  kind: WriterOrders['kind'],
  sum: { tornTails: number; problems: string[] },
): Promise<void> {
  if (kind === 'buffered') return;
  const { problems, tornTail } = await verifyReceipts(place.dir, { publicKey: place.publicKey });
  if (tornTail !== undefined) sum.tornTails += 1;
  // A writer that was killed before its first file leaves an empty folder: a finding, and right
  // unless something was acknowledged.
  const real = problems.filter(
    (problem) => problem.kind !== 'empty' || acknowledgedIn(place).length > 0,
  );
  sum.problems.push(
    ...real.map(({ file, line, kind: what, message }) => `${file}:${line} ${what}: ${message}`),
  );
}

/** The call ids that writers said were kept. */
export function acknowledgedIn({ acks }: CrashPlace): readonly string[] {
  return existsSync(acks) ? readFileSync(acks, 'utf8').split('\n').slice(0, -1) : [];
}

/** Acknowledged call ids that are not in the files. */
export async function missing(
  place: CrashPlace,
  kind: WriterOrders['kind'] = 'allium',
): Promise<readonly string[]> {
  const written = new Set<string>();
  if (kind === 'allium')
    for await (const { tool_call_id } of queryReceipts(place.dir)) written.add(tool_call_id);
  else for (const id of idsByHand(join(place.dir, 'buffered-00000000.jsonl'))) written.add(id);
  return acknowledgedIn(place).filter((id) => !written.has(id));
}

function idsByHand(path: string): readonly string[] {
  const text = existsSync(path) ? readFileSync(path, 'latin1') : '';
  return [...text.matchAll(/"tool_call_id":"([^"]*)".*\}$/gm)].map(([, id = '']) => id);
}
