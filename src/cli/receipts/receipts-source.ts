/**
 * Where `allium receipts` looks, which receipts it takes, and what it says about lines it cannot
 * read.
 */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { searchAll } from '../../receipts/read/search-all.ts';
import type { FoundReceipt, ReceiptFilter } from '../../receipts/read/search-receipts.ts';
import { type CliIo, UsageError } from '../io/io.ts';
import { safeText } from '../io/text-table.ts';

/** Options of every subcommand. */
export interface PlaceOptions {
  readonly state?: string;
}

/** The options that choose receipts. */
export interface FilterOptions extends PlaceOptions, Omit<ReceiptFilter, 'callId'> {
  readonly call?: string;
}

/** The state folder, as the library finds it. */
export const stateOf = ({ state }: PlaceOptions, { cwd, env }: CliIo): string =>
  resolve(cwd, state ?? env.ALLIUM_STATE_DIR ?? '.allium');

/** The file or folder to look at. */
export function placeOf(path: string | undefined, options: PlaceOptions, io: CliIo): string {
  const place = path === undefined ? join(stateOf(options, io), 'receipts') : resolve(io.cwd, path);
  if (!existsSync(place))
    throw new UsageError(`${safeText(place)}: there is no such file or folder`);
  return place;
}

/** What the options ask for, without the limit. */
const filterOf = ({ call, limit: _limit, ...filter }: FilterOptions): ReceiptFilter =>
  call === undefined ? filter : { ...filter, callId: call };

const UNIT_MS = Object.freeze({ s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 });

/** A time as somebody types it: `2h` is two hours ago, anything else a date as ISO text. */
export function timeFrom(text: string, now = Date.now()): number {
  const [, count, unit] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  // The pattern has only these.
  if (count !== undefined) return now - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  const time = /^\d{4}-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw new UsageError(
      `"${safeText(text)}" is no time: write 2026-01-31, 2026-01-31T12:00:00Z, 30m, 2h or 3d`,
    );
  return time;
}

/** A whole number as somebody types it. */
export function countFrom(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`"${safeText(text)}" is no whole number`);
  return Number(text);
}

/** Receipts, and afterwards what was wrong on the way. */
export interface Source {
  readonly found: AsyncIterable<FoundReceipt>;
  /**
   * Tells on stderr of what could not be read. Answers the exit code: 1 where something is damaged.
   */
  report(): number;
}

/** The receipts of a place that fit, oldest first; with a limit, the newest of them. */
export function openSource(
  place: string,
  options: FilterOptions,
  io: CliIo,
  lines = false,
): Source {
  const damaged = new Map<string, number>();
  const unreadable = new Set<string>();
  const torn = new Set<string>();
  const found = searchAll('allium receipts', place, filterOf(options), {
    signal: io.signal,
    lines,
    onDamaged: (file, what) => {
      if (what === 'file') unreadable.add(file);
      else damaged.set(file, (damaged.get(file) ?? 0) + 1);
    },
    onTorn: (file) => void torn.add(file),
  });
  return {
    found: options.limit === undefined ? found : newest(found, options.limit),
    report() {
      for (const file of torn)
        io.stderr.write(
          `allium: ${file}: the last line has no end: torn by a crash, or being written just now\n`,
        );
      for (const [file, count] of damaged)
        io.stderr.write(
          `allium: ${file}: ${count} damaged ${count === 1 ? 'line' : 'lines'} left out\n`,
        );
      for (const file of unreadable) io.stderr.write(`allium: ${file}: the file cannot be read\n`);
      if (damaged.size + unreadable.size === 0) return 0;
      io.stderr.write('allium: "allium receipts verify" says what is wrong with them\n');
      return 1;
    },
  };
}

/** The last so many. Holds no more than twice as many. */
async function* newest(
  found: AsyncIterable<FoundReceipt>,
  limit: number,
): AsyncGenerator<FoundReceipt, void, undefined> {
  let kept: FoundReceipt[] = [];
  for await (const one of found) {
    kept.push(one);
    if (kept.length >= 2 * limit + 1) kept = limit === 0 ? [] : kept.slice(-limit);
  }
  yield* limit === 0 ? [] : kept.slice(-limit);
}
