import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asciiJson, bytes, NOT_PLAIN } from '../json/json-bytes.ts';
import { OPAQUE_MEMBERS, toWire } from './wire.ts';
import { writeWire } from './wire-bytes.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

function written(record: object): string | null {
  const end = writeWire(record, 0);
  return end === NOT_PLAIN ? null : bytes.toString('latin1', 0, end);
}

const names = fc.oneof(
  fc.constantFrom(
    'name',
    'startedAt',
    'started_at',
    'metadata',
    'handoff',
    'receiptURI',
    '10',
    '9',
    '__proto__',
    'a"b',
    'DEL\x7f',
    'ä',
    '\ud800',
  ),
  fc.constantFrom(...OPAQUE_MEMBERS),
  fc.string({ maxLength: 8 }),
);
const leaf = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.constantFrom('\x7f', '\u2028', '"', '\\', 'für später', undefined, null, true, false),
  fc.integer(),
  fc.double(),
);
const values = fc.letrec<{ value: unknown; record: object }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    tie('record'),
    fc.constant(new Date(0)),
  ),
  record: fc.dictionary(names, tie('value'), { maxKeys: 6 }),
})).record;

describe('writeWire', () => {
  it('writes what toWire makes, or leaves it to toWire', () => {
    fc.assert(
      fc.property(values, (record) => {
        const text = written(record);

        if (text !== null) expect(text).toBe(asciiJson(toWire(record)));
      }),
      { numRuns: howMany(750, 3_000) },
    );
  });

  it.each<[string, object]>([
    [
      'a line',
      {
        name: 'timeout',
        status: 'ok',
        startedAt: '2026-01-01T00:00:00.000Z',
        limitMs: 0.5,
        kept: true,
        error: null,
      },
    ],
    [
      'lists',
      { rewrites: [{ layer: 'requiredReason', paths: ['reason'] }], none: [], nothing: {} },
    ],
    [
      'what others named',
      { toolArgs: { ownName: { innerName: 1 } }, inputSchema: [{ ownName: 1 }] },
    ],
    [
      'metadata, of which the direct names are converted',
      { metadata: { ownName: { innerName: 1 }, ownList: [{ innerName: 1 }] } },
    ],
    ['metadata that is a list', { metadata: [{ ownName: 1 }] }],
    [
      'the metadata of a handoff',
      {
        handoff: { ownName: 1, metadata: { ownName: 1 } },
        inner: { handoff: [{ metadata: { ownName: 1 } }] },
      },
    ],
    ['texts that need care', { reason: 'für später "\\\n\x7f\u2028😀', summary: 'x'.repeat(5000) }],
    ['names of digits', { b: 1, 10: 2, 9: 3 }],
  ])('writes %s', (_, record) => {
    expect(written(record)).toBe(asciiJson(toWire(record)));
  });

  it.each<[string, object]>([
    ['names that become one', { ownName: 1, own_name: 2 }],
    ['half a character', { reason: '\ud800' }],
    ['names that are not printable', { 'a\x7f': 1 }],
    ['undefined', { reason: undefined }],
    ['what is not finite', { count: Number.NaN }],
    ['what is not plain', { at: new Date(0) }],
    ['too much', { reason: 'x'.repeat(70_000) }],
    ['too many', { list: Array.from({ length: 40_000 }, () => 1) }],
    ['great depth', Array.from({ length: 70 }).reduce<object>((inner) => ({ inner }), {})],
  ])('leaves %s to toWire', (_, record) => {
    expect(written(record)).toBeNull();
  });
});
