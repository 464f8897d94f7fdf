/** Receipts as text: a row for people, JSON, and CSV that no spreadsheet runs. */

import { asciiJson } from '../../receipts/receipt-line.ts';
import type { StoredReceipt } from '../../receipts/read/stored-receipt.ts';
import { type Column, safeText } from '../io/text-table.ts';
import { words } from '../../system/words.ts';

/** The columns of the table. */
export const COLUMNS: readonly Column[] = [
  // The smallest widths fill a terminal of eighty columns.
  { title: 'time', min: 19 },
  { title: 'call', min: 8 },
  { title: 'session', min: 4 },
  { title: 'tool', min: 10 },
  { title: 'status' },
  { title: 'ran' },
  { title: 'blocked by', min: 6 },
  { title: 'ms', align: 'right', min: 4 },
  { title: 'reason', min: 4 },
  // Last: where the terminal is narrow, this is what is cut.
  { title: 'server', min: 4, optional: true },
];

/** Longer texts are cut before they are laid out. */
const MAX_CELL = 2000;

/** The cells of a receipt, as they are: the table makes them safe. */
export const rowOf = (receipt: StoredReceipt): readonly string[] =>
  [
    receipt.emitted_at.slice(0, 19).replace('T', ' '),
    receipt.tool_call_id,
    receipt.session_id,
    receipt.tool_name,
    receipt.status ?? (receipt.record === 'intent' ? '(intent)' : ''),
    receipt.executed,
    blockerOf(receipt),
    durationText(receipt.duration_ms),
    receipt.reason ?? '',
    receipt.server ?? '',
  ].map((cell) => cell.slice(0, MAX_CELL));

/**
 * The layer that turned the call away, and its rule. The rules of the bundled layers begin with the
 * name of their layer.
 */
function blockerOf({ blocked_by: layer, rule }: StoredReceipt): string {
  if (layer === null || rule === undefined) return layer ?? '';
  return rule.startsWith(layer) ? rule : `${layer}: ${rule}`;
}

/** The same on one line by itself, safe for a terminal. */
export const lineOf = (receipt: StoredReceipt): string =>
  rowOf(receipt)
    .map((cell) => (cell === '' ? '-' : safeText(cell)))
    .join('  ');

/** Milliseconds with as many digits as say something. */
export const durationText = (ms: number): string =>
  String(ms >= 100 ? Math.round(ms) : Number(ms.toPrecision(3)));

/** JSON in plain ASCII: nothing in it acts upon a terminal. */
export const jsonOf = (value: object): string => asciiJson(value);

const CSV_FIELDS = words(`
  emitted_at session_id run_id tool_call_id tool_name record status executed blocked_by
  duration_ms reason kind executor error_category iteration turn_index emit_order model provider
  requested_hash approved_hash executed_hash args_hash result_hash seq prev_hash hash audit
  server rule
`);

/** The first line of a CSV file. Its lines end in CR LF. */
export const csvHeader = (): string => CSV_FIELDS.join(',');

/** A receipt as a line of CSV (RFC 4180), without its end. */
export const csvOf = (receipt: StoredReceipt): string =>
  CSV_FIELDS.map((name) => csvCell(Reflect.get(receipt, name))).join(',');

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = harmless(typeof value === 'string' ? value : JSON.stringify(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a spreadsheet would take for a formula is taken for a text with an apostrophe before it. */
function harmless(text: string): string {
  const plain = text.replace(ACTING, safeText);
  return /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u.test(plain) ? `'${plain}` : plain;
}

/** Control characters but tab and line ends, and what changes the direction of a text. */
const ACTING =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
