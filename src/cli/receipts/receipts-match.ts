/** `allium receipts match`: which receipts are of exactly these arguments. */

import { join } from 'node:path';
import { canonicalHasher, type HashKey } from '../../core/json/hash-canonical.ts';
import { hashingKeyIn } from '../../receipts/key-files.ts';
import type { FoundReceipt } from '../../receipts/read/search-receipts.ts';
import type { StoredReceipt } from '../../receipts/read/stored-receipt.ts';
import { readArguments } from '../call-arguments.ts';
import { type CliIo, UsageError, writeLine } from '../io/io.ts';
import { COLUMNS, jsonOf, rowOf } from './receipts-format.ts';
import { writeTable } from './receipts-list.ts';
import { type FilterOptions, openSource, placeOf, stateOf } from './receipts-source.ts';
import { safeText } from '../io/text-table.ts';

/** Options of `match`. */
export interface MatchOptions extends FilterOptions {
  readonly args?: string;
  readonly argsFile?: string;
  readonly json?: true;
}

/** A receipt, and which of its hashes are of the arguments. */
interface Match extends FoundReceipt {
  readonly as: readonly string[];
}

/**
 * Prints the receipts that fit. Answers 0 where there are any, 1 where there are none, and 2 where
 * a key is missing to tell.
 */
export async function matchReceipts(
  path: string | undefined,
  options: MatchOptions,
  io: CliIo,
): Promise<number> {
  if (options.args === undefined && options.argsFile === undefined)
    throw new UsageError('give the arguments with --args or --args-file');
  const args: unknown = JSON.parse(await readArguments(io, undefined, options));
  const keys = join(stateOf(options, io), 'keys');
  const hashes = hashesOf(args, hashingKeyIn(keys));
  const source = openSource(placeOf(path, options, io), options, io, true);
  let [count, untold] = [0, 0];
  const matches = async function* (): AsyncGenerator<Match, void, undefined> {
    for await (const found of source.found) {
      const as = matchedBy(found.receipt, hashes);
      if (as === null) untold += 1;
      if (as === null || as.length === 0) continue;
      count += 1;
      yield { ...found, as };
    }
  };
  if (options.json === true)
    for await (const match of matches()) await writeLine(io.stdout, jsonOf(match));
  else
    await writeTable(io, [{ title: 'as' }, ...COLUMNS], matches(), ({ as, receipt }) => [
      as.join(', '),
      ...rowOf(receipt),
    ]);
  const code = source.report();
  if (untold > 0) io.stderr.write(`allium: ${untoldText(untold, keys)}\n`);
  if (count > 0) return code;
  io.stderr.write(
    `allium: no receipt ${untold > 0 ? 'that could be compared ' : ''}is of these arguments\n`,
  );
  return untold > 0 ? 2 : 1;
}

const untoldText = (count: number, keys: string): string =>
  `${count} ${count === 1 ? 'receipt was' : 'receipts were'} hashed with a key that is not in ${safeText(keys)}, so ${count === 1 ? 'it' : 'they'} could not be compared; name the state folder of the program that wrote the receipts with --state`;

/** The hash of the arguments by how hashes of its kind begin. */
function hashesOf(args: unknown, key: HashKey | null): ReadonlyMap<string, string> {
  const made = [canonicalHasher()(args), ...(key === null ? [] : [canonicalHasher({ key })(args)])];
  return new Map(made.map((hash) => [kindOf(hash), hash]));
}

/** `sha256`, or `hmac-sha256` with the id of the key. */
const kindOf = (hash: string): string => hash.slice(0, hash.lastIndexOf(':'));

const NAMES = ['requested', 'approved', 'executed'] as const;

/**
 * Which hashes are the same: none for other arguments, `null` where they were made with a key that
 * is not here.
 */
function matchedBy(
  receipt: StoredReceipt,
  hashes: ReadonlyMap<string, string>,
): readonly string[] | null {
  // The fields of a line are as they stand in the file, which may be forged: they can hold
  // anything.
  const hashed: readonly { readonly name: string; readonly hash: unknown }[] = NAMES.map(
    (name) => ({
      name,
      hash: receipt[`${name}_hash`],
    }),
  );
  const given = hashed.filter(({ hash }) => hash !== null);
  if (!given.every(({ hash }) => typeof hash === 'string' && hashes.has(kindOf(hash)))) return null;
  return given
    .filter(({ hash }) => typeof hash === 'string' && hashes.get(kindOf(hash)) === hash)
    .map(({ name }) => name);
}
