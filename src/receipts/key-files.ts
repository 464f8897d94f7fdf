/** The keys of an installation: made on first use, readable by their owner only. */

import { createHash, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { AlliumError, isAlliumError } from '../core/contract/errors.ts';
import type { HashKey } from '../core/json/hash-canonical.ts';
import { stateFolder } from '../system/state-folder.ts';
import { makeFolder, openRegular } from '../system/open-regular.ts';
import { createSigner, type Signer } from './checkpoint.ts';
import { syncFolder } from './chain-files.ts';

const SIGNING = 'receipts-ed25519.pem';
const PUBLIC = 'receipts-ed25519.pub.pem';
const HASHING = 'receipts-hmac.key';
const CODES = 'approval-codes.key';

/** Where the keys are: `keys` in the state folder. */
export const keyFolder = (): string => join(stateFolder(), 'keys');

/** The key that receipts are hashed with. */
export function hashingKey(folder = keyFolder()): HashKey {
  const secret = secretIn(folder, HASHING);
  return {
    id: createHash('sha256').update('allium receipt key').update(secret).digest('hex').slice(0, 16),
    secret,
  };
}

/**
 * The key that receipts were hashed with, or `null` where there is none: to compare hashes, none is
 * made.
 */
export const hashingKeyIn = (folder: string): HashKey | null =>
  existsSync(join(folder, HASHING)) ? hashingKey(folder) : null;

/** The key that codes of approvals are hashed with. */
export const codeKey = (folder: string): Buffer => secretIn(folder, CODES);

function secretIn(folder: string, name: string): Buffer {
  const secret = Buffer.from(
    keyFile(folder, name, () => `${randomBytes(32).toString('hex')}\n`).trim(),
    'hex',
  );
  if (secret.length !== 32) throw badKey(`the key file ${join(folder, name)} is damaged`);
  return secret;
}

/** The key that checkpoints are signed with; its public half lies beside it. */
export function signingKey(folder = keyFolder()): Signer {
  const pem = keyFile(folder, SIGNING, () =>
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  );
  const signer = createSigner('localReceiptSink', pem);
  const open = keyFile(folder, PUBLIC, () => signer.publicKey, 0o644);
  // Verified with another key, every signature of this state folder counts as forged.
  if (open.trim() !== signer.publicKey.trim())
    throw badKey(`the key file ${join(folder, PUBLIC)} does not belong to ${SIGNING}`);
  return signer;
}

/** The text of a key file. Of two processes that make it at once, the second takes the first's. */
function keyFile(folder: string, name: string, make: () => string, mode = 0o600): string {
  makeFolder(folder);
  const path = join(folder, name);
  const open = (): number | null => openRegular(path, { access: 'read', secret: mode === 0o600 });
  try {
    let file = open();
    if (file === null) createFile(folder, name, make(), mode);
    file ??= open();
    if (file === null) throw badKey(`the key file ${path} has gone`);
    try {
      return readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw isAlliumError(error, 'ERR_UNSAFE_FILE') ? badKey(`the key file ${error.message}`) : error;
  }
}

/**
 * Whole or not at all, and never over one that is there: two processes that start together agree on
 * one key.
 */
function createFile(folder: string, name: string, text: string, mode: number): void {
  const draft = join(folder, `${name}.${randomUUID()}.part`);
  const file = openSync(draft, 'wx', mode);
  try {
    // The umask may have taken away more than asked for.
    fchmodSync(file, mode);
    writeFileSync(file, text);
    fsyncSync(file);
    linkSync(draft, join(folder, name));
    syncFolder(folder);
  } catch (error) {
    // Every error of the file system has a code.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    closeSync(file);
    rmSync(draft, { force: true });
  }
}

function badKey(problem: string): AlliumError {
  return new AlliumError('ERR_INVALID_OPTION', `localReceiptSink: ${problem}`, {
    layer: 'localReceiptSink',
    option: 'key',
  });
}
