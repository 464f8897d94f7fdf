/** Makes receipts that can be written, whatever is in them. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isoTime } from '../../core/time/clock.ts';
import { toWire } from '../../core/wire/wire.ts';
import type { Receipt } from '../receipt.ts';
import { bytes, NOT_PLAIN, writesSoFar } from '../../core/json/json-bytes.ts';
import { freezeParsed, Same } from '../../core/json/json.ts';
import { writeWire } from '../../core/wire/wire-bytes.ts';

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

  static readonly textOf = (receipt: object): string | null =>
    #text in receipt ? receipt.#text : null;

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
export const writtenText: (receipt: Receipt) => string | null = Written.textOf;

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

/** What comes behind the fields of a receipt. */
export interface ReceiptEnd {
  /** The audit record as it is in memory. */
  readonly audit: object | null;
  /** Where the receipt will stand in a file, or `null` where it goes elsewhere. */
  readonly uri: string | null;
  /** Wall clock in milliseconds since 1970. */
  readonly emittedMs: number;
}

/**
 * A frozen receipt with whole characters and of limited depth: one that cannot be written would
 * hold up every call after it. The object with the fields becomes the receipt. For a place in a
 * file the line is written at once, and `audit` is read from it when asked for.
 */
export function createReceipt(
  fields: ReceiptFields,
  { audit, uri, emittedMs }: ReceiptEnd,
): Receipt {
  const emittedAt = isoTime(emittedMs);
  const written =
    uri === null || audit === null ? null : writtenReceipt(fields, audit, uri, emittedAt);
  if (written !== null) return written;
  const named = uri === null ? audit : { ...audit, receiptUri: uri };
  return wellFormed({
    ...fields,
    audit: named === null ? null : wireAudit(named),
    emitted_at: emittedAt,
  });
}

/**
 * A copy. Two names that become one are no reason to lose the record; it then keeps the names it
 * has in memory.
 */
function wireAudit(audit: object): JsonObject {
  try {
    return toWire(audit);
  } catch {
    return cleaned(audit as JsonObject, 1) as JsonObject; // Layers can only write JSON into it.
  }
}

const MAX_DEPTH = 64;

/** The fields keep their names and kinds, so it is still a receipt. */
function wellFormed(receipt: Receipt): Receipt {
  const members = receipt as unknown as JsonObject;
  if (!isClean(members, 0)) return cleaned(members, 0) as unknown as Receipt;
  if (receipt.audit !== null) Object.freeze(receipt.audit);
  return Object.freeze(receipt);
}

/** Nearly every receipt is, and finding that out costs less than copying it. */
function isClean(value: JsonValue, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  if (isList(value)) return value.every((item) => isClean(item, depth + 1));
  for (const name of Object.keys(value))
    if (!name.isWellFormed() || !isClean(value[name] ?? null, depth + 1)) return false;
  return true;
}

function cleaned(value: JsonValue, depth: number): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '…';
  if (isList(value)) return Object.freeze(value.map((item) => cleaned(item, depth + 1)));
  return Object.freeze(
    Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name.toWellFormed(), cleaned(item, depth + 1)]),
    ),
  );
}

/** `Array.isArray` does not take readonly lists for lists. */
const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);
