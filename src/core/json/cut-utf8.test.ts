import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { borderBefore, cutUtf8 } from './cut-utf8.ts';

/** Character by character. */
function slowCut(text: string, maxBytes: number): string {
  let cut = '';
  for (const character of text.toWellFormed()) {
    if (Buffer.byteLength(cut + character) > maxBytes) break;
    cut += character;
  }
  return cut;
}

describe('cutUtf8', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abc', 2, 'ab'],
    ['abc', 0, ''],
    ['é', 1, ''],
    ['aé', 3, 'aé'],
    ['😀😀', 7, '😀'],
    ['abc😀', 4, 'abc'],
    ['a\ud800b', 4, 'a\ufffd'],
    ['a\ud800b', 3, 'a'],
  ])('cuts %j to %i bytes as %j', (text, maxBytes, expected) => {
    expect(cutUtf8(text, maxBytes)).toBe(expected);
  });

  it('is the longest beginning that fits, for any text, halves of pairs included', () => {
    const anyText = fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
      .map((units) => String.fromCharCode(...units));
    fc.assert(
      fc.property(
        anyText,
        fc.nat(40),
        (text, maxBytes) => cutUtf8(text, maxBytes) === slowCut(text, maxBytes),
      ),
    );
  });

  it('does not read a long text to its end', () => {
    const long = 'x'.repeat(64 * 1024 * 1024);
    const started = process.memoryUsage().external;

    expect(cutUtf8(long, 10)).toBe('xxxxxxxxxx');
    expect(process.memoryUsage().external - started).toBeLessThan(1024 * 1024);
  });
});

describe('borderBefore', () => {
  it('goes back to where a character begins, and not beyond the bytes', () => {
    const bytes = Buffer.from('a😀b');

    expect([-1, 0, 1, 2, 3, 4, 5, 6, 9].map((position) => borderBefore(bytes, position))).toEqual([
      0, 0, 1, 1, 1, 1, 5, 6, 6,
    ]);
  });
});
