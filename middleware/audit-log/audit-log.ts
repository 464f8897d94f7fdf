/** One receipt per call, refusals included: what happened, by hash and never by value. */

import {
  abortOf,
  annotate,
  attachReceipt,
  clockOf,
  defineLayer,
  fail,
  hashWith,
  isObserved,
  must,
  type Next,
  type OrderRule,
  refuse,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/layer.ts';
import {
  buildIntent,
  buildReceipt,
  createReceipt,
  deliverReceipts,
  type Delivery,
  type Durability,
  hashValues,
  type LocalReceiptSink,
  localReceiptSink,
  type ReceiptDraft,
} from '../../src/receipts/index.ts';
import { type AuditLogOptions, type AuditLogSink, checkedOptions } from './options.ts';

export type { AuditLogOptions, AuditLogSink };

/**
 * With more receipts under way, calls wait for a background sink: what it does not take must not
 * pile up.
 */
const MAX_UNDER_WAY = 1_000;

/** What the options come to. */
interface Settings {
  /** `null` where receipts only ride on the event. */
  readonly delivery: Delivery | null;
  readonly durability: Durability;
  readonly attach: boolean;
  readonly blocks: boolean;
}

/**
 * Writes down every call, also those that were turned away. Hashes cannot be turned back, but
 * without a key short values can be guessed. It sees what is inside it: layers further out are in
 * no receipt. With `onSinkError: 'block'` a receipt that fails is kept and tried again before the
 * next call, which does not run until it is delivered.
 */
export function auditLog(given: AuditLogSink | AuditLogOptions): ToolLayer {
  const options = checkedOptions(given);
  const {
    sink,
    redact = [],
    durability = 'write',
    intent = false,
    onSinkError = 'block',
  } = options;
  const local = localSinkOf(sink);
  const blocks = onSinkError === 'block';
  const delivery = deliveryOf(sink, local, blocks);
  const key = options.key ?? local?.key ?? null;
  const hash = hashValues(redact, key === false ? null : key);
  const attach = sink === 'cloud' || sink === 'both';
  const settings: Settings = { delivery, durability, attach, blocks };
  return defineLayer({
    name: 'auditLog',
    observes: true,
    order: ORDER,
    caller(received, next) {
      const call = hashWith(received, hash);
      const asked = blocks && delivery !== null ? delivery.ready(call.turn.sessionId) : null;
      const announces = intent && call.annotations.readOnly !== true;
      return asked === null && !announces
        ? recordedCall(call, next, settings)
        : announced(call, next, asked, announces, settings);
    },
    ...(delivery === null ? {} : { close: () => delivery.close() }),
  });
}

/** Goes on, and leaves a receipt. */
function recordedCall(call: ToolCall, next: Next, settings: Settings): Promise<ToolResult> {
  const clock = clockOf(call);
  const startedAt = clock.monotonic();
  return next(call).then((result) => record(call, result, clock.monotonic() - startedAt, settings));
}

/**
 * First waits for the sink, which may have to be asked whether it is ready, or told what is about
 * to happen.
 */
async function announced(
  call: ToolCall,
  next: Next,
  asked: Promise<void> | null,
  announces: boolean,
  settings: Settings,
): Promise<ToolResult> {
  const unready = asked === null ? null : await notReady(call, asked);
  // It happened, so it has to leave its receipt, and to be about to happen would not be true.
  if (isObserved(call)) return recordedCall(call, next, settings);
  // While nothing can be delivered, receipts of calls that do not run would pile up.
  const isDown = settings.delivery?.isDown === true;
  // Listeners still hear of a call that leaves nothing with the sink.
  if (unready !== null && (unready.status !== 'cancelled' || isDown))
    return settings.attach ? attached(unready, buildReceipt(call, unready, 0), null) : unready;
  const stopped = unready ?? (announces ? await intentNotKept(call, settings) : null);
  return stopped === null ? recordedCall(call, next, settings) : record(call, stopped, 0, settings);
}

/** What a call comes to whose sink cannot record it, or whose caller left before that was known. */
async function notReady(call: ToolCall, asked: Promise<void>): Promise<ToolResult | null> {
  const answer = asked.then(
    () => 'ready' as const,
    (thrown: unknown) => unavailable(call, thrown),
  );
  const answered = await answeredOrGone(answer, call);
  return answered === 'ready' ? null : (answered ?? gone(call));
}

/** The tool must not run before its intent is kept, however receipts are kept otherwise. */
async function intentNotKept(
  call: ToolCall,
  { delivery, durability, blocks }: Settings,
): Promise<ToolResult | null> {
  const atLeast = durability === 'background' ? 'write' : durability;
  const kept = delivery?.send(call.turn.sessionId, buildIntent(call), atLeast).kept ?? null;
  if (kept === null) return null;
  const isKept = await answeredOrGone(kept, call);
  if (isKept === null) return gone(call);
  return isKept || !blocks ? null : unavailable(call, new Error('the intent could not be kept'));
}

const unavailable = (call: ToolCall, cause: unknown): ToolResult =>
  fail(
    call,
    'audit_unavailable',
    cause,
    `${call.toolName} was not called: calls cannot be recorded at the moment. Try again later.`,
  );

const gone = (call: ToolCall): ToolResult =>
  refuse(call, 'cancelled', 'The call was cancelled before it ran.');

const attached = (result: ToolResult, draft: ReceiptDraft, uri: string | null): ToolResult =>
  attachReceipt(result, createReceipt(draft.fields, { ...draft, uri }));

/**
 * Sends the receipt, waits for it as long as the settings say, and notes on the result what became
 * of it.
 */
function record(
  call: ToolCall,
  result: ToolResult,
  durationMs: number,
  settings: Settings,
): ToolResult | Promise<ToolResult> {
  const { delivery, attach } = settings;
  const draft = buildReceipt(call, result, durationMs);
  if (delivery === null) return attached(result, draft, null);
  const durability = call.turn.prefetchNextTurn === true ? 'background' : settings.durability;
  const { uri, kept } = delivery.send(call.turn.sessionId, draft, durability);
  if (attach) attached(result, draft, uri);
  const named = uri === null ? result : annotate(result, { receiptUri: uri });
  const waits = kept !== null && (durability !== 'background' || delivery.underWay > MAX_UNDER_WAY);
  if (!waits) return noted(named, true, delivery, settings.blocks);
  return answeredOrGone(kept, call).then((isKept) =>
    noted(named, isKept, delivery, settings.blocks),
  );
}

/** The result with a word on its receipt: `null` where it is not known yet whether it was kept. */
function noted(
  named: ToolResult,
  isKept: boolean | null,
  delivery: Delivery,
  blocks: boolean,
): ToolResult {
  if (isKept === true && blocks) return named;
  const lost = blocks || delivery.failures === 0 ? {} : { lost: delivery.failures };
  if (isKept === true) return delivery.failures === 0 ? named : annotate(named, {}, lost);
  // The tool has run, or was turned away for a reason of its own: that stays the answer.
  if (isKept === null) return annotate(named, {}, { status: 'sink_pending', ...lost });
  return annotate(
    named,
    { metadata: { ...named.audit?.metadata, sinkFailed: true } },
    { status: 'sink_failed', ...lost },
  );
}

/**
 * What `waiting` comes to, or `null` when the caller leaves first. `waiting` must not reject; it
 * goes on unheard. Asks the call and not its signal, which would be made for it.
 */
function answeredOrGone<T>(waiting: Promise<T>, call: ToolCall): Promise<T | null> {
  return new Promise((resolve) => {
    const letGo = abortOf(call).follow(() => resolve(null));
    void waiting.then((value) => {
      letGo();
      resolve(value);
    });
  });
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

/**
 * Layers that turn calls away or change them must be inside: otherwise the receipt is about another
 * call than was asked for, or there is none.
 */
const ORDER: readonly OrderRule[] = (
  [
    ['consent', 'calls that a person or a rule refused would leave no receipt'],
    [
      'requiredReason',
      'calls without a reason would leave no receipt, and receipts would lack the reason',
    ],
    ['redaction', 'results that were withheld would be recorded as given out'],
    ['idempotency', 'calls that were answered from the store would leave no receipt'],
    ['rateLimit', 'calls over the limit would leave no receipt'],
    ['dryRun', 'calls that were only previewed would leave no receipt'],
    ['timeout', 'a tool that ran out of time would leave its receipt late or never'],
    ['retry', 'every attempt would leave a receipt of its own'],
    ['permissions', 'calls that were not permitted would leave no receipt'],
  ] as const
).map(([name, harm]) => must.outsideOf(name, `inside it, ${harm}`));
