import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../conformance/benches/fuzz/random.ts';
import { splitLines } from './lines.ts';

/** What comes out when the bytes come in like this. */
function linesOf(chunks: readonly Buffer[], maxBytes = 1_000): readonly string[] {
  const lines: string[] = [];
  const split = splitLines({
    maxBytes,
    tellLong: 'at_end',
    onLine: (line) => lines.push(line.toString()),
    onLongLine: (start) => lines.push(`too long: ${start.toString().slice(0, 4)}`),
  });
  for (const chunk of chunks) split(chunk);
  return lines;
}

describe('splitting lines', () => {
  it('gives the same lines, however the bytes are cut', () => {
    const random = createRandom(7);
    const lines = Array.from(
      { length: 300 },
      (_, index) => `${index}:${'é'.repeat(random.below(600))}`,
    );
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join('\n'));
    const expected = lines.map((line) =>
      Buffer.byteLength(line) > 1_000 ? `too long: ${line.slice(0, 4)}` : line,
    );

    for (let run = 0; run < 20; run += 1) {
      const chunks: Buffer[] = [];
      for (let from = 0; from < bytes.length; ) {
        const size = 1 + random.below(run < 2 ? 3 : 3_000);
        chunks.push(bytes.subarray(from, from + size));
        from += size;
      }
      expect(
        linesOf(chunks)
          .filter((line) => line !== '')
          .map((line) => line.replace(/^(too long: ..).*/s, '$1')),
      ).toEqual(expected.map((line) => line.replace(/^(too long: ..).*/s, '$1')));
    }
  });

  it('takes a line of the longest length, and none that is a byte longer', () => {
    const bytes = Buffer.from('12345\n123456\n\n1\n');
    const one = Array.from(bytes, (byte) => Buffer.of(byte));

    expect(linesOf([bytes], 5)).toEqual(['12345', 'too long: 1234', '', '1']);
    expect(linesOf(one, 5)).toEqual(['12345', 'too long: 1234', '', '1']);
  });

  it('gives nothing for a line that never ended', () => {
    expect(linesOf([Buffer.from('{"id":1}')])).toEqual([]);
  });

  it('holds no more than a line may be long, whatever comes', () => {
    let longest = 0;
    const split = splitLines({
      maxBytes: 100_000,
      tellLong: 'at_end',
      onLine: () => {},
      onLongLine: (start) => (longest = Math.max(longest, start.length)),
    });
    const before = process.memoryUsage().arrayBuffers;
    const chunk = Buffer.alloc(65_536, 'x');
    for (let index = 0; index < 1_000; index += 1) split(chunk);
    const held = process.memoryUsage().arrayBuffers - before;
    split(Buffer.from('\n'));

    expect(longest).toBe(256);
    expect(held).toBeLessThan(1_000_000);
  });

  it('has a naive twin, which holds all of it', () => {
    const held: Buffer[] = [];
    const naive = (chunk: Buffer) => (chunk.includes('\n') ? held.splice(0) : held.push(chunk));
    for (let index = 0; index < 1_000; index += 1) naive(Buffer.alloc(65_536, 'x'));

    expect(Buffer.concat(held).length).toBe(65_536_000);
  });
});

const MAX = 16;

/** What comes of these chunks: lines, and how often one was too long. */
function split(
  chunks: readonly Uint8Array[],
  maxBytes = MAX,
): { lines: string[]; tooLong: number } {
  const lines: string[] = [];
  let tooLong = 0;
  const take = splitLines({
    maxBytes,
    tellLong: 'at_once',
    onLine: (line) => void lines.push(line.toString('latin1')),
    onLongLine: () => void (tooLong += 1),
  });
  for (const chunk of chunks) take(chunk);
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

describe('lines of which a long one is told at once', () => {
  it('are the same however the bytes are cut', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '"', '\n', '\r', '\u00e9', '\u0000'),
      maxLength: 80,
    });

    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 20 }), (given, places) => {
        const whole = bytes(given);
        const wanted = given.split('\n').slice(0, -1);
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

    expect(split([...endless, bytes('tail\nnext\n')])).toEqual({ lines: ['next'], tooLong: 1 });
  });

  it('are whole at exactly the bound', () => {
    expect(split([bytes(`${'x'.repeat(MAX)}\n${'x'.repeat(MAX + 1)}\n`)])).toEqual({
      lines: ['x'.repeat(MAX)],
      tooLong: 1,
    });
  });

  it('without an end are not lines yet', () => {
    expect(split([bytes('half')])).toEqual({ lines: [], tooLong: 0 });
  });
});
