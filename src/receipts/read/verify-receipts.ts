/** Says whether receipt files are as they were written. */

import type { KeyObject } from 'node:crypto';
import { statSync } from 'node:fs';
import { checkOptions, expected } from '../../core/contract/options.ts';
import { isObject } from '../../core/json/json.ts';
import { publicKeys } from '../checkpoint.ts';
import { chainBytes, type ChainFound, findChains } from './find-chains.ts';
import { segmentFile } from '../chain-names.ts';
import { createProblemList, type ProblemList, type ReceiptProblem } from './problem-list.ts';
import { digestOf } from '../receipt-line.ts';
import { INDEX_FILE } from '../session-index.ts';
import { type ChainReport, type TornTail, verifyChain } from './verify-chain.ts';
import { readSessionIndex, type SessionIndex, type Witness } from './verify-index.ts';

/** What to verify with. */
export interface VerifyOptions {
  /**
   * Ed25519 public keys, as PEM text or KeyObject. Without one, signatures are not checked.
   * @default none
   */
  readonly publicKey?: KeyObject | string | readonly (KeyObject | string)[];
  /**
   * How many receipts there must be, or what was seen of a file or of the index elsewhere. @default
   * nothing
   */
  readonly atLeast?: number | Witness;
  /** Called now and then with how far it is. @default not called */
  readonly onProgress?: (progress: VerifyProgress) => void;
  /** Ends it: the promise rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal;
}

/**
 * How far a verification is. A file that is being written to may turn out longer than `totalBytes`
 * said.
 */
export interface VerifyProgress {
  readonly bytes: number;
  readonly totalBytes: number;
  readonly receipts: number;
}

/** What was found. */
export interface VerifyReport {
  /**
   * No problem was found. A torn tail is none: the receipt in it was never acknowledged. Nor is
   * what is unsigned or was found.
   */
  readonly ok: boolean;
  /** Receipts and intents. */
  readonly count: number;
  /**
   * The hash of the last line; of several chains, one hash over all of theirs. `null` where there
   * is no line.
   */
  readonly head: string | null;
  /** Whether signatures were checked. */
  readonly key: 'known' | 'unknown';
  readonly tornTail?: TornTail;
  /**
   * Receipts behind the newest checkpoint: their writer is at work, or was killed, or another
   * process wrote them. Absent where there are none.
   */
  readonly unsigned?: number;
  /**
   * Receipts that were unsigned when a later writer found and signed them. Absent where there are
   * none.
   */
  readonly found?: number;
  /**
   * Bytes that a writer found behind the end of a file and moved into a file beside it. Absent
   * where there are none.
   */
  readonly asideBytes?: number;
  /**
   * How many entries the index of the folder has, and the hash of the last one. Absent for a file,
   * and where there is no index.
   */
  readonly index?: Witness;
  /**
   * Sessions that no entry of the index names: they were begun by a version that kept none. Absent
   * where there are none.
   */
  readonly unindexed?: number;
  readonly problems: readonly ReceiptProblem[];
}

const isKey = (value: unknown): boolean => typeof value === 'string' || isObject(value);

const EXPECTED = Object.freeze({
  publicKey: {
    text: 'a key or a list of keys',
    test: (value: unknown) =>
      Array.isArray(value) ? value.every(isKey) && value.length > 0 : isKey(value),
  },
  atLeast: {
    text: 'a whole number or { count, head }',
    test: (value: unknown) =>
      expected.integer(0).test(isObject(value) ? value.count : value) &&
      (!isObject(value) || typeof value.head === 'string'),
  },
  onProgress: expected.function,
  signal: { text: 'an AbortSignal', test: (value: unknown) => value instanceof AbortSignal },
});

/**
 * Verifies a file with the segments after it, or all files of a folder and its index. Never throws
 * for what is in them, and holds no file in memory. Without a public key it finds changes inside a
 * chain, but not a chain that was written anew. It cannot find that files, heads and the index were
 * all put back to an earlier state, unless `atLeast` says what was there.
 */
export async function verifyReceipts(
  fileOrFolder: string,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  checkOptions('verifyReceipts', options, EXPECTED);
  const { publicKey, atLeast = 0, onProgress, signal } = options;
  signal?.throwIfAborted();
  const keys = publicKey === undefined ? null : publicKeys('verifyReceipts', [publicKey].flat());
  const witness = typeof atLeast === 'number' ? null : atLeast;
  const list = createProblemList();
  // Before the files are listed: a session is in the index only when it has a file.
  const before = isFolder(fileOrFolder) ? await readSessionIndex(fileOrFolder, keys, list) : null;
  const found = findChains('verifyReceipts', fileOrFolder);
  const totalBytes =
    onProgress === undefined ? 0 : found.reduce((sum, chain) => sum + chainBytes(chain), 0);
  let [bytes, receipts] = [0, 0];
  const onPiece = (more: number, moreReceipts: number): void => {
    signal?.throwIfAborted();
    bytes += more;
    receipts += moreReceipts;
    onProgress?.({ bytes, totalBytes, receipts });
  };
  const chains: ChainReport[] = [];
  for (const chain of found) {
    const indexed = before?.sessions.get(chain.chain) ?? null;
    chains.push(await verifyChain(chain, { keys, witness, list, indexed, onPiece }));
  }
  const unindexed =
    before === null ? 0 : await checkSessions(fileOrFolder, before, found, chains, list);
  const count = sumOf(chains, (report) => report.count);
  const isSeen = witness !== null && (before?.hasSeen(witness.count, witness.head) ?? false);
  const isThere =
    witness === null
      ? count >= (atLeast as number)
      : isSeen || chains.some(({ isWitnessed }) => isWitnessed);
  if (!isThere)
    list.tell(fileOrFolder, 1, ['too_few', 'what was seen elsewhere is not there any more']);
  await list.settle(0);
  const key = keys === null ? ('unknown' as const) : ('known' as const);
  const report = {
    ok: list.problems.length === 0,
    count,
    head: headOf(chains),
    key,
    problems: list.problems,
  };
  return {
    ...report,
    ...moreOf(chains),
    ...(unindexed > 0 ? { unindexed } : {}),
    ...indexOf(before),
  };
}

// An array or an empty text is refused by `findChains`.
const isFolder = (path: string): boolean =>
  typeof path === 'string' &&
  path !== '' &&
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const sumOf = (chains: readonly ChainReport[], of: (report: ChainReport) => number): number =>
  chains.reduce((sum, report) => sum + of(report), 0);

/**
 * Holds the files of a folder to its index. Answers how many sessions the index does not know, and
 * need not.
 */
async function checkSessions(
  folder: string,
  before: SessionIndex,
  found: readonly ChainFound[],
  chains: readonly ChainReport[],
  list: ProblemList,
): Promise<number> {
  // Sessions that were begun or removed meanwhile are in it by now. What is wrong with it was told
  // before.
  const after = await readSessionIndex(folder, null, createProblemList());
  const names = new Set(found.map(({ chain }) => chain));
  for (const [chain, { count }] of before.sessions) {
    if (names.has(chain) || after.sessions.get(chain)?.isPruned === true) continue;
    list.tell(segmentFile(chain, 1), 1, [
      'session_missing',
      `the index names the session, with ${count} ${count === 1 ? 'receipt' : 'receipts'}, and its files are gone`,
    ]);
  }
  const entries = chains.map(({ entry }, nth) => ({ entry, chain: found[nth]?.chain ?? '' }));
  const isNamed = entries.some(({ entry }) => entry !== null);
  if (isNamed && !after.isThere)
    list.tell(INDEX_FILE, 1, [
      'index_missing',
      'the index is gone: sessions say that they are in it',
    ]);
  for (const { entry, chain } of entries) {
    if (entry === null || !after.isThere || after.hasOpened(entry, chain)) continue;
    list.tell(segmentFile(chain, 1), 1, [
      'index_cut',
      `the session says that it is entry ${entry} of the index, and it is not`,
    ]);
  }
  if (found.length === 0 && after.count === 0)
    list.tell(folder, 1, ['empty', 'there are no receipts here']);
  return chains.filter(
    ({ count, entry }, nth) =>
      count > 0 && entry === null && !after.sessions.has(found[nth]?.chain ?? ''),
  ).length;
}

/** What is told only where there is something to tell. */
function moreOf(
  chains: readonly ChainReport[],
): Pick<VerifyReport, 'tornTail' | 'unsigned' | 'found' | 'asideBytes'> {
  const tornTail = chains.find((report) => report.tornTail !== null)?.tornTail ?? null;
  const [unsigned, found, asideBytes] = [
    sumOf(chains, (report) => report.unsigned),
    sumOf(chains, (report) => report.found),
    sumOf(chains, (report) => report.asideBytes),
  ];
  return {
    ...(tornTail === null ? {} : { tornTail }),
    ...(unsigned === 0 ? {} : { unsigned }),
    ...(found === 0 ? {} : { found }),
    ...(asideBytes === 0 ? {} : { asideBytes }),
  };
}

const indexOf = (index: SessionIndex | null): Pick<VerifyReport, 'index'> =>
  index === null || index.count === 0 ? {} : { index: { count: index.count, head: index.head } };

function headOf(chains: readonly ChainReport[]): string | null {
  const heads = chains.map(({ head }) => head).filter((head) => head !== null);
  return heads.length > 1 ? digestOf(heads.join('\n')) : (heads[0] ?? null);
}
