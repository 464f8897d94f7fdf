/** One receipt per call, refusals included: what happened, by hash and never by value. */

import {
  checkOptions,
  clockOf,
  defineLayer,
  hashWith,
  isObserved,
  must,
  type Next,
  type OrderRule,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/layer.ts';
import {
  deliverReceipts,
  type Delivery,
  hashValues,
  type LocalReceiptSink,
  localReceiptSink,
} from '../../src/receipts/index.ts';
import { type AuditLogOptions, type AuditLogSink, OPTIONS } from './options.ts';
import { intentNotKept, notReady, record, type Settings, unrecorded } from './record-call.ts';

export type { AuditLogOptions, AuditLogSink };

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
  checkOptions('auditLog', options, OPTIONS);
  // An event is told after the call: nothing would be kept before the tool runs.
  if (options.sink === 'cloud')
    checkOptions('auditLog', options, { ...OPTIONS, intent: NO_INTENT });
  return options;
}

const NO_INTENT = { ...OPTIONS.intent, test: (value: unknown) => value === false };

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

/**
 * Layers that turn calls away or change them must be inside: otherwise the receipt is about another
 * call than was asked for, or there is none.
 */
const ORDER: readonly OrderRule[] = [
  must.outsideOf(
    'consent',
    'inside it, calls that a person or a rule refused would leave no receipt',
  ),
  must.outsideOf(
    'requiredReason',
    'inside it, calls without a reason would leave no receipt, and receipts would lack the reason',
  ),
  must.outsideOf(
    'redaction',
    'inside it, results that were withheld would be recorded as given out',
  ),
  must.outsideOf(
    'idempotency',
    'inside it, calls that were answered from the store would leave no receipt',
  ),
  must.outsideOf('rateLimit', 'inside it, calls over the limit would leave no receipt'),
  must.outsideOf('dryRun', 'inside it, calls that were only previewed would leave no receipt'),
  must.outsideOf(
    'timeout',
    'inside it, a tool that ran out of time would leave its receipt late or never',
  ),
  must.outsideOf('retry', 'inside it, every attempt would leave a receipt of its own'),
  must.outsideOf('permissions', 'inside it, calls that were not permitted would leave no receipt'),
];
