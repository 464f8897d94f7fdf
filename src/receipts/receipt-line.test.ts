import { describe, expect, it } from 'vitest';
import {
  asciiJson,
  chainLine,
  completeLength,
  digestOf,
  GENESIS,
  openPart,
  placeOf,
} from './receipt-line.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('asciiJson', () => {
  it('writes each of the 1 114 112 code points in printable ASCII, and loses none', () => {
    for (let start = 0; start < 0x110000; start += 0x1000) {
      const text = Array.from({ length: 0x1000 }, (_, index) =>
        String.fromCodePoint(start + index),
      ).join('');

      const json = asciiJson({ text });

      expect(/^[\x20-\x7e]*$/.test(json)).toBe(true);
      expect((JSON.parse(json) as { text: string }).text === text).toBe(true);
    }
  });

  it('leaves a naive reader one line where JSON.stringify leaves three', () => {
    const text = 'a\u2028b\u0085c';

    expect(JSON.stringify({ text }).split(/[\u0085\u2028\u2029\n\r]/)).toHaveLength(3);
    expect(asciiJson({ text }).split(/[\u0085\u2028\u2029\n\r]/)).toHaveLength(1);
  });
});

describe('a chained line', () => {
  const { text, hash } = chainLine('{"a":1', 7, GENESIS);

  it('is JSON that ends with its chain fields', () => {
    expect(JSON.parse(text)).toEqual({ a: 1, seq: 7, prev_hash: GENESIS, hash });
    expect(text.endsWith('\n')).toBe(true);
  });

  it('is read back without parsing', () => {
    const line = bytes(text.trimEnd());

    expect(placeOf(line)).toEqual({ seq: 7, prevHash: GENESIS, hash, realHash: hash });
    expect(openPart(line.toString('latin1'))).toBe('{"a":1');
  });

  it('has a hash over everything before it', () => {
    expect(digestOf(text.slice(0, text.indexOf(',"hash"')))).toBe(hash);
  });

  it.each([
    '',
    '{}',
    'x'.repeat(300),
    text.trimEnd().slice(1, -3),
    text.trimEnd().replace('"seq":7', '"seq":07'),
    text.replace('"seq"', '"sec"'),
  ])('is not found in %j', (line) => {
    expect(placeOf(bytes(line.trimEnd()))).toBeNull();
  });
});

describe('completeLength', () => {
  it('keeps all complete lines wherever a file was cut', () => {
    const lines = ['first\n', 'second\n', '\n', 'last\n'];
    const whole = bytes(lines.join(''));
    const ends = lines.map((_, index) => lines.slice(0, index + 1).join('').length);

    for (let cut = 0; cut <= whole.length; cut += 1) {
      expect(completeLength(whole.subarray(0, cut))).toBe(
        Math.max(0, ...ends.filter((end) => end <= cut)),
      );
    }
  });
});
