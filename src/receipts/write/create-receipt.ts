/** Makes receipts that can be written, whatever is in them. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isoTime } from '../../core/time/clock.ts';
import { toWire } from '../../core/wire/wire.ts';
import type { Receipt } from '../receipt.ts';
import { type ReceiptFields, writtenReceipt } from './written-receipt.ts';

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
