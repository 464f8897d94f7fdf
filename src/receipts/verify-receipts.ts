/** Says whether receipt files are as they were written. */

import type { KeyObject } from 'node:crypto';
import { checkOptions, expected } from '../core/options.ts';
import { isObject } from '../core/json.ts';
import { publicKeys } from './checkpoint.ts';
import { chainBytes, findChains } from './find-chains.ts';
import { createProblemList } from './problem-list.ts';
import { digestOf } from './receipt-line.ts';
import { type ChainReport, verifyChain } from './verify-chain.ts';

/** What was seen of a chain elsewhere: its report's `count` and `head` at that time. */
export interface Witness {
  readonly count: number;
  readonly head: string;
}

/** What to verify with. */
export interface VerifyOptions {
  /** Ed25519 public keys, as PEM text or KeyObject. Without one, signatures are not checked. @default none */
  readonly publicKey?: KeyObject | string | readonly (KeyObject | string)[];
  /** How many receipts there must be, or what was seen of a chain elsewhere. @default nothing */
  readonly atLeast?: number | Witness;
  /** Called now and then with how far it is. @default nobody is told */
  readonly onProgress?: (progress: VerifyProgress) => void;
  /** Ends it: the promise rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal;
}

/** How far a verification is. A file that is being written to may turn out longer than `totalBytes` said. */
export interface VerifyProgress {
  readonly bytes: number;
  readonly totalBytes: number;
  readonly receipts: number;
}

/** What can be wrong. `docs/receipts.md` says what each means. */
export type ProblemKind =
  | 'malformed'
  | 'hash'
  | 'chain'
  | 'sequence'
  | 'checkpoint'
  | 'signature'
  | 'unknown_key'
  | 'unsigned'
  | 'segment'
  | 'name'
  | 'torn_line'
  | 'truncated'
  | 'head_missing'
  | 'head_unreadable'
  | 'too_few'
  | 'unreadable'
  | 'more';

/** Something that is wrong, and where. */
export interface ReceiptProblem {
  readonly file: string;
  readonly line: number;
  readonly kind: ProblemKind;
  readonly message: string;
}

/** A line at the end of a file that has no end: a crash tore it, or somebody is writing it just now. */
export interface TornTail {
  readonly file: string;
  readonly line: number;
  readonly bytes: number;
}

/** What was found. */
export interface VerifyReport {
  /** No problem was found. A torn tail is none: the receipt in it was never acknowledged. */
  readonly ok: boolean;
  /** Receipts and intents. */
  readonly count: number;
  /** The hash of the last line; of several chains, one hash over all of theirs. `null` where there is no line. */
  readonly head: string | null;
  /** Whether signatures were checked. */
  readonly key: 'known' | 'unknown';
  readonly tornTail?: TornTail;
  readonly problems: readonly ReceiptProblem[];
}

const isKey = (value: unknown): boolean => typeof value === 'string' || isObject(value);

const EXPECTED = Object.freeze({
  publicKey: {
    text: 'a key or a list of keys',
    test: (value: unknown) => (Array.isArray(value) ? value.every(isKey) && value.length > 0 : isKey(value)),
  },
  atLeast: {
    text: 'a whole number or { count, head }',
    test: (value: unknown) =>
      expected.integer(0).test(isObject(value) ? value.count : value) && (!isObject(value) || typeof value.head === 'string'),
  },
  onProgress: expected.function,
  signal: { text: 'an AbortSignal', test: (value: unknown) => value instanceof AbortSignal },
});

/**
 * Verifies a file with the segments after it, or all files of a folder. Never throws for what is in them, and holds no file in
 * memory. Without a public key it finds changes inside a chain, but not a chain that was written anew. It cannot find that a file
 * and its `.head` were both put back to an earlier state, unless `atLeast` says what was there.
 */
export async function verifyReceipts(fileOrFolder: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  checkOptions('verifyReceipts', options, EXPECTED);
  const { publicKey, atLeast = 0, onProgress, signal } = options;
  signal?.throwIfAborted();
  const keys = publicKey === undefined ? null : publicKeys('verifyReceipts', [publicKey].flat());
  const witness = typeof atLeast === 'number' ? null : atLeast;
  const list = createProblemList();
  const found = findChains('verifyReceipts', fileOrFolder);
  const totalBytes = onProgress === undefined ? 0 : found.reduce((sum, chain) => sum + chainBytes(chain), 0);
  let [bytes, receipts] = [0, 0];
  const onPiece = (more: number, moreReceipts: number): void => {
    signal?.throwIfAborted();
    bytes += more;
    receipts += moreReceipts;
    onProgress?.({ bytes, totalBytes, receipts });
  };
  const chains: ChainReport[] = [];
  for (const chain of found) chains.push(await verifyChain(chain, { keys, witness, list, onPiece }));
  const count = chains.reduce((sum, report) => sum + report.count, 0);
  const isThere = witness === null ? count >= (atLeast as number) : chains.some(({ isWitnessed }) => isWitnessed);
  if (!isThere) list.tell(fileOrFolder, 1, ['too_few', 'what was seen elsewhere is not there any more']);
  await list.settle(0);
  const { problems } = list;
  const tornTail = chains.find((report) => report.tornTail !== null)?.tornTail ?? null;
  const report = {
    ok: problems.length === 0,
    count,
    head: headOf(chains),
    key: keys === null ? ('unknown' as const) : ('known' as const),
    problems,
  };
  return tornTail === null ? report : { ...report, tornTail };
}

function headOf(chains: readonly ChainReport[]): string | null {
  const heads = chains.map(({ head }) => head).filter((head) => head !== null);
  return heads.length > 1 ? digestOf(heads.join('\n')) : (heads[0] ?? null);
}
