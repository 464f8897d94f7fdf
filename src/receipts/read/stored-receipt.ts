/** A receipt as it is read back from a line. */

import { isObject } from '../../core/json/json.ts';
import type { Receipt } from '../receipt.ts';
import { isReceipt } from '../write/receipt-text.ts';

/** A receipt with its place in the chain. */
export interface StoredReceipt extends Receipt {
  readonly seq: number;
  readonly prev_hash: string;
  readonly hash: string;
}

const TEXTS = [
  'session_id',
  'tool_call_id',
  'tool_name',
  'executed',
  'emitted_at',
  'prev_hash',
  'hash',
] as const;
const TEXTS_OR_NULL = ['reason', 'kind', 'status', 'error_category', 'blocked_by'] as const;
const TEXTS_OR_ABSENT = ['server', 'rule'] as const;
const NUMBERS = ['seq', 'duration_ms'] as const;

/** Reads a line, or answers `null` where it is not one of a receipt. */
export function parseReceipt(line: Buffer): StoredReceipt | null {
  const text = line.toString('latin1');
  if (!isReceipt(text)) return null;
  try {
    const value: unknown = JSON.parse(text);
    // Looked at right here.
    return isObject(value) && hasFields(value) ? (value as unknown as StoredReceipt) : null;
  } catch {
    return null;
  }
}

/**
 * Written by `localReceiptSink`, or made to look so: a reader of a field must not be surprised by
 * what it is.
 */
const hasFields = (value: Readonly<Record<string, unknown>>): boolean =>
  TEXTS.every((name) => typeof value[name] === 'string') &&
  TEXTS_OR_NULL.every((name) => value[name] === null || typeof value[name] === 'string') &&
  TEXTS_OR_ABSENT.every((name) => value[name] === undefined || typeof value[name] === 'string') &&
  NUMBERS.every((name) => typeof value[name] === 'number');
