/** `allium receipts verify`. */

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { verifyReceipts, type VerifyProgress, type VerifyReport } from '../receipts/index.ts';
import { colourFor, paint } from './colour.ts';
import { type CliIo, UsageError, writeLine } from './io.ts';
import { jsonOf } from './receipts-format.ts';
import { type PlaceOptions, placeOf, stateOf } from './receipts-source.ts';
import { safeText } from './text-table.ts';

/** Options of `verify`. */
export interface VerifyCommandOptions extends PlaceOptions {
  readonly publicKey?: string;
  readonly json?: true;
}

/** Verifies a place, and prints what is wrong. */
export async function verifyCommand(path: string | undefined, options: VerifyCommandOptions, io: CliIo): Promise<number> {
  const place = placeOf(path, options, io);
  const publicKey = keyOf(options, io);
  const progress = progressOn(io);
  try {
    const given = publicKey === null ? {} : { publicKey };
    const report = await verifyReceipts(place, { ...given, signal: io.signal, onProgress: progress.tell });
    progress.clear();
    if (options.json === true) await writeLine(io.stdout, jsonOf(report));
    else for (const line of linesOf(report, colourFor(io.stdout, io.env))) await writeLine(io.stdout, line);
    return report.ok ? 0 : 1;
  } finally {
    progress.clear();
  }
}

/** The key that was named, or the one of the state folder. `null` where there is none. */
function keyOf(options: VerifyCommandOptions, io: CliIo): string | null {
  const own = join(stateOf(options, io), 'keys', 'receipts-ed25519.pub.pem');
  const path = options.publicKey === undefined ? own : resolve(io.cwd, options.publicKey);
  if (options.publicKey === undefined && !existsSync(own)) return null;
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new UsageError(`${safeText(path)}: the public key cannot be read`);
  }
}

const WITHOUT_KEY = [
  'unknown: no public key was given, and signatures were not checked',
  '          not proven: that nobody wrote whole files anew. Give --public-key',
];

function linesOf({ ok, count, head, key, tornTail, problems }: VerifyReport, colour: boolean): readonly string[] {
  const verdict = ok ? paint(colour, 'green', 'nothing is wrong') : paint(colour, 'red', `${problems.length} found`);
  return [
    ...problems.map(({ file, line, kind, message }) => `${safeText(file)}:${line}: ${kind}: ${safeText(message)}`),
    `receipts  ${count}`,
    `head      ${head === null ? 'none: there is no line' : safeText(head)}`,
    ...(key === 'known' ? ['key       known: signatures were checked'] : [`key       ${WITHOUT_KEY.join('\n')}`]),
    ...(tornTail === undefined
      ? []
      : [`torn      ${tornTail.file}:${tornTail.line}: ${tornTail.bytes} bytes without an end, never acknowledged`]),
    `problems  ${verdict}`,
  ];
}

const BAR_CELLS = 24;
const TELL_MS = 100;

/** A line that is written over, on a terminal only. */
function progressOn({ stderr }: CliIo): { tell: (progress: VerifyProgress) => void; clear: () => void } {
  if (stderr.isTTY !== true) return { tell: () => {}, clear: () => {} };
  let toldAt = Number.NEGATIVE_INFINITY;
  let isShown = false;
  return {
    tell({ bytes, totalBytes, receipts }) {
      const now = performance.now();
      if (now - toldAt < TELL_MS) return;
      toldAt = now;
      isShown = true;
      const share = totalBytes === 0 ? 1 : Math.min(1, bytes / totalBytes);
      const bar = '█'.repeat(Math.round(share * BAR_CELLS)).padEnd(BAR_CELLS, '░');
      stderr.write(`\r${bar} ${Math.floor(share * 100)} %  ${receipts} receipts\u001b[K`);
    },
    clear() {
      if (isShown) stderr.write('\r\u001b[K');
      isShown = false;
    },
  };
}
