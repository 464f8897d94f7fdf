/** Signed lines of a chain: so many receipts, and this is the hash of the last line before. */

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { AlliumError } from '../core/contract/errors.ts';
import { asciiJson } from './receipt-line.ts';

/** What a checkpoint says. The signature covers exactly these fields. */
export interface Checkpoint {
  readonly schema_version: 1;
  readonly record: 'checkpoint';
  /** Keeps a file from being passed off as another session's. */
  readonly chain: string;
  readonly segment: number;
  readonly count: number;
  readonly head: string;
  readonly key_id: string;
  readonly time: string;
  /** How many bytes of a torn line were cut off right before. */
  readonly cut_bytes?: number;
  /** How many bytes were moved out of the file, because they stood behind its end. */
  readonly aside_bytes?: number;
  /**
   * How many of the receipts right before were found unsigned: the writer that signs here did not
   * write them.
   */
  readonly found?: number;
  /** In the first line of a chain: which entry of the folder's index names the chain. */
  readonly entry?: number;
  /** The file ends here. Only another checkpoint may follow in it. */
  readonly end?: true;
}

/** What a checkpoint says besides where the chain stands. */
export type CheckpointNotes = Pick<
  Checkpoint,
  'cut_bytes' | 'aside_bytes' | 'found' | 'entry' | 'end'
>;

/** How every checkpoint line begins, and no other. */
export const CHECKPOINT_START = '{"schema_version":1,"record":"checkpoint",';

const SIGNATURE = ',"signature":"';

/** Signs checkpoints. */
export interface Signer {
  readonly keyId: string;
  readonly publicKey: string;
  /** Its own public key, to check what it has signed before. */
  readonly keys: KnownKeys;
  /** The signature of an ASCII text, in base64. */
  signText(text: string): string;
  /** The checkpoint as an object that lacks its closing brace. */
  sign(fields: Omit<Checkpoint, 'schema_version' | 'record' | 'key_id'>): string;
}

/** Makes a signer from an Ed25519 private key. Throws `ERR_INVALID_OPTION` for any other. */
export function createSigner(owner: string, key: KeyObject | string): Signer {
  const secret = keyFrom(owner, 'signingKey', key, createPrivateKey, 'private');
  const open = createPublicKey(secret);
  const keyId = keyIdOf(open);
  const signText = (text: string): string =>
    sign(null, Buffer.from(text, 'latin1'), secret).toString('base64');
  return {
    keyId,
    publicKey: open.export({ type: 'spki', format: 'pem' }).toString(),
    keys: new Map([[keyId, open]]),
    signText,
    sign({ chain, segment, count, head, time, ...notes }) {
      const line: Checkpoint = {
        schema_version: 1,
        record: 'checkpoint',
        chain,
        segment,
        count,
        head,
        key_id: keyId,
        time,
        ...notes,
      };
      const text = asciiJson(line).slice(0, -1);
      return `${text}${SIGNATURE}${signText(text)}"`;
    },
  };
}

/** Public keys by their ids. */
export type KnownKeys = ReadonlyMap<string, KeyObject>;

/** Reads Ed25519 public keys. Throws `ERR_INVALID_OPTION` for any other. */
export function publicKeys(owner: string, keys: readonly (KeyObject | string)[]): KnownKeys {
  return new Map(
    keys
      .map((key) => keyFrom(owner, 'publicKey', key, createPublicKey, 'public'))
      .map((key) => [keyIdOf(key), key]),
  );
}

type KeyKind = 'private' | 'public';

function keyFrom(
  owner: string,
  option: string,
  key: KeyObject | string,
  read: (pem: string) => KeyObject,
  kind: KeyKind,
): KeyObject {
  const made = typeof key === 'string' ? parsed(key, read) : key;
  // Anything but a public key is refused where one is asked for: a private key handed to a verifier
  // is a mistake worth hearing of.
  const isSecretText = kind === 'public' && typeof key === 'string' && key.includes('PRIVATE KEY');
  if (made?.asymmetricKeyType === 'ed25519' && made.type === kind && !isSecretText) return made;
  const wanted = `an Ed25519 ${kind} key, as PEM text or KeyObject`;
  throw new AlliumError('ERR_INVALID_OPTION', `${owner}: "${option}" must be ${wanted}`, {
    layer: owner,
    option,
    expected: wanted,
  });
}

/** The reader's own error is dropped: it may quote the key. */
function parsed(pem: string, read: (pem: string) => KeyObject): KeyObject | null {
  try {
    return read(pem);
  } catch {
    return null;
  }
}

const keyIdOf = (key: KeyObject): string =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);

/** A text with its signature, and the key it names. */
export interface SignedText {
  readonly fields: { readonly key_id: string };
  readonly signedText: string;
  readonly signature: string;
}

/** A checkpoint taken from a line, with what is needed to check its signature. */
export interface SignedCheckpoint extends SignedText {
  readonly fields: Checkpoint;
}

/** Reads the part of a checkpoint line before its chain fields. `null` where it is none. */
export function parseCheckpoint(open: string): SignedCheckpoint | null {
  const at = open.lastIndexOf(SIGNATURE);
  const [, signature] = /^([A-Za-z0-9+/]{86}==)"$/.exec(open.slice(at + SIGNATURE.length)) ?? [];
  if (at === -1 || signature === undefined || !open.startsWith(CHECKPOINT_START)) return null;
  const signedText = open.slice(0, at);
  const fields = fieldsFrom(`${signedText}}`);
  return fields === null ? null : { fields, signedText, signature };
}

function fieldsFrom(json: string): Checkpoint | null {
  try {
    const { chain, segment, count, head, key_id, time, cut_bytes, aside_bytes, found, entry, end } =
      JSON.parse(json) as Partial<Record<keyof Checkpoint, unknown>>;
    const texts = [chain, head, key_id, time].every((value) => typeof value === 'string');
    const numbers = [
      segment,
      count,
      cut_bytes ?? 0,
      aside_bytes ?? 0,
      found ?? 0,
      entry ?? 0,
    ].every(Number.isSafeInteger);
    // Every field that is read later has just been looked at.
    return texts && numbers && (end === undefined || end === true)
      ? (JSON.parse(json) as Checkpoint)
      : null;
  } catch {
    return null;
  }
}

/** `isSigned` on another thread: a signature takes as long as the hashes of a hundred lines. */
export function isSignedLater(
  { fields, signedText, signature }: SignedText,
  keys: KnownKeys,
): Promise<boolean | null> {
  const key = keys.get(fields.key_id);
  if (key === undefined) return Promise.resolve(null);
  return new Promise((resolve) => {
    const done = (error: Error | null, isValid: boolean): void =>
      resolve(error === null && isValid);
    verify(null, Buffer.from(signedText, 'latin1'), key, Buffer.from(signature, 'base64'), done);
  });
}

/** Whether a known key signed it. `null` where the key is not known. */
export function isSigned(
  { fields, signedText, signature }: SignedText,
  keys: KnownKeys,
): boolean | null {
  const key = keys.get(fields.key_id);
  return key === undefined
    ? null
    : verify(null, Buffer.from(signedText, 'latin1'), key, Buffer.from(signature, 'base64'));
}
