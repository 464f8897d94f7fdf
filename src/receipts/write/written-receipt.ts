/**
 * Receipts whose line was written when they were made. Whoever reads such a receipt sees what its
 * line says.
 */

import { bytes, NOT_PLAIN, writesSoFar } from '../../core/json/json-bytes.ts';
import { freezeParsed, Same } from '../../core/json/json.ts';
import { writeWire } from '../../core/wire/wire-bytes.ts';
import type { Receipt } from '../receipt.ts';

/** The fields that come before the audit record. */
export type ReceiptFields = Omit<Receipt, 'audit' | 'emitted_at'>;

/**
 * The text as a private member of the receipt: nobody can see, copy or forge it, and it dies with
 * the receipt.
 */
class Written extends Same {
  #text = '';
  #audit: Receipt['audit'] = null;

  static put(receipt: object, text: string): void {
    new Written(receipt);
    if (#text in receipt) receipt.#text = text;
  }

  static textOf(receipt: object): string | null {
    return #text in receipt ? receipt.#text : null;
  }

  static auditOf(receipt: object): Receipt['audit'] {
    if (!(#audit in receipt)) return null;
    // Written as a receipt a moment ago.
    receipt.#audit ??= freezeParsed((JSON.parse(`${receipt.#text}}`) as Receipt).audit);
    return receipt.#audit;
  }
}

/**
 * The text that a receipt was written as, without its closing brace, or `null` for every other
 * receipt.
 */
export const writtenText = (receipt: Receipt): string | null => Written.textOf(receipt);

const AUDIT: PropertyDescriptor = {
  enumerable: true,
  get(this: object) {
    return Written.auditOf(this);
  },
};

/**
 * Makes a receipt of its fields, which become it, and of an audit record as it is in memory. Most
 * are only ever written down, so the record in the spelling of receipts is made when somebody reads
 * it. `null` where not all is plain; the fields are then as they were.
 */
export function writtenReceipt(
  fields: ReceiptFields,
  audit: object,
  uri: string,
  emittedAt: string,
): Receipt | null {
  const text = textOf(fields, audit, uri, emittedAt);
  if (text === null) return null;
  Object.defineProperty(fields, 'audit', AUDIT);
  // With these two it is one.
  const receipt = fields as { -readonly [K in keyof Receipt]: Receipt[K] };
  receipt.emitted_at = emittedAt;
  Object.freeze(receipt);
  Written.put(receipt, text);
  return receipt;
}

const COMMA = 0x2c;
const AUDIT_LABEL = Buffer.from(',"audit":');

function textOf(
  fields: ReceiptFields,
  audit: object,
  uri: string,
  emittedAt: string,
): string | null {
  if (Object.hasOwn(audit, 'receiptUri') || Object.hasOwn(audit, 'receipt_uri')) return null;
  const before = writesSoFar();
  const head = writeWire(fields, 0);
  if (head === NOT_PLAIN) return null;
  // Over the brace that closes the fields.
  bytes.set(AUDIT_LABEL, head - 1);
  const record = writeWire(audit, head - 1 + AUDIT_LABEL.length);
  if (record === NOT_PLAIN || Object.keys(audit).length === 0) return null;
  // Over the brace that closes the record: one more member of it.
  const whole = writeWire({ receiptUri: uri }, record - 1);
  const end = whole === NOT_PLAIN ? NOT_PLAIN : writeWire({ emitted_at: emittedAt }, whole);
  if (end === NOT_PLAIN || writesSoFar() !== before + 4) return null;
  bytes[record - 1] = COMMA;
  bytes[whole] = COMMA;
  return bytes.toString('latin1', 0, end - 1);
}
