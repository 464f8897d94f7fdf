import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AlliumError } from '../contract/errors.ts';
import { type HashOptions, hashCanonical } from './hash-canonical.ts';
import { snapshot } from './json.ts';

const sha256 = (...parts: readonly (Uint8Array | string)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** HMAC as RFC 2104 spells it out, for keys up to one block of 64 bytes. */
function hmac(secret: string, text: string): string {
  const pad = (byte: number) =>
    Buffer.alloc(64, byte).map((value, index) => value ^ (Buffer.from(secret)[index] ?? 0));
  return sha256(pad(0x5c), sha256(pad(0x36), text)).toString('hex');
}

function refusalOf(options: unknown): AlliumError {
  try {
    hashCanonical({}, options as HashOptions); // Wrong on purpose.
  } catch (error) {
    if (error instanceof AlliumError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('hashCanonical', () => {
  it.each([
    [{}, '{}'],
    ['abc', '"abc"'],
    [{ b: [2, 1], a: '€ 😀 é' }, '{"a":"€ 😀 é","b":[2,1]}'],
    [{ 9: null, 10: 1e21 }, '{"10":1e+21,"9":null}'],
  ])('is the SHA-256 of the UTF-8 bytes of the canonical text: %j', (value, text) => {
    expect(hashCanonical(value)).toBe(
      `sha256:${sha256(Buffer.from(text, 'utf8')).toString('hex')}`,
    );
  });

  it('has the published hash of the text {}', () => {
    expect(hashCanonical({})).toBe(
      'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    );
  });

  it('is the same for snapshots, copies and other orders of members', () => {
    const hash = hashCanonical({ a: 1, b: { c: 2, d: 3 } });

    expect(hashCanonical(snapshot({ b: { d: 3, c: 2 }, a: 1 }))).toBe(hash);
    expect(hashCanonical({ a: 1, b: { c: 2, d: 4 } })).not.toBe(hash);
  });

  it('names the key in front of an HMAC', () => {
    const rfc4231 = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
    const text = 'what do ya want for nothing?';

    expect(hmac('Jefe', text)).toBe(rfc4231);
    expect(hashCanonical(text, { key: { id: 'k-1', secret: 'Jefe' } })).toBe(
      `hmac-sha256:k-1:${hmac('Jefe', `"${text}"`)}`,
    );
  });

  it('takes a secret as bytes or as text', () => {
    const bytes = new Uint8Array(Buffer.from('clé'));

    expect(hashCanonical([1], { key: { id: 'k', secret: bytes } })).toBe(
      hashCanonical([1], { key: { id: 'k', secret: 'clé' } }),
    );
    expect(hashCanonical([1], { key: { id: 'k', secret: 'cle' } })).not.toBe(
      hashCanonical([1], { key: { id: 'k', secret: 'clé' } }),
    );
  });

  it('refuses what is not JSON, with a key and without', () => {
    expect(() => hashCanonical({ a: undefined })).toThrow('a is undefined');
    expect(() => hashCanonical({ a: Number.NaN }, { key: { id: 'k', secret: 's' } })).toThrow(
      'a is not a finite number',
    );
  });

  it.each<[string, unknown]>([
    ['an id with a colon', { key: { id: 'a:b', secret: 'hunter2' } }],
    ['an empty id', { key: { id: '', secret: 'hunter2' } }],
    ['an id of 65 characters', { key: { id: 'x'.repeat(65), secret: 'hunter2' } }],
    ['an id with a line break', { key: { id: 'k\n', secret: 'hunter2' } }],
    ['an id and a secret that were swapped', { key: { id: 'hunter2 correct horse', secret: 'k' } }],
    ['no id', { key: { secret: 'hunter2' } }],
    ['no secret', { key: { id: 'k' } }],
    ['an empty secret', { key: { id: 'k', secret: '' } }],
    ['no bytes', { key: { id: 'k', secret: new Uint8Array() } }],
    ['a number for a secret', { key: { id: 'k', secret: 424242 } }],
    ['a list for a secret', { key: { id: 'k', secret: ['hunter2'] } }],
    ['a bare secret', { key: 'hunter2' }],
    ['a misspelt option', { keys: { id: 'k', secret: 'hunter2' } }],
    ['a misspelt field', { key: { id: 'k', secret: 'hunter2', secrets: 'hunter2' } }],
    ['no object', 'hunter2'],
  ])('refuses %s and shows no secret', (_, options) => {
    const refusal = refusalOf(options);

    expect(refusal.code).toBe('ERR_INVALID_OPTION');
    expect(JSON.stringify(refusal) + String(refusal.stack)).not.toMatch(/hunter2|424242/);
  });
});
