import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../conformance/fuzz/random.ts';
import { splitLines } from './split-lines.ts';

/** What comes out when the bytes come in like this. */
function linesOf(chunks: readonly Buffer[], maxLineBytes = 1_000): readonly string[] {
  const lines: string[] = [];
  const split = splitLines(maxLineBytes, {
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
      expect(linesOf(chunks).map((line) => line.replace(/^(too long: ..).*/s, '$1'))).toEqual(
        expected.map((line) => line.replace(/^(too long: ..).*/s, '$1')),
      );
    }
  });

  it('takes a line of the longest length, and none that is a byte longer', () => {
    const bytes = Buffer.from('12345\n123456\n\n1\n');
    const one = Array.from(bytes, (byte) => Buffer.of(byte));

    expect(linesOf([bytes], 5)).toEqual(['12345', 'too long: 1234', '1']);
    expect(linesOf(one, 5)).toEqual(['12345', 'too long: 1234', '1']);
  });

  it('gives nothing for a line that never ended', () => {
    expect(linesOf([Buffer.from('{"id":1}')])).toEqual([]);
  });

  it('holds no more than a line may be long, whatever comes', () => {
    let longest = 0;
    const split = splitLines(100_000, {
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
