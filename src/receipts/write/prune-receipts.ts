/** Removes whole sessions on purpose, and leaves a signed word of it in the index. */

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../core/time/clock.ts';
import { safeName } from '../../system/state-folder.ts';
import { headFile, lockFile, parseSegment, segmentFile } from '../chain-names.ts';
import type { Signer } from '../checkpoint.ts';
import { type ChainFound, findChains } from '../read/find-chains.ts';
import { readSignedHead } from '../signed-head.ts';
import { appendToIndex } from '../session-index.ts';
import { verifyReceipts } from '../read/verify-receipts.ts';
import { takeLock } from '../../system/writer-lock.ts';

/** Which sessions go: those that fit everything given here. */
export interface PruneOptions {
  /** Sessions whose newest signature is older than this time, in milliseconds since 1970. */
  readonly before?: number;
  readonly session?: string;
  /** Signs the entries. Sessions that are not as this key signed them stay. */
  readonly signer: Signer;
}

/** What became of a session that fits. */
export interface PrunedSession {
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
export async function pruneReceipts(
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
