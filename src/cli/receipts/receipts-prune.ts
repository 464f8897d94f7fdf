/** `allium receipts prune`. */

import { join } from 'node:path';
import { signingKey } from '../../receipts/key-files.ts';
import { pruneReceipts } from '../../receipts/write/prune-receipts.ts';
import { type CliIo, UsageError, writeLine } from '../io/io.ts';
import { jsonOf } from './receipts-format.ts';
import { type PlaceOptions, placeOf, stateOf } from './receipts-source.ts';
import { safeText } from '../io/text-table.ts';

/** Options of `prune`. */
export interface PruneCommandOptions extends PlaceOptions {
  readonly before?: number;
  readonly session?: string;
  readonly json?: true;
}

/** Removes sessions, and prints each with what became of it. */
export async function pruneCommand(
  path: string | undefined,
  options: PruneCommandOptions,
  io: CliIo,
): Promise<number> {
  const { before, session, json } = options;
  // Without either, everything would go.
  if (before === undefined && session === undefined)
    throw new UsageError('name what goes: --before <time>, --session <id>, or both');
  const place = placeOf(path, options, io);
  const signer = signingKey(join(stateOf(options, io), 'keys'));
  const chosen = {
    ...(before === undefined ? {} : { before }),
    ...(session === undefined ? {} : { session }),
  };
  const pruned = await pruneReceipts(place, { ...chosen, signer });
  for (const one of pruned) {
    const { chain, count, kept } = one;
    const text =
      kept === null
        ? `${safeText(chain)}: removed, ${count} ${count === 1 ? 'receipt' : 'receipts'}`
        : `${safeText(chain)}: left as it is: ${kept}`;
    await writeLine(io.stdout, json === true ? jsonOf(one) : text);
  }
  if (pruned.length === 0 && json !== true) await writeLine(io.stdout, 'no session fits');
  return pruned.some(({ kept }) => kept !== null) ? 1 : 0;
}
