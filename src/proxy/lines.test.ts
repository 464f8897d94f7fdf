import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineSplitter } from './lines.ts';

const MAX = 16;

/** What comes of these chunks: lines, and how often one was too long. */
function split(
  chunks: readonly Uint8Array[],
  maxBytes = MAX,
): { lines: string[]; tooLong: number } {
  const lines: string[] = [];
  let tooLong = 0;
  const splitter = lineSplitter(
    (bytes) => void lines.push(Buffer.from(bytes).toString('latin1')),
    () => void (tooLong += 1),
    maxBytes,
  );
  for (const chunk of chunks) splitter.push(chunk);
  return { lines, tooLong };
}

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** Cut before each of these places. */
function cutAt(whole: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const sorted = [0, ...places.map((place) => place % (whole.length + 1)), whole.length].sort(
    (a, b) => a - b,
  );
  return sorted.slice(1).map((end, index) => whole.subarray(sorted[index], end));
}

describe('lines', () => {
  it('are the same however the bytes are cut', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '"', '\n', '\r', '\u00e9', '\u0000'),
      maxLength: 80,
    });

    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 20 }), (given, places) => {
        const whole = bytes(given);
        const wanted = given
          .split('\n')
          .slice(0, -1)
          .map((line) => `${line}\n`);
        const rest = given.slice(given.lastIndexOf('\n') + 1);
        const found = split(cutAt(whole, places));

        expect(found.lines).toEqual(wanted.filter((line) => line.length <= MAX));
        expect(found.tooLong).toBe(
          wanted.filter((line) => line.length > MAX).length + (rest.length > MAX ? 1 : 0),
        );
      }),
    );
  });

  it('that are too long are told of once and dropped whole, and the next one is read', () => {
    const endless = Array.from({ length: 50 }, () => bytes('xxxxx'));

    expect(split([...endless, bytes('tail\nnext\n')])).toEqual({ lines: ['next\n'], tooLong: 1 });
  });

  it('are whole at exactly the bound, newline included', () => {
    expect(split([bytes(`${'x'.repeat(MAX - 1)}\n${'x'.repeat(MAX)}\n`)])).toEqual({
      lines: [`${'x'.repeat(MAX - 1)}\n`],
      tooLong: 1,
    });
  });

  it('without an end are not lines yet', () => {
    expect(split([bytes('half')])).toEqual({ lines: [], tooLong: 0 });
  });
});
