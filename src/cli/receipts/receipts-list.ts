/** `allium receipts list`, `tail` and `export`. */

import { randomUUID } from 'node:crypto';
import { closeSync, createWriteStream, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { tailReceipts } from '../../receipts/index.ts';
import type { FoundReceipt } from '../../receipts/read/search-receipts.ts';
import { colourFor } from '../io/colour.ts';
import { type CliIo, UsageError, writeLine } from '../io/io.ts';
import { COLUMNS, csvHeader, csvOf, jsonOf, lineOf, rowOf } from './receipts-format.ts';
import { type FilterOptions, openSource, type PlaceOptions, placeOf } from './receipts-source.ts';
import { type Column, renderTable, safeText } from '../io/text-table.ts';

/** Options of `list`. */
export interface ListOptions extends FilterOptions {
  readonly json?: true;
  readonly csv?: true;
}

/**
 * After so many rows the heading comes again: a table that is not held in memory cannot know how
 * wide its columns get.
 */
const PAGE_ROWS = 500;

/** Prints the receipts that fit. */
export async function listReceipts(
  path: string | undefined,
  options: ListOptions,
  io: CliIo,
): Promise<number> {
  if (options.json === true && options.csv === true)
    throw new UsageError('--json and --csv cannot both be printed');
  const source = openSource(placeOf(path, options, io), options, io);
  if (options.json === true)
    for await (const { receipt } of source.found) await writeLine(io.stdout, jsonOf(receipt));
  else if (options.csv === true) await writeCsv(io.stdout, source.found);
  else await writeTable(io, COLUMNS, source.found, ({ receipt }) => rowOf(receipt));
  return source.report();
}

/** Prints a table with the heading once a page. */
export async function writeTable<T>(
  io: CliIo,
  columns: readonly Column[],
  found: AsyncIterable<T>,
  rowFor: (one: T) => readonly string[],
): Promise<void> {
  const { columns: width } = io.stdout;
  const style = { colour: colourFor(io.stdout, io.env), ...(width === undefined ? {} : { width }) };
  let rows: (readonly string[])[] = [];
  const flush = async (): Promise<void> => {
    if (rows.length > 0) await writeLine(io.stdout, renderTable(columns, rows, style));
    rows = [];
  };
  for await (const one of found) if (rows.push(rowFor(one)) >= PAGE_ROWS) await flush();
  await flush();
}

async function writeCsv(out: Writable, found: AsyncIterable<FoundReceipt>): Promise<void> {
  await writeLine(out, `${csvHeader()}\r`);
  for await (const { receipt } of found) await writeLine(out, `${csvOf(receipt)}\r`);
}

/** One JSON document with a receipt a line. */
async function writeArray(out: Writable, found: AsyncIterable<FoundReceipt>): Promise<void> {
  let held: string | null = null;
  await writeLine(out, '[');
  for await (const { receipt } of found) {
    if (held !== null) await writeLine(out, `${held},`);
    held = jsonOf(receipt);
  }
  if (held !== null) await writeLine(out, held);
  await writeLine(out, ']');
}

/** Options of `tail`. */
export interface TailCommandOptions extends PlaceOptions {
  readonly lines: number;
  readonly follow?: true;
  readonly json?: true;
}

/** Prints the last receipts, and with `follow` those that come, until Ctrl-C. */
export async function tailCommand(
  path: string | undefined,
  options: TailCommandOptions,
  io: CliIo,
): Promise<number> {
  const { lines, follow = false, json } = options;
  for await (const receipt of tailReceipts(placeOf(path, options, io), {
    lines,
    follow,
    signal: io.signal,
  }))
    await writeLine(io.stdout, json === true ? jsonOf(receipt) : lineOf(receipt));
  return 0;
}

/** Options of `export`. */
export interface ExportOptions extends FilterOptions {
  readonly format: string;
  readonly out?: string;
}

/** Writes the receipts that fit to a file or to stdout. */
export async function exportReceipts(
  path: string | undefined,
  options: ExportOptions,
  io: CliIo,
): Promise<number> {
  const source = openSource(placeOf(path, options, io), options, io);
  const write = (out: Writable): Promise<void> =>
    options.format === 'csv' ? writeCsv(out, source.found) : writeArray(out, source.found);
  if (options.out === undefined) await write(io.stdout);
  else await writeWhole(resolve(io.cwd, options.out), write);
  return source.report();
}

/**
 * Under another name first: nobody ever sees half a file, and one that was there stays until the
 * new one is whole.
 */
async function writeWhole(path: string, write: (out: Writable) => Promise<void>): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.part`);
  const file = openDraft(draft, path);
  try {
    const out = createWriteStream(draft, { fd: file, autoClose: false });
    let failure: Error | null = null;
    out.on('error', (error) => void (failure ??= error));
    try {
      await write(out);
    } finally {
      await new Promise<void>((done) => void out.end(() => done()));
    }
    // Set by the listener, which the compiler does not see.
    if (failure !== null) throw failure as Error;
    fsyncSync(file);
    renameSync(draft, path);
  } finally {
    closeSync(file);
    // Gone already where it was renamed.
    rmSync(draft, { force: true });
  }
}

function openDraft(draft: string, path: string): number {
  try {
    return openSync(draft, 'wx', 0o600);
  } catch (error) {
    // Every error of the file system has a code.
    throw new UsageError(
      `${safeText(path)}: cannot be written (${(error as NodeJS.ErrnoException).code ?? 'no reason given'})`,
    );
  }
}
