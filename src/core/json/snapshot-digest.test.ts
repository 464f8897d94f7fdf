import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from './json-value.ts';
import { canonicalJson } from './canonical.ts';
import { canonicalHasher, snapshotDigest } from './hash-canonical.ts';
import { writesSoFar } from './json-bytes.ts';
import { snapshot } from './json.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const NO_HEAD = new Uint8Array();
const sha256 = (...parts: readonly (Uint8Array | string)[]): string =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');

/** A value that was not seen before and has no text yet. */
const fresh = (value: unknown): JsonValue => snapshot(structuredClone(value));

const digestOf = (value: unknown): string | null => snapshotDigest(fresh(value), NO_HEAD, 'hex');
/** By way of the text, from a value that bears no mark. */
const naive = (value: unknown): string => sha256(canonicalJson(structuredClone(value)));

const texts = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 200 }).map((text) => text.toWellFormed()),
);
const amounts = fc.integer({ min: -2_000_000_000, max: 2_000_000_000 }).map((cents) => cents / 100);
const numbers = fc.oneof(
  fc.integer(),
  amounts,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const values = fc.letrec<{ value: JsonValue; leaf: JsonValue }>((tie) => ({
  leaf: fc.oneof(texts, numbers, fc.boolean(), fc.constant(null)),
  value: fc.oneof(
    { maxDepth: 6 },
    tie('leaf'),
    fc.array(tie('value'), { maxLength: 8 }),
    fc.dictionary(
      fc.oneof(
        fc.string({ maxLength: 12 }),
        fc.constantFrom('id', '10', '9', 'naïve', 'x'.repeat(400)),
      ),
      tie('value'),
      {
        maxKeys: 40,
      },
    ),
  ),
})).value;

describe('snapshotDigest', () => {
  it('is the hash of the canonical text wherever there is one', () => {
    fc.assert(
      fc.property(fc.array(values, { maxLength: 20 }), (list) => {
        const digest = digestOf(list);

        expect(digest ?? naive(list)).toBe(naive(list));
      }),
      { numRuns: howMany(100, 300) },
    );
  });

  it('makes every hash that is made from the text, with a key and without', () => {
    const key = { id: 'k', secret: 'secret' };
    const [plain, signed] = [canonicalHasher(), canonicalHasher({ key })];

    fc.assert(
      fc.property(values, (value) => {
        const text = canonicalJson(structuredClone(value));

        expect(plain(fresh(value))).toBe(`sha256:${sha256(text)}`);
        expect(signed(fresh(value))).toBe(
          `hmac-sha256:k:${createHmac('sha256', key.secret).update(text).digest('hex')}`,
        );
      }),
    );
  });

  it('is the same when the text is known before, and over what was written before', () => {
    const key = { id: 'k', secret: 'secret' };
    const [plain, signed] = [canonicalHasher(), canonicalHasher({ key })];

    fc.assert(
      fc.property(values, values, (value, other) => {
        const known = fresh(value);
        const text = canonicalJson(known);
        plain(fresh(other));

        expect(plain(known)).toBe(`sha256:${sha256(text)}`);
        expect(signed(known)).toBe(
          `hmac-sha256:k:${createHmac('sha256', key.secret).update(text).digest('hex')}`,
        );
      }),
    );
  });

  it('counts as a writing, whether the text is known or not', () => {
    const value = fresh({ a: 1 });
    const before = writesSoFar;
    digestOf({ a: 1 });
    canonicalJson(value);

    expect(writesSoFar).toBe(before + 2);
    snapshotDigest(value, NO_HEAD, 'hex');
    expect(writesSoFar).toBe(before + 3);
  });

  it('writes numbers as they are', () => {
    fc.assert(
      fc.property(numbers, (value) => {
        expect(digestOf([value])).toBe(sha256(`[${value}]`));
      }),
      { numRuns: howMany(500, 2_000) },
    );
  });

  it.each([
    0,
    -0,
    9,
    10,
    99,
    100,
    2147483647,
    2147483648,
    -1,
    0.01,
    0.1,
    0.29,
    1.005,
    8.7,
    19.99,
    1e7,
    10_000_000.01,
    1e21,
    5e-324,
    0.1 + 0.2,
    999_999_999.99,
    1e9,
    1e9 + 0.01,
    4294967296,
    -0.004,
    0.005,
  ])('writes %d', (value) => {
    expect(digestOf([value])).toBe(sha256(canonicalJson([value])));
  });

  it.each([
    [
      'rows',
      Array.from({ length: 3000 }, (_, row) => ({
        id: `order-${row}`,
        note: 'ä'.repeat(row % 200),
        total: row / 4,
      })),
    ],
    [
      'names',
      Object.fromEntries(
        Array.from({ length: 30 }, (_, nth) => [`${nth}`.padEnd(250, 'n'), 'v'.repeat(128)]),
      ),
    ],
    [
      'members',
      Object.fromEntries(
        Array.from({ length: 3000 }, (_, nth) => [`name-${nth}`, 'v'.repeat(nth % 100)]),
      ),
    ],
    ['lists', Array.from({ length: 70_000 }, () => [])],
    [
      'depth',
      Array.from({ length: 500 }).reduce<JsonValue>((inner) => ({ ['deep'.repeat(60)]: inner }), 1),
    ],
    ['one text', { text: 'long "text" '.repeat(20_000) }],
    ['texts', Array.from({ length: 40 }, (_, nth) => '€'.repeat(1000 * nth))],
    [
      'what fills it to the byte',
      Array.from({ length: 2000 }, (_, nth) => ['x'.repeat(nth % 129)]),
    ],
  ])('is the same where there is more than room: %s', (_, value) => {
    expect(digestOf(value)).toBe(naive(value));
  });

  it('begins with the head it is given', () => {
    const head = Buffer.from('head');
    const rows = Array.from({ length: 9000 }, (_, row) => `row ${row}`);

    expect(snapshotDigest(fresh({ a: 1 }), head, 'hex')).toBe(sha256(head, '{"a":1}'));
    expect(snapshotDigest(fresh(rows), head, 'hex')).toBe(sha256(head, JSON.stringify(rows)));
    expect(snapshotDigest(fresh({ a: 1 }), head, 'binary')).toBe(
      Buffer.from(sha256(head, '{"a":1}'), 'hex').toString('latin1'),
    );
  });

  it('leaves to the text what is not plain, and forgets it', () => {
    const before = digestOf({ a: 1 });
    const nested = Array.from({ length: 300 }).reduce<JsonValue>(
      (inner) => snapshot([inner]),
      snapshot(deep(300)),
    );

    expect(digestOf({ a: ['\ud800'] })).toBeNull();
    expect(
      digestOf([...Array.from({ length: 9000 }, (_, row) => `row ${row}`), '\ud800']),
    ).toBeNull();
    expect(digestOf({ ä: 1 })).toBeNull();
    expect(snapshotDigest(nested, NO_HEAD, 'hex')).toBeNull();
    expect(digestOf({ a: 1 })).toBe(before);
  });

  it('reads nothing that could change while it is read', () => {
    expect(snapshotDigest({ a: 1 }, NO_HEAD, 'hex')).toBeNull();
    expect(snapshotDigest(Object.freeze({ a: 1 }), NO_HEAD, 'hex')).toBeNull();
    expect(snapshotDigest('text', NO_HEAD, 'hex')).toBeNull();
  });

  it('refuses what the text refuses, with the same words', () => {
    const hashed = canonicalHasher();
    const nested = Array.from({ length: 300 }).reduce<JsonValue>(
      (inner) => snapshot({ in: inner }),
      snapshot(deep(300)),
    );

    expect(() => hashed(fresh({ a: [{ b: '\ud800' }] }))).toThrow('a[0].b has a lone surrogate');
    expect(() => hashed(nested)).toThrow('nests deeper than 512');
  });
});

const deep = (levels: number): JsonValue =>
  Array.from({ length: levels }).reduce<JsonValue>((inner) => [inner], 1);
