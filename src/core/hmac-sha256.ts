/** HMAC-SHA-256 of many texts under one key. */

import { createHmac, hash } from 'node:crypto';

const BLOCK = 64;
const DIGEST = 32;
const INNER = 0x36;
const OUTER = 0x5c;

/** Longer texts are hashed as they come: to lay them out first would cost more than it saves. */
const MAX_TEXT = 16_384;
/** A character is at most three bytes of UTF-8. */
const scratch = Buffer.alloc(BLOCK + 3 * MAX_TEXT);

/**
 * The HMAC in hex of a text as UTF-8. The key is read once. Written out as RFC 2104 has it, as two hashes of bytes: an object that
 * takes text piece by piece costs several times what hashing a short text does.
 */
export function hmacSha256(secret: Uint8Array | string): (text: string) => string {
  // A copy: bytes that somebody changes later stay what they were here.
  const key = typeof secret === 'string' ? Buffer.from(secret) : Uint8Array.from(secret);
  const short = key.length > BLOCK ? hash('sha256', key, 'buffer') : key;
  const inner = padded(short, INNER, BLOCK);
  const outer = padded(short, OUTER, BLOCK + DIGEST);
  return (text) => {
    if (text.length > MAX_TEXT) return createHmac('sha256', key).update(text).digest('hex');
    inner.copy(scratch);
    const end = BLOCK + scratch.write(text, BLOCK);
    outer.write(hash('sha256', scratch.subarray(0, end)), BLOCK, 'hex');
    return hash('sha256', outer);
  };
}

function padded(key: Uint8Array, byte: number, size: number): Buffer {
  const pad = Buffer.alloc(size, byte);
  key.forEach((value, index) => pad.writeUInt8(value ^ byte, index));
  return pad;
}
