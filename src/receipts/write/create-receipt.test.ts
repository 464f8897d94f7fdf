import { describe, expect, it } from 'vitest';
import { hashCanonical } from '../../core/json/hash-canonical.ts';
import { snapshot } from '../../core/json/json.ts';
import { toWire } from '../../core/wire/wire.ts';
import { bytes, NOT_PLAIN } from '../../core/json/json-bytes.ts';
import type { Receipt, ReceiptDraft, ReceiptFields } from '../receipt.ts';
import { createReceipt, layOut, receiptOf } from './build-receipt.ts';
import { receiptText } from './receipt-text.ts';
import { makeReceipt } from '../receipts.fixture.ts';

const URI = 'file:///receipts/s.jsonl#seq=1';
const TIME = Date.UTC(2026, 0, 2, 3, 4, 5, 6);

function fieldsOf(changes: Partial<Receipt> = {}): ReceiptFields {
  const { audit: _, emitted_at: __, ...fields } = makeReceipt(changes);
  return fields;
}

const auditOf = () => ({
  kind: 'search',
  hints: { readOnly: true },
  layers: [
    {
      name: 'timeout',
      status: 'ok',
      startedAt: '2026-01-01T00:00:00.000Z',
      endedAt: '2026-01-01T00:00:00.000Z',
    },
  ],
  metadata: { ownName: { innerName: 1 } },
});

type Case = readonly [string, object | null, Partial<Receipt>];

const PLAIN: readonly Case[] = [
  ['an ordinary receipt', auditOf(), {}],
  ['texts that need care', { ...auditOf(), reason: 'für "später" \u2028' }, { reason: '\x7f\\' }],
  ['a server and a rule', auditOf(), { server: 'files', rule: 'consent rule 2 (deny write_*)' }],
  ['numbers of every kind', { ...auditOf(), count: 0.1 }, { duration_ms: 1e21, iteration: 7 }],
];

const STRANGE: readonly Case[] = [
  ['names that become one', { ownName: 1, own_name: 2, layers: [] }, {}],
  ['half a character', { ...auditOf(), reason: '\ud800' }, {}],
  ['half a character in a field', auditOf(), { tool_name: '\ud800' }],
  ['a place it had before', { receiptUri: 'file:///before', ...auditOf() }, {}],
  ['a place in the other spelling', { ...auditOf(), receipt_uri: 'file:///before' }, {}],
  ['an empty record', {}, {}],
  ['too much', { ...auditOf(), reason: 'x'.repeat(70_000) }, {}],
  ['depth', Array.from({ length: 70 }).reduce<object>((inner) => ({ inner }), {}), {}],
];

const made = (
  audit: object | null = auditOf(),
  uri: string | null = URI,
  changes: Partial<Receipt> = {},
): Receipt => createReceipt(fieldsOf(changes), { audit, uri, emittedMs: TIME });

describe('createReceipt', () => {
  it('is the fields, the record in the spelling of receipts, and the time', () => {
    const audit = { ...toWire(auditOf()), receipt_uri: URI };

    expect(made()).toEqual({ ...fieldsOf(), audit, emitted_at: '2026-01-02T03:04:05.006Z' });
    expect(Object.keys(made()).slice(-3)).toEqual(['provider', 'audit', 'emitted_at']);
    expect(Object.keys(made(auditOf(), null))).toEqual(Object.keys(made()));
  });

  it.each([...PLAIN, ...STRANGE])(
    'is whole, frozen and can be written with %s',
    (_, audit, changes) => {
      const receipt = made(audit, URI, changes);

      expect(JSON.stringify(receipt.audit)).toContain(URI);
      expect([receipt, receipt.audit].every(Object.isFrozen)).toBe(true);
      expect(() => JSON.parse(`${receiptText(receipt, null)}}`) as unknown).not.toThrow();
    },
  );

  it('stays what it was, whatever becomes of the record', () => {
    const audit = auditOf();
    const receipt = made(audit);
    audit.layers.push({ name: 'later', status: 'ok', startedAt: '', endedAt: '' });
    Object.assign(audit.layers[0] ?? {}, { name: 'forged' });

    expect(receipt.audit?.layers).toMatchObject([{ name: 'timeout' }]);
    expect(receipt.audit?.layers).toHaveLength(1);
  });

  it('is frozen in depth', () => {
    const { audit } = made();

    expect([audit, audit?.layers, audit?.hints].every(Object.isFrozen)).toBe(true);
  });

  it('has a record that names its place, or none', () => {
    expect(made(null, null).audit).toBeNull();
    expect(made(null).audit).toEqual({ receipt_uri: URI });
  });
});

const draftOf = (audit: object | null, changes: Partial<Receipt>): ReceiptDraft => ({
  fields: fieldsOf(changes),
  audit,
  emittedMs: TIME,
});

/** What `layOut` wrote, or `null`. */
function laidOut(draft: ReceiptDraft): string | null {
  const length = layOut(draft, URI);
  return length === NOT_PLAIN ? null : bytes.toString('latin1', 0, length);
}

describe('layOut', () => {
  it.each(PLAIN)('writes %s like the receipt that is made of it', (_, audit, changes) => {
    const draft = draftOf(audit, changes);

    expect(laidOut(draft)).toBe(receiptText(receiptOf(draft, URI), null));
  });

  it.each<Case>([
    ...STRANGE,
    ['an intent', auditOf(), { record: 'intent' }],
    ['what has no record', null, {}],
  ])('leaves %s to createReceipt', (_, audit, changes) => {
    expect(laidOut(draftOf(audit, changes))).toBeNull();
  });

  it('is not mixed up with what a record writes while it is read', () => {
    const hash = hashCanonical({ secret: 'x'.repeat(100) });
    const hostile = Object.defineProperty({}, 'late', {
      enumerable: true,
      get: () => hashCanonical(snapshot({ secret: 'x'.repeat(100) })),
    });
    const draft = draftOf({ ...auditOf(), hostile }, {});

    expect(laidOut(draft)).toBeNull();
    expect(JSON.parse(`${receiptText(receiptOf(draft, URI), null)}}`)).toMatchObject({
      audit: { ...toWire(auditOf()), hostile: { late: hash } },
    });
  });
});

describe('receiptOf', () => {
  it('names the place of a receipt, and none of an intent', () => {
    expect(receiptOf(draftOf(null, { record: 'receipt' }), URI).audit).toEqual({
      receipt_uri: URI,
    });
    expect(receiptOf(draftOf(null, { record: 'intent' }), URI).audit).toBeNull();
  });
});
