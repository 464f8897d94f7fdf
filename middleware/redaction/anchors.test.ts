import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anchorFinder } from './anchors.ts';

const WORDS = ['eyJ', 'key', '://', 'sk_live_', 'password', 'pass', '-----BEGIN'];
const finder = anchorFinder(WORDS);

/** Every word at every place, one after another. */
function naive(text: string): readonly string[] {
  const lower = text.toLowerCase();
  const found: string[] = [];
  for (let start = 0; start < text.length; start += 1) {
    for (const word of WORDS) if (lower.startsWith(word.toLowerCase(), start)) found.push(`${start} ${word}`);
  }
  return found.sort();
}

function found(text: string): readonly string[] {
  const hits: string[] = [];
  finder.find(text, (word, start) => hits.push(`${start} ${WORDS[word] ?? ''}`));
  return hits.sort();
}

const pieces = fc.oneof(fc.constantFrom(...WORDS, 'PASSword', 'ke', 'pas', 'sk_live', ':/'), fc.string({ maxLength: 5 }));
const texts = fc.array(pieces).map((parts) => parts.join(''));

describe('anchorFinder', () => {
  it('finds every word wherever it stands, in any case', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(found(text)).toEqual(naive(text));
      }),
    );
  });

  it('says that a word is there exactly where it finds one', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(finder.isIn(text)).toBe(naive(text).length > 0);
      }),
    );
  });

  it.each(WORDS)('sees %s at even and odd places, at both ends, and cut off by nothing', (word) => {
    for (const before of ['', ' ', '  ']) for (const after of ['', ' ']) expect(finder.isIn(before + word + after)).toBe(true);
    expect(finder.isIn(word.slice(0, -1))).toBe(naive(word.slice(0, -1)).length > 0);
  });

  it('is not led astray by the text it looked at before', () => {
    expect([finder.isIn('a longer text with a key'), finder.isIn('a longer text with a ke')]).toEqual([true, false]);
  });
});
