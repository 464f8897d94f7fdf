/** The options of `auditLog`. */

import {
  checkOptions,
  expected,
  hashCanonical,
  type HashKey,
  option,
  type OptionTable,
} from '../../src/layer.ts';
import type { Durability, LocalReceiptSink, ReceiptSink } from '../../src/receipts/index.ts';

/**
 * Where receipts go: a function, the files of this machine, the `tool_call_audit` event, or the
 * last two.
 */
export type AuditLogSink = ReceiptSink | LocalReceiptSink | 'local' | 'cloud' | 'both';

export interface AuditLogOptions {
  /** Gets every receipt. A function is awaited; `'cloud'` lets it ride on the audit event. */
  readonly sink: AuditLogSink;
  /** Names of members that are left out of every hash, at every depth. @default none */
  readonly redact?: readonly string[];
  /** When a receipt counts as kept; only `'background'` does not wait. @default 'write' */
  readonly durability?: Durability;
  /** Keeps a line before a tool runs that is not read-only. @default false */
  readonly intent?: boolean;
  /** HMACs instead of plain hashes. @default the key of the receipt files; none for other sinks */
  readonly key?: HashKey | false;
  /** Whether calls are refused while receipts cannot be delivered. @default 'block' */
  readonly onSinkError?: 'block' | 'warn';
}

const { boolean, either, listOf, oneOf, required, shape, string } = expected;

/**
 * A function that looks like a receipt sink must be one: half of it would fail with the first
 * receipt.
 */
const isFunctionSink = (value: unknown): boolean =>
  typeof value === 'function' &&
  (!('append' in value) ||
    ['append', 'ready', 'flush', 'close'].every(
      (name) => typeof Reflect.get(value, name) === 'function',
    ));

function isKey(value: unknown): boolean {
  try {
    hashCanonical(null, { key: value as HashKey }); // Whatever it is, it is checked there.
    return value !== undefined;
  } catch {
    return false;
  }
}

const SINK = {
  ...either('a function, "local", "cloud" or "both"', oneOf('local', 'cloud', 'both'), {
    ...expected.function,
    test: isFunctionSink,
  }),
  text: 'a function, a receipt sink, "local", "cloud" or "both"',
};
const KEY = either(
  'false, or a key { id, secret }',
  { text: 'false', test: (value) => value === false, schema: { const: false } },
  {
    text: 'a key { id, secret }',
    test: isKey,
    schema: shape({
      id: option(required(string), 'its name, which is in every hash'),
      secret: option(required(string), 'the key itself; take it from a variable'),
    }).schema,
  },
);

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<AuditLogOptions> = {
  sink: option(required(SINK), 'where receipts go, see above'),
  redact: option(listOf(string), 'names of members that are left out of every hash, at every depth', 'none'),
  durability: option(oneOf('fsync', 'write', 'background'), "when a receipt counts as kept: `'fsync'` on disk, `'write'` handed to the system, `'background'` some time later", "`'write'`"),
  intent: option({ ...boolean, text: 'true or false, and false with "cloud"' }, "writes a line `record: 'intent'` before a tool runs that is not read-only, and runs the tool only once that line is kept", '`false`'),
  key: option(KEY, '`{ id, secret }` for HMACs, or `false` for plain SHA-256', 'the key of the receipt files; none for other sinks'),
  onSinkError: option(oneOf('block', 'warn'), "`'block'`: no call runs while receipts cannot be delivered; `'warn'`: calls run, and what is lost is counted", "`'block'`"),
};

/** Throws for what is wrong with the options of `auditLog`. */
export function checkedOptions(given: AuditLogSink | AuditLogOptions): AuditLogOptions {
  const options = typeof given === 'object' ? given : { sink: given };
  checkOptions('auditLog', options, OPTIONS);
  // An event is told after the call: nothing would be kept before the tool runs.
  if (options.sink === 'cloud')
    checkOptions('auditLog', options, { ...OPTIONS, intent: NO_INTENT });
  return options;
}

const NO_INTENT = { ...OPTIONS.intent, test: (value: unknown) => value === false };
