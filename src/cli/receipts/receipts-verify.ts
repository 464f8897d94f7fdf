/** `allium receipts verify`. */

import { closeSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describeThrown } from '../../core/contract/errors.ts';
import {
  verifyReceipts,
  type VerifyProgress,
  type VerifyReport,
  type Witness,
} from '../../receipts/index.ts';
import { openRegular } from '../../system/open-regular.ts';
import { colourFor, paint } from '../io/colour.ts';
import { type CliIo, UsageError, writeLine } from '../io/io.ts';
import { jsonOf } from './receipts-format.ts';
import { type PlaceOptions, placeOf, stateOf } from './receipts-source.ts';
import { safeText } from '../io/text-table.ts';

/** Options of `verify`. */
export interface VerifyCommandOptions extends PlaceOptions {
  readonly publicKey?: string;
  readonly atLeast?: number | Witness;
  readonly json?: true;
}

/** Verifies a place, and prints what is wrong. */
export async function verifyCommand(
  path: string | undefined,
  options: VerifyCommandOptions,
  io: CliIo,
): Promise<number> {
  const place = placeOf(path, options, io);
  const { publicKey, beside } = keyOf(place, path, options, io);
  const progress = progressOn(io);
  try {
    const { atLeast } = options;
    const given = {
      ...(publicKey === null ? {} : { publicKey }),
      ...(atLeast === undefined ? {} : { atLeast }),
    };
    const report = await verifyReceipts(place, {
      ...given,
      signal: io.signal,
      onProgress: progress.tell,
    });
    progress.clear();
    if (options.json === true) await writeLine(io.stdout, jsonOf(report));
    else
      for (const line of linesOf(report, beside, colourFor(io.stdout, io.env)))
        await writeLine(io.stdout, line);
    return report.ok ? 0 : 1;
  } finally {
    progress.clear();
  }
}

interface FoundKey {
  /** `null` where there is none. */
  readonly publicKey: string | null;
  /**
   * Where it lay, if that was beside receipts that were named: it is as trustworthy as they are.
   */
  readonly beside?: string;
}

/**
 * The key that was named; otherwise that of the state folder that the named receipts lie in, as
 * they do in a copy of it; otherwise that of the state folder.
 */
function keyOf(
  place: string,
  path: string | undefined,
  options: VerifyCommandOptions,
  io: CliIo,
): FoundKey {
  const { publicKey, state } = options;
  if (publicKey !== undefined) return { publicKey: namedKey(resolve(io.cwd, publicKey)) };
  const own = join(stateOf(options, io), ...KEY_FILE);
  if (path !== undefined && state === undefined) {
    const folder = statSync(place).isDirectory() ? place : dirname(place);
    const beside = join(dirname(folder), ...KEY_FILE);
    const found = beside === own ? null : ownKey(beside);
    if (found !== null) return { publicKey: found, beside };
  }
  return { publicKey: ownKey(own) };
}

const KEY_FILE = ['keys', 'receipts-ed25519.pub.pem'] as const;

function namedKey(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new UsageError(`${safeText(path)}: the public key cannot be read`);
  }
}

/** A key that somebody else put there would prove what they signed. */
function ownKey(path: string): string | null {
  let file: number | null;
  try {
    file = openRegular(path, { access: 'read' });
  } catch (error) {
    throw new UsageError(
      `the public key cannot be read: ${safeText(describeThrown(error))}. Name one with --public-key`,
    );
  }
  if (file === null) return null;
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/**
 * What `--at-least` takes: a number of receipts, or what a report said of a file or of the index.
 */
export function witnessFrom(text: string): number | Witness {
  const [, digits, head] = /^(\d{1,15})(?::(sha256:[0-9a-f]{64}))?$/.exec(text) ?? [];
  if (digits === undefined)
    throw new UsageError(`"${safeText(text)}" is neither a number nor <count>:<head>`);
  return head === undefined ? Number(digits) : { count: Number(digits), head };
}

const WITHOUT_KEY = [
  'unknown: no public key was given, and signatures were not checked',
  '          not proven: that no whole file was written anew. Give --public-key',
];

function linesOf(
  report: VerifyReport,
  beside: string | undefined,
  colour: boolean,
): readonly string[] {
  const { ok, count, head, key, problems } = report;
  const origin =
    beside === undefined ? '' : `, with ${safeText(beside)}, which lay beside the receipts`;
  const verdict = ok
    ? paint(colour, 'green', 'nothing is wrong')
    : paint(colour, 'red', `${problems.length} found`);
  return [
    ...problems.map(
      ({ file, line, kind, message }) => `${safeText(file)}:${line}: ${kind}: ${safeText(message)}`,
    ),
    `receipts  ${count}`,
    `head      ${head === null ? 'none: there is no line' : safeText(head)}`,
    ...(key === 'known'
      ? [`key       known: signatures were checked${origin}`]
      : [`key       ${WITHOUT_KEY.join('\n')}`]),
    ...toldLines(report),
    `problems  ${verdict}`,
  ];
}

/** What is no problem, and must be known to whoever relies on the files. */
function toldLines({
  index,
  unindexed = 0,
  unsigned = 0,
  found = 0,
  asideBytes = 0,
  tornTail,
}: VerifyReport): readonly string[] {
  const lines: readonly (string | null)[] = [
    index === undefined ? null : `index     ${index.count}:${safeText(index.head)}`,
    unindexed === 0
      ? null
      : `unindexed ${unindexed} ${unindexed === 1 ? 'session' : 'sessions'} of an earlier version: if one is gone, nothing here tells`,
    unsigned === 0
      ? null
      : `unsigned  ${unsigned} ${unsigned === 1 ? 'receipt' : 'receipts'} behind the newest checkpoint: being written, left by a crash, or added by anybody`,
    found === 0
      ? null
      : `found     ${found} ${found === 1 ? 'receipt was' : 'receipts were'} unsigned when a later writer found and signed ${found === 1 ? 'it' : 'them'}`,
    asideBytes === 0
      ? null
      : `aside     ${asideBytes} bytes stood behind an end, and were moved to .behind- files`,
    tornTail === undefined
      ? null
      : `torn      ${safeText(tornTail.file)}:${tornTail.line}: ${tornTail.bytes} bytes without an end, never acknowledged`,
  ];
  return lines.filter((line) => line !== null);
}

const BAR_CELLS = 24;
const TELL_MS = 100;

/** A line that is written over, on a terminal only. */
function progressOn({ stderr }: CliIo): {
  tell: (progress: VerifyProgress) => void;
  clear: () => void;
} {
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
