/** One receipt per call, refusals included: what happened, by hash and never by value. */

import {
  checkOptions,
  clockOf,
  defineLayer,
  expected,
  hashCanonical,
  type HashKey,
  hashWith,
  isObserved,
  type Next,
  type OrderRule,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/layer.ts';
import {
  deliverReceipts,
  type Delivery,
  type Durability,
  hashValues,
  type LocalReceiptSink,
  localReceiptSink,
  type ReceiptSink,
} from '../../src/receipts/index.ts';
import { intentNotKept, notReady, record, type Settings, unrecorded } from './record-call.ts';

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
  /**
   * When a receipt counts as kept. Functions are waited for unless it is `'background'`. @default
   * 'write'
   */
  readonly durability?: Durability;
  /**
   * Writes a line before a tool runs that is not read-only, and runs it only once that line is
   * kept. @default false
   */
  readonly intent?: boolean;
  /**
   * Makes HMACs instead of plain hashes. @default the key of the receipt files, and none for other
   * sinks
   */
  readonly key?: HashKey | false;
  /** Whether calls are refused while receipts cannot be delivered. @default 'block' */
  readonly onSinkError?: 'block' | 'warn';
}

/**
 * Writes down every call, also those that were turned away. Hashes cannot be turned back, but
 * without a key short values can be guessed. It sees what is inside it: layers further out are in
 * no receipt. With `onSinkError: 'block'` a receipt that fails is kept and tried again before the
 * next call, which does not run until it is delivered.
 */
export function auditLog(given: AuditLogSink | AuditLogOptions): ToolLayer {
  const options = checked(given);
  const {
    sink,
    redact = [],
    durability = 'write',
    intent = false,
    onSinkError = 'block',
  } = options;
  const local = localSinkOf(sink);
  const delivery = deliveryOf(sink, local, onSinkError === 'block');
  const hash = hashValues(
    redact,
    options.key === false ? null : (options.key ?? local?.key ?? null),
  );
  const settings: Settings = {
    delivery,
    durability,
    attach: sink === 'cloud' || sink === 'both',
    blocks: onSinkError === 'block',
  };
  return defineLayer({
    name: 'auditLog',
    observes: true,
    order: ORDER,
    caller(received, next) {
      const call = hashWith(received, hash);
      const asked = settings.blocks ? notReady(call, delivery) : null;
      const announces = intent && call.annotations.readOnly !== true;
      return asked === null && !announces
        ? recordedCall(call, next, settings)
        : announced(call, next, asked, announces, settings);
    },
    ...(delivery === null ? {} : { close: () => delivery.close() }),
  });
}

/** Goes on, and leaves a receipt. */
async function recordedCall(call: ToolCall, next: Next, settings: Settings): Promise<ToolResult> {
  const startedAt = clockOf(call).monotonic();
  const result = await next(call);
  return record(call, result, clockOf(call).monotonic() - startedAt, settings);
}

/**
 * First waits for the sink, which may have to be asked whether it is ready, or told what is about
 * to happen.
 */
async function announced(
  call: ToolCall,
  next: Next,
  asked: Promise<ToolResult | null> | null,
  announces: boolean,
  settings: Settings,
): Promise<ToolResult> {
  const unready = await asked;
  // It happened, so it has to leave its receipt, and to be about to happen would not be true.
  if (isObserved(call)) return recordedCall(call, next, settings);
  // While nothing can be delivered, receipts of calls that do not run would pile up.
  const isDown = settings.delivery?.isDown === true;
  if (unready !== null && (unready.status !== 'cancelled' || isDown))
    return unrecorded(call, unready, settings);
  const stopped = unready ?? (announces ? await intentNotKept(call, settings) : null);
  return stopped === null ? recordedCall(call, next, settings) : record(call, stopped, 0, settings);
}

function checked(given: AuditLogSink | AuditLogOptions): AuditLogOptions {
  const options = typeof given === 'object' ? given : { sink: given };
  checkOptions('auditLog', options, {
    sink: expected.required({
      text: 'a function, a receipt sink, "local", "cloud" or "both"',
      test: isSink,
    }),
    redact: expected.listOf(expected.string),
    durability: expected.oneOf('fsync', 'write', 'background'),
    // An event is told after the call: nothing would be kept before the tool runs.
    intent: {
      text: 'true or false, and false with "cloud"',
      test: (value) => value === false || (value === true && options.sink !== 'cloud'),
    },
    key: {
      text: 'false, or a key { id, secret }',
      test: (value) => value === false || isKey(value),
    },
    onSinkError: expected.oneOf('block', 'warn'),
  });
  return options;
}

/**
 * A function that looks like a receipt sink must be one: half of it would fail with the first
 * receipt.
 */
function isSink(value: unknown): boolean {
  if (typeof value !== 'function')
    return value === 'local' || value === 'cloud' || value === 'both';
  return (
    !('append' in value) ||
    ['append', 'ready', 'flush', 'close'].every(
      (name) => typeof Reflect.get(value, name) === 'function',
    )
  );
}

function isKey(value: unknown): boolean {
  try {
    hashCanonical(null, { key: value as HashKey }); // Its type is checked there.
    return value !== undefined;
  } catch {
    return false;
  }
}

function localSinkOf(sink: AuditLogSink): LocalReceiptSink | null {
  if (sink === 'local' || sink === 'both') return localReceiptSink();
  return typeof sink === 'function' && 'append' in sink ? sink : null;
}

function deliveryOf(
  sink: AuditLogSink,
  local: LocalReceiptSink | null,
  keep: boolean,
): Delivery | null {
  if (local !== null) return deliverReceipts(local, { keep, owned: sink !== local });
  return typeof sink === 'function' ? deliverReceipts(sink, { keep, owned: false }) : null;
}

const outsideOf = (name: string, because: string): OrderRule => ({
  outsideOf: name,
  level: 'must',
  because,
});

/**
 * Layers that turn calls away or change them must be inside: otherwise the receipt is about another
 * call than was asked for, or there is none.
 */
const ORDER: readonly OrderRule[] = [
  outsideOf('consent', 'inside it, calls that a person or a rule refused would leave no receipt'),
  outsideOf(
    'requiredReason',
    'inside it, calls without a reason would leave no receipt, and receipts would lack the reason',
  ),
  outsideOf('redaction', 'inside it, results that were withheld would be recorded as given out'),
  outsideOf(
    'idempotency',
    'inside it, calls that were answered from the store would leave no receipt',
  ),
  outsideOf('rateLimit', 'inside it, calls over the limit would leave no receipt'),
  outsideOf('dryRun', 'inside it, calls that were only previewed would leave no receipt'),
  outsideOf(
    'timeout',
    'inside it, a tool that ran out of time would leave its receipt late or never',
  ),
  outsideOf('retry', 'inside it, every attempt would leave a receipt of its own'),
  outsideOf('permissions', 'inside it, calls that were not permitted would leave no receipt'),
];
