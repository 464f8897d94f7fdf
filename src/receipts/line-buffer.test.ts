import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineBuffer } from './line-buffer.ts';
import { asciiJson, chainLine, GENESIS } from './receipt-line.ts';

describe('createLineBuffer', () => {
  it('lays out the bytes and the hashes of lines that were made one by one, whatever it was guessed to hold', () => {
    const receipts = fc.array(fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary', maxLength: 300 })));

    fc.assert(
      fc.property(receipts, fc.nat(2_000), (values, capacity) => {
        const lines = createLineBuffer(capacity);
        let [text, head] = ['', GENESIS];
        for (const [index, value] of values.entries()) {
          const open = asciiJson(value).slice(0, -1);
          const line = chainLine(open, index + 1, head);

          expect(lines.add(open, index + 1, head)).toBe(line.hash);
          expect(lines.lastLine()).toBe(line.text);
          text += line.text;
          head = line.hash;
        }
        expect(lines.bytes().toString('utf8')).toBe(text);
        expect(lines.size).toBe(text.length);
      }),
    );
  });

  it('has room for the chain fields of the largest number', () => {
    const lines = createLineBuffer(0);
    lines.add('{"a":1', Number.MAX_SAFE_INTEGER, GENESIS);

    expect(lines.lastLine()).toBe(chainLine('{"a":1', Number.MAX_SAFE_INTEGER, GENESIS).text);
  });
});
