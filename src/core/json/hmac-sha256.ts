/** HMAC-SHA-256 of many values under one key. */

import { createHmac, hash } from 'node:crypto';

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
  // A copy: bytes that somebody changes later stay what they were here.
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
