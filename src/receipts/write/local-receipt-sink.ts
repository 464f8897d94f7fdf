/** Receipts on this machine: a file a session, chained and signed. */

import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AlliumError } from '../../core/contract/errors.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import type { HashKey } from '../../core/json/hash-canonical.ts';
import { isObject } from '../../core/json/json.ts';
import { type Clock, systemClock } from '../../core/time/clock.ts';
import { makeFolder } from '../../system/open-regular.ts';
import { safeName, stateFolder } from '../../system/state-folder.ts';
import { takeLock } from '../../system/writer-lock.ts';
import { type ChainFiles, systemFiles } from '../chain-files.ts';
import { chainName, lockFile, segmentFile } from '../chain-names.ts';
import { createSigner, type Signer } from '../checkpoint.ts';
import { hashingKey, signingKey } from '../key-files.ts';
import type { Durability, LocalReceiptSink, Receipt, ReceiptDraft } from '../receipt.ts';
import { type ChainWriter, createChainWriter, unavailable } from './chain-writer.ts';
import type { ChainRules } from './render-batch.ts';
import { openSegments, type Segments } from './segment-writer.ts';

/** Where receipts go, and with which keys. */
export interface LocalReceiptSinkOptions {
  /** The session of receipts that name none. @default '' */
  readonly sessionId?: string;
  /** The folder of the files. @default `receipts` in the state folder */
  readonly dir?: string;
  /**
   * The key of the hashes in receipts, or `false` for plain SHA-256. @default a key file in the
   * state folder, made on first use
   */
  readonly key?: HashKey | false;
  /**
   * An Ed25519 private key for checkpoints, as PEM text or KeyObject. @default a key file in the
   * state folder, made on first use
   */
  readonly signingKey?: KeyObject | string;
  /** How many receipts at most come before they are signed. @default 1024 */
  readonly checkpointEvery?: number;
  /**
   * Receipts are signed as they are written when the last signature is that old, in milliseconds.
   * @default 1000
   */
  readonly checkpointMs?: number;
  /** A file that has grown to this size is followed by another one. @default 67108864 */
  readonly maxFileBytes?: number;
  /** Stamps checkpoints. @default the system's clock */
  readonly clock?: Clock;
}

const EXPECTED = Object.freeze({
  sessionId: { text: 'a string', test: (value: unknown) => typeof value === 'string' },
  dir: expected.string,
  key: {
    text: 'false or { id, secret }',
    test: (value: unknown) =>
      value === false ||
      (isObject(value) && typeof value.id === 'string' && value.secret !== undefined),
  },
  signingKey: {
    text: 'a KeyObject or PEM text',
    test: (value: unknown) => typeof value === 'string' || isObject(value),
  },
  checkpointEvery: expected.integer(1),
  checkpointMs: expected.integer(0),
  // A segment has room for its first line and more.
  maxFileBytes: expected.integer(4096),
  clock: expected.object,
});

/**
 * Writes each session's receipts to `<dir>/<safe session>.jsonl`, beside other processes. Called
 * as a function it resolves when the receipt was handed to the system. It does not send anything
 * anywhere, delete old files, or keep a holder of the signing key from rewriting them.
 */
export function localReceiptSink(options: LocalReceiptSinkOptions = {}): LocalReceiptSink {
  return createSink(options, systemFiles);
}

/**
 * Sessions whose files are open at the same time. Beyond that, those of the session that was not
 * used for longest are closed, where no write is under way to them.
 */
const MAX_OPEN = 64;
const MAX_WRITERS = 1000;

interface Keeper {
  readonly folder: string;
  readonly key: HashKey | null;
  readonly signer: Signer;
  readonly rules: Omit<ChainRules, 'chain' | 'signer'>;
  readonly files: ChainFiles;
}

