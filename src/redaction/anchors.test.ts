import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anchorFinder, type Hit } from './anchors.ts';
import { startEffort, startReading } from './reading.ts';

const WORDS = ['eyJ', 'key', '://', 'sk_live_', 'password', 'pass', '-----BEGIN', 'AAAAA', 'gsk_'];
const ANY_CASE = new Set(['key', 'password', 'pass']);
const BEGINS = new Set(['AAAAA', 'gsk_', 'eyJ']);
const finder = anchorFinder(
  WORDS.map((word) => ({ word, anyCase: ANY_CASE.has(word), begins: BEGINS.has(word) })),
  ['%', '=\n'],
);

const find = (text: string, hit: Hit) => {
  const { codes, pairs } = startReading(text, startEffort());
  return finder.find(text, codes, pairs, hit);
};

/** Every word at every place, one after another. */
function naive(text: string): readonly string[] {
  const found: string[] = [];
  for (let start = 0; start < text.length; start += 1) {
    for (const word of WORDS) {
      const here = text.slice(start, start + word.length);
      if (BEGINS.has(word) && /[A-Za-z0-9]/.test(text.charAt(start - 1))) continue;
      if ((ANY_CASE.has(word) ? here.toLowerCase() : here) === word) found.push(`${start} ${word}`);
    }
  }
  return found.sort();
}

function found(text: string): readonly string[] {
  const hits: string[] = [];
  find(text, (word, start) => (hits.push(`${start} ${WORDS[word] ?? ''}`), 0));
  return hits.sort();
}

const signs = (text: string, past: number): readonly number[] => Array.from(find(text, () => past));

const pieces = fc.oneof(
  fc.constantFrom(
    ...WORDS,
    'PASSword',
    'EYJ',
    'ke',
    'pas',
    'sk_live',
    ':/',
    '%',
    '=\n',
    '=',
    'A',
    'é',
    '語',
  ),
  fc.string({ maxLength: 5 }),
);
const texts = fc.array(pieces).map((parts) => parts.join(''));

describe('anchorFinder', () => {
  it('finds every word wherever it stands, in any case where that does not matter', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(found(text)).toEqual(naive(text));
      }),
    );
  });

  it('says where each marked sign begins, also one of two characters', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const places = Array.from(text.matchAll(/%|=\n/g), ({ index }) => index);

        expect(signs(text, 0)).toEqual(places);
      }),
    );
  });

  it('says nothing of the signs in what it was told to pass over', () => {
    const text = '% key % of a crowd and % behind it';
    const past = text.indexOf(' and');

    expect(signs(text, past)).toEqual([0, text.lastIndexOf('%')]);
  });

  it.each(WORDS)('sees %s at even and odd places, at both ends, and cut off by nothing', (word) => {
    for (const before of ['', ' ', '  '])
      for (const after of ['', ' '])
        expect(found(before + word + after)).toEqual(naive(before + word + after));
    expect(found(word.slice(0, -1))).toEqual(naive(word.slice(0, -1)));
  });

  it('tells the places in their order, and is not led astray by the text it looked at before', () => {
    const starts: number[] = [];
    find('key password key', (_word, start) => (starts.push(start), 0));

    expect(starts).toEqual([0, 4, 4, 13]);
    expect([
      found('a longer text with a key').length,
      found('a longer text with a ke').length,
    ]).toEqual([1, 0]);
  });
});
