/**
 * Hashes of JSON values, with the kind of hash in front: a record of one kind is never taken for
 * one of another.
 */

import { hash, createHmac, createHash, type Hash } from 'node:crypto';
import { canonicalJson, quoted, membersOf } from './canonical.ts';
import { knownOf, MAX_JSON_DEPTH } from './json.ts';
import { checkOptions, expected } from '../contract/options.ts';
import { bytes, FULL, NOT_PLAIN, type Style, writeJson, writeKnown } from './json-bytes.ts';

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
 * Without a key, a reader of the hash can find a short value by trying: a date of birth takes
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
      `sha256:${snapshotDigest(value, NO_HEAD, 'hex') ?? hash('sha256', canonicalJson(value))}`;
  checkOptions('hashCanonical key', key, KEY_FIELDS);
  const name = `hmac-sha256:${key.id}:`;
  const { head, finish, ofText } = hmacSha256(key.secret);
  return (value) => {
    const inner = snapshotDigest(value, head, 'binary');
    return name + (inner === null ? ofText(canonicalJson(value)) : finish(inner));
  };
}

const NO_HEAD = new Uint8Array();

const BLOCK = 64;
const DIGEST = 32;
const INNER = 0x36;
const OUTER = 0x5c;

/** Longer texts are hashed as they come: to lay them out first would cost more than it saves. */
const MAX_TEXT = 16_384;
/** A character is at most three bytes of UTF-8. */
const scratch = Buffer.alloc(BLOCK + 3 * MAX_TEXT);

/** A key that was read once. */
export interface Hmac {
  /** What the inner hash begins with. */
  readonly head: Uint8Array;
  /** The HMAC in hex, for the inner hash as one character a byte. */
  readonly finish: (inner: string) => string;
  /** The HMAC in hex of a text as UTF-8. */
  readonly ofText: (text: string) => string;
}

/**
 * Written out as RFC 2104 has it, as two hashes of bytes: an object that takes text piece by piece
 * costs several times what hashing a short text does.
 */
export function hmacSha256(secret: Uint8Array | string): Hmac {
  // A copy: the host may change the bytes of its key later.
  const key = typeof secret === 'string' ? Buffer.from(secret) : Uint8Array.from(secret);
  const short = key.length > BLOCK ? hash('sha256', key, 'buffer') : key;
  const head = padded(short, INNER, BLOCK);
  const outer = padded(short, OUTER, BLOCK + DIGEST);
  const finish = (inner: string): string => {
    for (let index = 0; index < DIGEST; index += 1) outer[BLOCK + index] = inner.charCodeAt(index);
    return hash('sha256', outer);
  };
  return {
    head,
    finish,
    ofText(text) {
      if (text.length > MAX_TEXT) return createHmac('sha256', key).update(text).digest('hex');
      head.copy(scratch);
      const end = BLOCK + scratch.write(text, BLOCK);
      return finish(hash('sha256', scratch.subarray(0, end), 'binary'));
    },
  };
}

function padded(key: Uint8Array, byte: number, size: number): Buffer {
  const pad = Buffer.alloc(size, byte);
  key.forEach((value, index) => pad.writeUInt8(value ^ byte, index));
  return pad;
}

/**
 * Takes what does not fit. Nothing foreign runs while a snapshot is read, so there is one at a
 * time.
 */
let overflow: Hash | null = null;

/**
 * The digest of `head` and the canonical JSON of a value, or `null` where that has to be made from
 * its text.
 */
export function snapshotDigest(
  value: unknown,
  head: Uint8Array,
  encoding: 'hex' | 'binary',
): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const known = knownOf(value);
  if (known === null) return null;
  bytes.set(head);
  overflow = null;
  const end =
    known.text === null
      ? writeJson(value, head.length, CANONICAL)
      : writeKnown(known.text, head.length);
  if (end === NOT_PLAIN) return null;
  return overflow === null
    ? hash('sha256', bytes.subarray(0, end), encoding)
    : overflowed(end).digest(encoding);
}

const CANONICAL: Style = {
  maxDepth: MAX_JSON_DEPTH,
  labels: membersOf,
  below: null,
  writeText(text, at) {
    const written = quoted(text);
    if (written === undefined) return NOT_PLAIN;
    // A character is at most three bytes of UTF-8.
    if (at + 3 * written.length <= FULL) return at + bytes.write(written, at);
    overflowed(at).update(written);
    return 0;
  },
  makeRoom(at) {
    overflowed(at);
    return 0;
  },
};

/** Hashes what stands before a place. */
function overflowed(end: number): Hash {
  overflow ??= createHash('sha256');
  return overflow.update(bytes.subarray(0, end));
}
