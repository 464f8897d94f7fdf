/** One receipt per call, refusals included: what happened, by hash and never by value. */

import {
  checkOptions,
  clockOf,
  defineLayer,
  expected,
  hashCanonical,
  type HashKey,
  hashWith,
  inSteps,
  isObserved,
  type Onward,
  type Stepped,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/index.ts';
import {
  type Durability,
  type LocalReceiptSink,
  localReceiptSink,
  type ReceiptSink,
} from '../../src/receipts/index.ts';
import { type Delivery, deliverReceipts } from './deliver-receipts.ts';
import { hashValues } from './hash-values.ts';
import { ORDER } from './order-rules.ts';
import { intentNotKept, notReady, record, type Settings, unrecorded } from './record-call.ts';
import { functionWriter, localWriter } from './write-receipts.ts';

/** Where receipts go: a function, the files of this machine, the `tool_call_audit` event, or the last two. */
export type AuditLogSink = ReceiptSink | LocalReceiptSink | 'local' | 'cloud' | 'both';

export interface AuditLogOptions {
  /** Gets every receipt. A function is awaited; `'cloud'` lets it ride on the audit event. */
  readonly sink: AuditLogSink;
  /** Names of members that are left out of every hash, at every depth. @default none */
  readonly redact?: readonly string[];
  /** When a receipt counts as kept. Functions are waited for unless it is `'background'`. @default 'write' */
  readonly durability?: Durability;
  /** Writes a line before a tool runs that is not read-only, and runs it only once that line is kept. @default false */
  readonly intent?: boolean;
  /** Makes HMACs instead of plain hashes. @default the key of the receipt files, and none for other sinks */
  readonly key?: HashKey | false;
  /** Whether calls are refused while receipts cannot be delivered. @default 'block' */
  readonly onSinkError?: 'block' | 'warn';
}

/**
 * Writes down every call, also those that were turned away. Hashes cannot be turned back, but without a key short values
 * can be guessed. It sees what is inside it: layers further out are in no receipt. With `onSinkError: 'block'` a receipt
 * that fails is kept and tried again before the next call, which does not run until it is delivered.
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
    caller: inSteps((received) => {
      const call = hashWith(received, hash);
      const asked = settings.blocks ? notReady(call, delivery) : null;
      const announces = intent && call.annotations.readOnly !== true;
      return asked === null && !announces
        ? recordedCall(call, settings)
        : announced(call, asked, announces, settings);
    }),
    ...(delivery === null ? {} : { close: () => delivery.close() }),
  });
}

/** Goes on, and leaves a receipt. */
function recordedCall(call: ToolCall, settings: Settings): Onward {
  const startedAt = clockOf(call).monotonic();
  return {
    call,
    leave: (result) => record(call, result, clockOf(call).monotonic() - startedAt, settings),
  };
}

/** First waits for the sink, which may have to be asked whether it is ready, or told what is about to happen. */
async function announced(
  call: ToolCall,
  asked: Promise<ToolResult | null> | null,
  announces: boolean,
  settings: Settings,
): Promise<Stepped> {
  const unready = await asked;
  // It happened, so it has to leave its receipt, and to be about to happen would not be true.
  if (isObserved(call)) return recordedCall(call, settings);
  // While nothing can be delivered, receipts of calls that do not run would pile up.
  const isDown = settings.delivery?.isDown === true;
  if (unready !== null && (unready.status !== 'cancelled' || isDown))
    return unrecorded(call, unready, settings);
  const stopped = unready ?? (announces ? await intentNotKept(call, settings) : null);
  return stopped === null ? recordedCall(call, settings) : record(call, stopped, 0, settings);
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

/** A function that looks like a receipt sink must be one: half of it would fail with the first receipt. */
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
    hashCanonical(null, { key: value as HashKey }); // Whatever it is, it is checked there.
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
  if (local !== null) return deliverReceipts(localWriter(local, sink !== local), keep);
  return typeof sink === 'function' ? deliverReceipts(functionWriter(sink), keep) : null;
}
