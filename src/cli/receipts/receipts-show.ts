/**
 * `allium receipts show`: one call, by its id, by the beginning of its id, or by the receipt that
 * its result names.
 */

import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FoundReceipt } from '../../receipts/read/search-receipts.ts';
import { type CliIo, UsageError, writeLine } from '../io/io.ts';
import { jsonOf } from './receipts-format.ts';
import { openSource, type PlaceOptions, placeOf, type Source } from './receipts-source.ts';
import { safeText } from '../io/text-table.ts';

/** Options of `show`. */
export interface ShowOptions extends PlaceOptions {
  readonly json?: true;
}

/** Prints every line about one call; for a URI, the one line that it names. */
export async function showCall(
  call: string,
  path: string | undefined,
  options: ShowOptions,
  io: CliIo,
): Promise<number> {
  const uri = readUri(call, path, options, io);
  const place = uri?.place ?? placeOf(path, options, io);
  const open = (filter: { readonly call?: string }): Source =>
    openSource(place, { ...options, ...filter }, io, true);
  if (uri !== null) {
    const source = open({});
    return ended(
      await printed(source, options, io, ({ receipt }) => receipt.seq === uri.seq),
      source.report(),
      call,
      io,
    );
  }
  const exact = open({ call });
  const count = await printed(exact, options, io);
  if (count > 0 || call === '') return ended(count, exact.report(), call, io);
  const all = open({});
  const [id, ...others] = await idsFrom(all, call);
  if (others.length > 0) throw ambiguous(call, [id ?? '', ...others]);
  return ended(
    id === undefined ? 0 : await printed(open({ call: id }), options, io),
    all.report(),
    call,
    io,
  );
}

function ended(count: number, code: number, call: string, io: CliIo): number {
  if (count === 0) io.stderr.write(`allium: there is no receipt of the call "${safeText(call)}"\n`);
  return count === 0 ? 1 : code;
}

async function printed(
  { found }: Source,
  { json }: ShowOptions,
  io: CliIo,
  fits = (_one: FoundReceipt): boolean => true,
): Promise<number> {
  let count = 0;
  for await (const one of found) {
    if (!fits(one)) continue;
    await writeLine(
      io.stdout,
      json === true ? jsonOf(one) : `${count > 0 ? '\n' : ''}${detailsOf(one)}`,
    );
    count += 1;
  }
  return count;
}

/** So many calls are named when a beginning fits several. */
const MAX_NAMED = 10;

/** The ids that begin so, at most one more than are named. */
async function idsFrom({ found }: Source, beginning: string): Promise<readonly string[]> {
  const ids = new Set<string>();
  for await (const { receipt } of found) {
    if (receipt.tool_call_id.startsWith(beginning)) ids.add(receipt.tool_call_id);
    if (ids.size > MAX_NAMED) break;
  }
  return [...ids];
}

function ambiguous(call: string, ids: readonly string[]): UsageError {
  const named = ids.slice(0, MAX_NAMED).map(safeText).join(', ');
  const more = ids.length > MAX_NAMED ? ', and more' : '';
  return new UsageError(
    `several calls begin with "${safeText(call)}": ${named}${more}. Write more of the one that is meant`,
  );
}

/**
 * Where a URI leads. With a path, the file of that name there: receipts may have been copied since
 * they were written. MCP clients get the URI without its folder, which is that of the state folder.
 */
function readUri(
  call: string,
  path: string | undefined,
  options: ShowOptions,
  io: CliIo,
): { readonly place: string; readonly seq: number } | null {
  const [, address = '', digits] =
    /^(file:.+\.jsonl|[^/\\:]+\.jsonl)#seq=(\d{1,15})$/.exec(call) ?? [];
  const isUri = call.startsWith('file:');
  if (digits === undefined) {
    if (isUri)
      throw new UsageError(
        `"${safeText(call)}" is no receipt URI: it ends in ".jsonl#seq=" and a number`,
      );
    return null;
  }
  const named = isUri ? pathOf(address) : address;
  const given = path === undefined && isUri ? null : placeOf(path, options, io);
  const isFolder = given !== null && statSync(given).isDirectory();
  const place = isFolder ? join(given, basename(named)) : (given ?? named);
  if (!existsSync(place))
    throw new UsageError(
      `${safeText(place)}: there is no such file; where receipts were moved, name their folder, too`,
    );
  return { place: resolve(place), seq: Number(digits) };
}

function pathOf(address: string): string {
  try {
    return fileURLToPath(address);
  } catch {
    throw new UsageError(`"${safeText(address)}" names no file of this machine`);
  }
}

/** Deeper parts of a receipt are left to `--json`: a forged line may nest without end. */
const MAX_DEPTH = 16;

function detailsOf({ file, line, receipt }: FoundReceipt): string {
  const fields = Object.entries(receipt).filter(
    ([name, value]) => value !== null && name !== 'schema_version',
  );
  return [`${safeText(file)}:${line}`, ...membersOf(fields, '  ', 1)].join('\n');
}

/**
 * A line for each member, and below its name the lines of what is in it. Names of one object line
 * up.
 */
function membersOf(
  members: readonly (readonly [string, unknown])[],
  indent: string,
  depth: number,
): readonly string[] {
  const width = Math.max(0, ...members.map(([name]) => Math.min(name.length, 20)));
  return members.flatMap(([name, value]) => {
    const text = plainText(value, depth);
    if (text !== null) return [`${indent}${safeText(name).padEnd(width)}  ${text}`];
    return [`${indent}${safeText(name)}`, ...partsOf(value, `${indent}  `, depth + 1)];
  });
}

/** The lines of a list or an object that is not empty. The first line of an item has a dash. */
function partsOf(value: unknown, indent: string, depth: number): readonly string[] {
  // Neither a list nor plain.
  if (!Array.isArray(value)) return membersOf(Object.entries(value as object), indent, depth);
  return value.flatMap((item: unknown) => {
    const lines = plainText(item, depth) ?? partsOf(item, `${indent}  `, depth + 1);
    const [first = '', ...rest] = typeof lines === 'string' ? [lines] : lines;
    return [`${indent}- ${first.trimStart()}`, ...rest];
  });
}

/** What fits on one line, or `null` for what has parts. */
function plainText(value: unknown, depth: number): string | null {
  if (typeof value === 'string') return safeText(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Object.keys(value).length === 0) return Array.isArray(value) ? '[]' : '{}';
  return depth > MAX_DEPTH ? '… (--json shows it)' : null;
}
