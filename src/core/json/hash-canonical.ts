/**
 * Hashes of JSON values, with the kind of hash in front: a record of one kind is never taken for
 * one of another.
 */

import { hash } from 'node:crypto';
import { canonicalJson } from './canonical.ts';
import { hmacSha256 } from './hmac-sha256.ts';
import { keptText } from './json.ts';
import { checkOptions, expected } from '../contract/options.ts';
import { snapshotDigest } from './snapshot-digest.ts';

export interface HashKey {
  /**
   * Names the key in every hash made with it, so that keys can be replaced. 1 to 64 of `A-Z a-z 0-9
   * _ -`. Not secret.
   */
  readonly id: string;
  /** Raw bytes, or text that stands for its UTF-8 bytes. */
  readonly secret: Uint8Array | string;
}

export interface HashOptions {
  /**
   * Makes an HMAC instead of a plain hash.
   * @default no key
   */
  readonly key?: HashKey;
}

const KEY_ID = /^[A-Za-z0-9_-]{1,64}$/;

const OPTIONS = Object.freeze({ key: expected.object });

const KEY_FIELDS = Object.freeze({
  id: expected.required({
    text: '1 to 64 of A-Z a-z 0-9 _ -',
    test: (value) => typeof value === 'string' && KEY_ID.test(value),
  }),
  secret: expected.required({
    text: 'bytes or text, not empty',
    test: (value) => (typeof value === 'string' || value instanceof Uint8Array) && value.length > 0,
  }),
});

/**
 * `sha256:<hex>` over the canonical JSON of a value, or `hmac-sha256:<key id>:<hex>` with a key.
 * Without a key, whoever holds the hash can find a short value by trying: a date of birth takes
 * less than a tenth of a second. Throws `ERR_NOT_JSON` like `canonicalJson`.
 */
export const hashCanonical = (value: unknown, options: HashOptions = {}): string =>
  canonicalHasher(options)(value);

/** `hashCanonical` for many values: options are checked, and the key is read, once. */
export function canonicalHasher(options: HashOptions = {}): (value: unknown) => string {
  checkOptions('hashCanonical', options, OPTIONS);
  const { key } = options;
  if (key === undefined)
    return (value) =>
      `sha256:${digestOf(value, NO_HEAD, 'hex') ?? hash('sha256', canonicalJson(value))}`;
  checkOptions('hashCanonical key', key, KEY_FIELDS);
  const name = `hmac-sha256:${key.id}:`;
  const { head, finish, ofText } = hmacSha256(key.secret);
  return (value) => {
    const inner = digestOf(value, head, 'binary');
    return name + (inner === null ? ofText(canonicalJson(value)) : finish(inner));
  };
}

const NO_HEAD = new Uint8Array();

/** A text that is there already is hashed as it is. */
const digestOf = (value: unknown, head: Uint8Array, encoding: 'hex' | 'binary'): string | null =>
  typeof value === 'object' && value !== null && keptText(value) === null
    ? snapshotDigest(value, head, encoding)
    : null;
