import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hmacSha256 } from './hash-canonical.ts';

const naive = (secret: Uint8Array | string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex');

describe('hmacSha256', () => {
  it('has the published digest', () => {
    const digest = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';

    expect(hmacSha256('Jefe').ofText('what do ya want for nothing?')).toBe(digest);
  });

  it('is what the system makes of any key and text', () => {
    const keys = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 200 }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }),
    );

    fc.assert(
      fc.property(keys, fc.array(fc.string({ unit: 'binary' })), (secret, texts) => {
        const sign = hmacSha256(secret).ofText;

        expect(texts.map(sign)).toEqual(texts.map((text) => naive(secret, text)));
      }),
    );
  });

  it.each([0, 63, 64, 65, 16_383, 16_384, 16_385, 200_000])(
    'is the same for a text of %i characters',
    (length) => {
      const sign = hmacSha256('secret').ofText;

      for (const text of [
        'x'.repeat(length),
        '\u20ac'.repeat(length),
        `${'a'.repeat(length)}\ud800`,
      ]) {
        expect(sign(text)).toBe(naive('secret', text));
      }
    },
  );

  it('keeps the key it was made with, whatever becomes of the bytes', () => {
    const secret = new Uint8Array([1, 2, 3]);
    const sign = hmacSha256(secret).ofText;
    secret.fill(0);

    expect(sign('text')).toBe(naive(new Uint8Array([1, 2, 3]), 'text'));
  });

  it('does not mix up keys that are used in turn', () => {
    const [first, second] = [hmacSha256('first').ofText, hmacSha256('second').ofText];

    expect([first('a'), second('a'), first('a')]).toEqual([
      naive('first', 'a'),
      naive('second', 'a'),
      naive('first', 'a'),
    ]);
  });
});
