/** `allium receipts prune`: removes whole sessions, and leaves a signed word of it in the index. */

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../core/time/clock.ts';
import { headFile, lockFile, parseSegment, segmentFile } from '../../receipts/chain-names.ts';
import type { Signer } from '../../receipts/checkpoint.ts';
import { signingKey } from '../../receipts/key-files.ts';
import { type ChainFound, findChains } from '../../receipts/read/find-chains.ts';
import { verifyReceipts } from '../../receipts/read/verify-receipts.ts';
import { appendToIndex } from '../../receipts/session-index.ts';
import { readSignedHead } from '../../receipts/signed-head.ts';
import { safeName } from '../../system/state-folder.ts';
import { takeLock } from '../../system/writer-lock.ts';
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

/** Which sessions go: those that fit everything given here. */
interface PruneOptions {
  /** Sessions whose newest signature is older than this time, in milliseconds since 1970. */
  readonly before?: number;
  readonly session?: string;
  /** Signs the entries. Sessions that are not as this key signed them stay. */
  readonly signer: Signer;
}

/** What became of a session that fits. */
interface PrunedSession {
  readonly chain: string;
  readonly count: number;
  /** Why it is still there. `null` where it is gone. */
  readonly kept: string | null;
}

/**
 * Removes the files of sessions. The entry in the index comes first: a kill in between leaves files
 * that may be removed, and nothing that is missed. A session that is being written to, or that is
 * not as it was signed, stays.
 */
async function pruneReceipts(
  folder: string,
  { before, session, signer }: PruneOptions,
): Promise<readonly PrunedSession[]> {
  const name = session === undefined ? null : safeName(session);
  const pruned: PrunedSession[] = [];
  for (const found of findChains('pruneReceipts', folder)) {
    if (name !== null && found.chain.replace(/\.w\d+$/, '') !== name) continue;
    const head = readSignedHead(join(folder, headFile(found.chain)));
    const time = head === null || head === 'missing' ? Number.NaN : Date.parse(head.fields.time);
    // Written so that a time that cannot be read never counts as old.
    if (before !== undefined && !(time < before)) continue;
    pruned.push(await pruneOne(found, signer));
  }
  return pruned;
}

async function pruneOne(found: ChainFound, signer: Signer): Promise<PrunedSession> {
  const { folder, chain } = found;
  const kept = (reason: string, count = 0): PrunedSession => ({ chain, count, kept: reason });
  const release = takeLock(join(folder, lockFile(chain)));
  if (release === null) return kept('it is being written to');
  try {
    if (found.segments[0] !== 1) return kept('its first file is not there');
    const { ok, count, head } = await verifyReceipts(join(folder, segmentFile(chain, 1)), {
      publicKey: signer.publicKey,
    });
    if (!ok || head === null)
      return kept('it is not as it was signed: "allium receipts verify" says why', count);
    appendToIndex(folder, signer, () => systemClock.now(), {
      record: 'pruned',
      chain,
      count,
      head,
    });
    for (const file of filesOf(found)) rmSync(join(folder, file), { force: true });
    return { chain, count, kept: null };
  } finally {
    release();
  }
}

/** Its segments, its head, and what was moved aside from them. */
const filesOf = ({ folder, chain }: ChainFound): readonly string[] =>
  readdirSync(folder).filter((file) => {
    const [, segment = ''] = /^(.*\.jsonl)(?:\.(?:torn|behind)-[\d-]+)?$/.exec(file) ?? [];
    return file === headFile(chain) || parseSegment(segment)?.chain === chain;
  });
