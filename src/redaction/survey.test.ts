import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileRules } from './rules.ts';
import { scanText } from './scan.ts';
import { isClean } from './survey.ts';

const rules = compileRules({
  detectors: ['secrets', 'email', 'phone', 'card'],
  strategies: {},
  paths: [],
  patterns: [],
});
const TOKEN = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
const PIECES = [
  ...[
    'requirepass hunter2',
    'password',
    '=',
    ': ',
    '="',
    '"',
    ' ',
    '\n',
    '\\',
    '\b',
    '\u001b[',
    '%',
  ],
  ...['hunter2', 'swordfish', 'aws', 'key', 'is', 'Cookie', 'a=b1c2d3e4f5g6', 'x', '=\r', '\u200b'],
  ...[TOKEN, TOKEN.slice(0, 12), encodeURIComponent('\b') + TOKEN, `%67${TOKEN.slice(1)}`],
  ...[
    'k3Yk3Yk3Yk3Yk3Yk3Yk3Yk3Yk3Yk3Yk3Yk3Yk3Y1',
    '4111 1111 1111 1111',
    '+1 555 010 9999',
    'a@b.example',
  ],
  ...['-----BEGIN', ' PRIVATE KEY-----', Buffer.from(`password=${TOKEN}`).toString('base64')],
];
const texts = fc.array(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((pieces) => pieces.join('')),
  { minLength: 1, maxLength: 6 },
);

/** The first list of texts that is said to be clean though one of them is not, by itself. */
function firstMissed(says: (given: readonly string[]) => boolean): readonly string[] | undefined {
  const { counterexample } = fc.check(
    fc.property(texts, (given) => {
      const holds = given.some((text) => scanText(text, rules.detectors).length > 0);
      return !(holds && says(given));
    }),
    { numRuns: 4_000, seed: 7 },
  );
  return counterexample?.[0];
}

describe('texts that are looked at together', () => {
  it('are clean only where each of them is clean by itself', () => {
    const says = (given: readonly string[]) => isClean([{ value: given, paths: [] }], rules);

    expect(firstMissed(says)).toBeUndefined();
  });

  it('would not be with nothing between them', () => {
    const says = (given: readonly string[]) =>
      scanText(given.join(''), rules.detectors).length === 0;

    expect(firstMissed(says)).toBeDefined();
  });

  it('are mostly told to be clean at once where they are ordinary', () => {
    const value = { name: 'ada', note: 'ships on tuesday', items: [{ sku: 'A-1', count: 2 }] };

    expect(isClean([{ value, paths: [] }], rules)).toBe(true);
  });

  it('are not told to be clean at once where a pattern may be tied to the end of one', () => {
    const tied = compileRules({
      detectors: [],
      strategies: {},
      paths: [],
      patterns: ['^internal$'],
    });

    expect(isClean([{ value: ['internal', 'note'], paths: [] }], tied)).toBe(false);
  });
});
