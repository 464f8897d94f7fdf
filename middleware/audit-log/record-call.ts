/**
 * The three moments of a recorded call: whether it may start, what it is about to do, and how it
 * ended.
 */

import {
  abortOf,
  annotate,
  attachReceipt,
  fail,
  refuse,
  type ToolCall,
  type ToolResult,
} from '../../src/layer.ts';
import {
  buildIntent,
  buildReceipt,
  createReceipt,
  type Delivery,
  type Durability,
  type ReceiptDraft,
} from '../../src/receipts/index.ts';

/**
 * With more receipts under way, calls wait for a background sink: what it does not take must not
 * pile up.
 */
const MAX_UNDER_WAY = 1_000;

/** What the options of the layer come to. */
export interface Settings {
  /** `null` where receipts only ride on the event. */
  readonly delivery: Delivery | null;
  readonly durability: Durability;
  readonly attach: boolean;
  readonly blocks: boolean;
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

/**
 * The refusal of a call that could not be recorded, or of one whose caller left while that was
 * found out.
 */
export function notReady(
  call: ToolCall,
  delivery: Delivery | null,
): Promise<ToolResult | null> | null {
  const asked = delivery?.ready(call.turn.sessionId) ?? null;
  if (asked === null) return null;
  const answer = asked.then(
    () => null,
    (thrown: unknown) => unavailable(call, thrown),
  );
  return settledOrGone(answer, call, () => gone(call));
}

/** The tool must not run before its intent is kept, however receipts are kept otherwise. */
export async function intentNotKept(
  call: ToolCall,
  { delivery, durability, blocks }: Settings,
): Promise<ToolResult | null> {
  const kept =
    delivery?.send(
      call.turn.sessionId,
      buildIntent(call),
      durability === 'background' ? 'write' : durability,
    ).kept ?? null;
  if (kept === null) return null;
  const answer = kept.then((isKept) =>
    isKept || !blocks ? null : unavailable(call, new Error('the intent could not be kept')),
  );
  return settledOrGone(answer, call, () => gone(call));
}

/**
 * A call that leaves nothing with the sink, because the sink takes nothing. Listeners still hear of
 * it.
 */
export const unrecorded = (call: ToolCall, result: ToolResult, { attach }: Settings): ToolResult =>
  attach ? attached(result, buildReceipt(call, result, 0), null) : result;

const attached = (result: ToolResult, draft: ReceiptDraft, uri: string | null): ToolResult =>
  attachReceipt(result, createReceipt(draft.fields, { ...draft, uri }));

/**
 * Sends the receipt, waits for it as long as the settings say, and notes on the result what became
 * of it.
 */
export function record(
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
  if (!waits) return noted(named, true, delivery, settings);
  return settledOrGone(kept, call, () => null).then((isKept) =>
    noted(named, isKept, delivery, settings),
  );
}

/** The result with a word on its receipt: `null` where it is not known yet whether it was kept. */
function noted(
  named: ToolResult,
  isKept: boolean | null,
  delivery: Delivery,
  { blocks }: Settings,
): ToolResult {
  const lost = blocks || delivery.failures === 0 ? {} : { lost: delivery.failures };
  if (isKept === true) return delivery.failures === 0 || blocks ? named : annotate(named, {}, lost);
  // The tool has run, or was turned away for a reason of its own: that stays the answer.
  if (isKept === null) return annotate(named, {}, { status: 'sink_pending', ...lost });
  return annotate(
    named,
    { metadata: { ...named.audit?.metadata, sinkFailed: true } },
    { status: 'sink_failed', ...lost },
  );
}

/**
 * What `waiting` comes to, or `otherwise` when the caller leaves first. `waiting` must not reject;
 * it goes on unheard. Asks the call and not its signal, which would be made for it.
 */
function settledOrGone<T, U>(
  waiting: Promise<T>,
  call: ToolCall,
  otherwise: () => U,
): Promise<T | U> {
  return new Promise((resolve) => {
    const letGo = abortOf(call).follow(() => resolve(otherwise()));
    void waiting.then((value) => {
      letGo();
      resolve(value);
    });
  });
}
