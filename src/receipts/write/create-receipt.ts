/** Makes receipts that can be written, whatever is in them. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isoTime } from '../../core/time/clock.ts';
import { toWire } from '../../core/wire/wire.ts';
import type { Receipt, ReceiptDraft, ReceiptFields } from '../receipt.ts';
import { bytes, NOT_PLAIN, writesSoFar } from '../../core/json/json-bytes.ts';
import { writeWire } from '../../core/wire/wire-bytes.ts';

/** What comes behind the fields of a receipt. */
export interface ReceiptEnd extends Omit<ReceiptDraft, 'fields'> {
  /** Where the receipt will stand in a file, or `null` where it goes elsewhere. */
  readonly uri: string | null;
}

/**
 * A frozen receipt with whole characters and of limited depth: one that cannot be written would
 * hold up every call after it.
 */
export function createReceipt(
  fields: ReceiptFields,
  { audit, uri, emittedMs }: ReceiptEnd,
): Receipt {
  const named = uri === null ? audit : { ...audit, receiptUri: uri };
  return wellFormed({
    ...fields,
    audit: named === null ? null : wireAudit(named),
    emitted_at: isoTime(emittedMs),
  });
}

/** The receipt of a draft. An intent does not name its place: it has no audit record. */
export function receiptOf({ fields, audit, emittedMs }: ReceiptDraft, uri: string | null): Receipt {
  const place = fields.record === 'intent' ? null : uri;
  return createReceipt(fields, { audit, uri: place, emittedMs });
}

const COMMA = 0x2c;
const AUDIT_LABEL = Buffer.from(',"audit":');

/**
 * Writes the JSON of the receipt that `receiptOf` makes, without its closing brace, at the
 * beginning of `bytes`. Answers its length, or `NOT_PLAIN` where `receiptOf` has to say what
 * becomes of the draft. In four parts, because to spread fields or record costs more than all of
 * this; each part is written over the brace that closes the one before.
 */
export function layOut({ fields, audit, emittedMs }: ReceiptDraft, uri: string): number {
  const isPlaced = audit !== null && ('receiptUri' in audit || 'receipt_uri' in audit);
  if (audit === null || isPlaced || fields.record === 'intent') return NOT_PLAIN;
  const before = writesSoFar;
  const head = writeWire(fields, 0);
  if (head === NOT_PLAIN) return NOT_PLAIN;
  bytes.set(AUDIT_LABEL, head - 1);
  const start = head - 1 + AUDIT_LABEL.length;
  const record = writeWire(audit, start);
  const isEmpty = record === start + '{}'.length;
  if (record === NOT_PLAIN || isEmpty) return NOT_PLAIN;
  const whole = writeWire({ receiptUri: uri }, record - 1);
  if (whole === NOT_PLAIN) return NOT_PLAIN;
  const end = writeWire({ emitted_at: isoTime(emittedMs) }, whole);
  // A getter in the record may have had something else written into `bytes` meanwhile.
  if (end === NOT_PLAIN || writesSoFar !== before + 4) return NOT_PLAIN;
  bytes[record - 1] = COMMA;
  bytes[whole] = COMMA;
  return end - 1;
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
  return isClean(members, 0) ? Object.freeze(receipt) : (cleaned(members, 0) as unknown as Receipt);
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