/** `localReceiptSink` on a given file system. */
export function createSink(options: LocalReceiptSinkOptions, files: ChainFiles): LocalReceiptSink {
  checkOptions('localReceiptSink', options, EXPECTED);
  const keeper = keeperFrom(options, files);
  // By file and not by session: names that were made safe into the same one share a writer.
  const writers = new Map<string, ChainWriter>();
  /** The writer used last, by session: making a name safe costs as much as writing a line. */
  let last: { readonly sessionId: string; readonly writer: ChainWriter } | null = null;
  let isClosed = false;

  const writerOf = (sessionId: string): ChainWriter => {
    if (isClosed)
      throw new AlliumError('ERR_CLOSED', 'localReceiptSink was closed', {
        layer: 'localReceiptSink',
      });
    if (last?.sessionId === sessionId) return last.writer;
    const name = safeName(sessionId);
    const writer =
      writers.get(name) ??
      openSafely(keeper, sessionId, () => closeOldest(writers, last?.writer ?? null));
    // `closeOldest` goes by the order of the map.
    writers.delete(name);
    writers.set(name, writer);
    while (writers.size > MAX_OPEN && closeOldest(writers, writer)) {}
    last = { sessionId, writer };
    return writer;
  };
  const all = async (task: (writer: ChainWriter) => Promise<void>): Promise<void> => {
    const failed = (await Promise.allSettled([...writers.values()].map(task))).find(
      ({ status }) => status === 'rejected',
    );
    if (failed?.status === 'rejected') throw failed.reason;
  };
  const sink: LocalReceiptSink = Object.assign(
    async (receipt: Receipt) => {
      const sessionId = receipt.session_id === '' ? (options.sessionId ?? '') : receipt.session_id;
      await writerOf(sessionId).append(() => receipt, 'write').kept;
    },
    {
      key: keeper.key,
      publicKey: keeper.signer.publicKey,
      append: (sessionId: string, build: (uri: string) => Receipt, durability: Durability) =>
        writerOf(sessionId).append(build, durability),
      appendDraft: (sessionId: string, draft: ReceiptDraft, durability: Durability) =>
        writerOf(sessionId).appendDraft(draft, durability),
      ready: (sessionId: string) => writerOf(sessionId).ready(),
      flush: () => all((writer) => writer.flush()),
      async close() {
        isClosed = true;
        await all(async (writer) => writer.flush().finally(() => writer.closeNow()));
        writers.clear();
      },
    },
  );
  return Object.freeze(sink);
}

function keeperFrom(options: LocalReceiptSinkOptions, files: ChainFiles): Keeper {
  const {
    checkpointEvery = 1024,
    checkpointMs = 1000,
    maxFileBytes = 64 * 1024 * 1024,
    clock = systemClock,
  } = options;
  return {
    folder: options.dir ?? join(stateFolder(), 'receipts'),
    key: options.key === false ? null : (options.key ?? hashingKey()),
    signer:
      options.signingKey === undefined
        ? signingKey()
        : createSigner('localReceiptSink', options.signingKey),
    rules: { checkpointEvery, checkpointMs, maxFileBytes, clock },
    files,
  };
}

/**
 * Where the process has no file handles left, the files of sessions that are not being written to
 * are closed for it.
 */
function openSafely(keeper: Keeper, sessionId: string, makeRoom: () => boolean): ChainWriter {
  for (;;) {
    try {
      return openWriter(keeper, sessionId);
    } catch (error) {
      if (!isOutOfHandles(error) || !makeRoom()) throw unavailable(error);
    }
  }
}

// Every error of the file system has a code.
const isOutOfHandles = (error: unknown): boolean =>
  ['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '');

/** The first chain of a session that no live writer has and that ends as it was signed. */
function openWriter(keeper: Keeper, sessionId: string): ChainWriter {
  makeFolder(keeper.folder);
  for (let nth = 1; nth <= MAX_WRITERS; nth += 1) {
    const writer = openNth(keeper, chainName(sessionId, nth));
    if (writer !== null) return writer;
  }
  throw new Error(`The receipts of a session have ${MAX_WRITERS} writers already.`);
}

function openNth({ folder, key, signer, rules, files }: Keeper, chain: string): ChainWriter | null {
  const release = takeLock(join(folder, lockFile(chain)));
  if (release === null) return null;
  let segments: Segments | null = null;
  try {
    segments = openSegments(folder, { ...rules, chain, signer }, files);
  } finally {
    if (segments === null) release();
  }
  const file = pathToFileURL(join(folder, segmentFile(chain, 1))).href;
  return segments === null ? null : createChainWriter(segments, file, key, release);
}

/**
 * Closes the file that was not used for longest and can be closed without waiting, except the one
 * in use. `false` where there is none.
 */
function closeOldest(writers: Map<string, ChainWriter>, used: ChainWriter | null): boolean {
  for (const [name, writer] of writers) {
    if (writer === used || !writer.writeNow()) continue;
    writers.delete(name);
    try {
      writer.closeNow();
    } catch {
      // Its receipts are written. What is missing is a checkpoint, which the next writer of the
      // chain makes.
    }
    return true;
  }
  return false;
}
