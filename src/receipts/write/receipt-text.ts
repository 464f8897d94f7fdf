/** A receipt as the text of its line, before it has its place in the chain. */

import { createHmac } from 'node:crypto';
import { AlliumError } from '../../core/contract/errors.ts';
import type { HashKey } from '../../core/json/hash-canonical.ts';
import type { Receipt } from '../receipt.ts';
import { asciiJson, digestOf } from '../receipt-line.ts';

/** The longest line of a receipt. Beyond it the audit record goes, then the ends of long texts. */
export const MAX_RECEIPT_BYTES = 64 * 1024;
/** Room for the chain fields. */
const CHAIN_BYTES = 256;
const MAX_FIELD = 512;
const KEPT_OF_FIELD = 128;

/** How the line of a receipt begins. */
export const RECEIPT_START = '{"schema_version":1,"record":"receipt",';
/** How the line of an intent begins. */
export const INTENT_START = '{"schema_version":1,"record":"intent",';

/** The JSON of a receipt without its closing brace, in ASCII, never longer than a line may be. */
export function receiptText(receipt: Receipt, key: HashKey | null): string {
  const text = openText(receipt);
  if (!isReceipt(text)) {
    throw new AlliumError(
      'ERR_INVALID_OPTION',
      'a receipt has "schema_version" 1, and "receipt" or "intent" as "record"',
      {
        option: 'record',
      },
    );
  }
  return text.length + CHAIN_BYTES <= MAX_RECEIPT_BYTES ? text : openText(shortened(receipt, key));
}

/** The record comes first: it is how lines are told apart without parsing them. */
function openText(receipt: Receipt): string {
  const text = asciiJson(receipt);
  if (isReceipt(text)) return text.slice(0, -1);
  const { schema_version, record, ...rest } = receipt;
  return asciiJson({ schema_version, record, ...rest }).slice(0, -1);
}

/** Whether a line is one of a receipt, and not a checkpoint or anything else. */
export const isReceipt = (line: string): boolean =>
  line.startsWith(RECEIPT_START) || line.startsWith(INTENT_START);

function shortened(receipt: Receipt, key: HashKey | null): Receipt {
  const { audit, ...fields } = receipt;
  const short = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? cutText(value) : value,
    ]),
  );
  // Texts stay texts, and everything else is as it was.
  return {
    ...(short as Omit<Receipt, 'audit'>),
    audit: audit === null ? null : noteFor(audit, key),
  };
}

function noteFor(
  audit: NonNullable<Receipt['audit']>,
  key: HashKey | null,
): NonNullable<Receipt['audit']> {
  const text = JSON.stringify(audit);
  const hash =
    key === null
      ? digestOf(text)
      : `hmac-sha256:${key.id}:${createHmac('sha256', key.secret).update(text).digest('hex')}`;
  const { receipt_uri: uri } = audit;
  return {
    left_out: 'the audit record is too large',
    characters: text.length,
    hash,
    ...(typeof uri === 'string' ? { receipt_uri: uri } : {}),
  };
}

/** A long text as a too long receipt holds it: its beginning, its length and its hash. */
export function cutText(text: string): string {
  return text.length <= MAX_FIELD
    ? text
    : `${text.slice(0, KEPT_OF_FIELD)} [cut: ${text.length} characters, ${digestOf(text)}]`;
}
