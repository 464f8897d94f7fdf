import { describe, expect, it } from 'vitest';
import { cutText, MAX_RECEIPT_BYTES, receiptText } from './receipt-text.ts';
import type { Receipt } from '../receipt.ts';
import { makeReceipt } from '../receipts.fixture.ts';

const parsed = (receipt: Receipt, key: Parameters<typeof receiptText>[1] = null) =>
  JSON.parse(`${receiptText(receipt, key)}}`) as Receipt;

describe('receiptText', () => {
  it('holds the receipt as it is', () => {
    expect(parsed(makeReceipt({ reason: 'für später' }))).toEqual(
      makeReceipt({ reason: 'für später' }),
    );
  });

  it('puts the record first, in whatever order the fields came', () => {
    const { record, schema_version, ...rest } = makeReceipt();

    expect(receiptText({ ...rest, record, schema_version }, null)).toMatch(
      /^\{"schema_version":1,"record":"receipt",/,
    );
  });

  it('replaces an audit record that is too large by a note with its hash', () => {
    const audit = { receipt_uri: 'file:///x#seq=1', notes: 'n'.repeat(MAX_RECEIPT_BYTES) };

    const plain = parsed(makeReceipt({ audit }));
    const keyed = parsed(makeReceipt({ audit }), { id: 'k1', secret: 'secret' });

    expect(plain.audit).toMatchObject({
      receipt_uri: 'file:///x#seq=1',
      hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
    });
    expect(keyed.audit).toMatchObject({
      hash: expect.stringMatching(/^hmac-sha256:k1:[0-9a-f]{64}$/) as string,
    });
    expect(JSON.stringify([plain, keyed])).not.toContain('nnn');
  });

  it.each([
    'x'.repeat(1_000_000),
    '😀'.repeat(100_000),
    '\ud800'.repeat(50_000),
    '"\\'.repeat(50_000),
  ])('stays within its size when every text is huge', (huge) => {
    const receipt = makeReceipt({
      reason: huge,
      tool_name: huge,
      session_id: huge,
      model: huge,
      status: huge,
      audit: { [huge]: huge },
    });

    expect(receiptText(receipt, null).length).toBeLessThan(MAX_RECEIPT_BYTES - 200);
  });

  it('leaves long texts whole where the receipt fits', () => {
    expect(parsed(makeReceipt({ reason: 'r'.repeat(5000) })).reason).toHaveLength(5000);
  });

  it.each(['checkpoint', 'other', undefined])('refuses %j as the record', (record) => {
    // Deliberately wrong.
    const receipt = { ...makeReceipt(), record } as unknown as Receipt;

    expect(() => receiptText(receipt, null)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});

describe('cutText', () => {
  it('tells different long texts apart by their hash', () => {
    expect(cutText(`${'a'.repeat(600)}b`)).not.toBe(cutText(`${'a'.repeat(600)}c`));
    expect(cutText('a'.repeat(512))).toBe('a'.repeat(512));
  });
});
