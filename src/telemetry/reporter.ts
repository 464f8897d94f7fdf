/**
 * Watches calls, and hands what it saw to OpenTelemetry and to the other sinks. Nothing that fails
 * here reaches a call.
 */

import { clockOf } from '../core/onion/own-call.ts';
import type { ToolCall } from '../core/contract/call.ts';
import type { Next } from '../core/contract/layer.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { whenEnded } from '../core/onion/account.ts';
import type { Clock } from '../core/time/clock.ts';
import type { SpanAttributes } from './attributes.ts';
import { type EndedCall, endCall, humanWaitOf } from './ended-call.ts';
import { createOtel, type OtelListeners } from './otel/otel.ts';
import { fixedParent } from './otel/parent-context.ts';
import { accept, closeOutlet, createOutlet, lose, type Outlet } from './outlet.ts';
import { problemTeller, type TellProblem } from './problem.ts';
import { createSenders, type SenderSettings } from './senders.ts';
import { type RecordSettings, spanRecordOf } from './span-record.ts';
import { clip, MAX_TEXT } from './text.ts';

/** What a host wants watched, and where it is to go. */
export interface ReporterSettings extends SenderSettings {
  /** On every span. They cannot replace what a span says itself. */
  readonly attributes: Readonly<SpanAttributes>;
  /** The trace that all calls belong to. */
  readonly traceId: string | undefined;
  /** The span that all calls belong under. */
  readonly parentSpanId: string | undefined;
  /** Whether arguments, results and error texts go along. */
  readonly captureContent: boolean;
  /** How long one delivery may take, and `close` may wait. */
  readonly timeoutMs: number;
  /** How many records may be on their way to one sink. */
  readonly maxPending: number;
  /** Hears what went wrong. Without it, the process is warned. */
  readonly onError: TellProblem | undefined;
}

/** What a layer hands its calls to. */
export interface Reporter {
  /** Hands the call on, under watch if a sink would hear of it. */
  readonly watch: (call: ToolCall, next: Next) => Promise<ToolResult>;
  readonly close: () => Promise<void>;
}

/** Checks nothing: the settings must be what their types say. */
export function createReporter(settings: ReporterSettings): Reporter {
  const { traceId, parentSpanId, captureContent, timeoutMs, maxPending } = settings;
  const attached = clippedAttributes(settings.attributes);
  const tell = problemTeller(settings.onError);
  const otel = createOtel(
    { parent: fixedParent(traceId, parentSpanId), attached, captureContent },
    tell,
  );
  const recordSettings: RecordSettings = { traceId, parentSpanId, attached, captureContent };
  const outletSettings = { maxPending, timeoutMs, tell, onDropped: otel.countDropped };
  const outlets = createSenders(settings).map((sender) => createOutlet(sender, outletSettings));
  const usesOtel = settings.sinks.includes('otel');

  function watched(
    call: ToolCall,
    next: Next,
    listeners: OtelListeners | null,
  ): Promise<ToolResult> {
    const clock = clockOf(call);
    const started = { startMs: clock.now(), startTick: clock.monotonic(), wait: humanWaitOf(call) };
    const open = listeners === null ? null : otel.open(listeners, call, started.startMs);
    // What a layer outside masks in the result by path is masked only when the call has ended.
    const final = captureContent ? whenEnded(call) : null;
    return (open === null ? next(call) : otel.run(open, call, next)).then((result) => {
      const ended = endCall(call, result, clock, started);
      const report = (answer: ToolResult) => {
        const reported = answer === result ? ended : { ...ended, answer };
        if (listeners !== null) otel.end(listeners, open, reported);
        if (outlets.length > 0) sendRecord(outlets, reported, recordSettings, clock);
      };
      if (final === null) report(result);
      else void final.then(report);
      return result;
    });
  }

  return {
    watch(call, next) {
      const listeners = usesOtel ? otel.listeners() : null;
      return listeners === null && outlets.length === 0
        ? next(call)
        : watched(call, next, listeners);
    },
    async close() {
      await Promise.all(outlets.map(closeOutlet));
    },
  };
}

/** `null` for none. */
function clippedAttributes(attributes: Readonly<SpanAttributes>): Readonly<SpanAttributes> | null {
  const all = Object.entries(attributes);
  if (all.length === 0) return null;
  return Object.freeze(
    Object.fromEntries(
      all.map(([name, value]) => [name, typeof value === 'string' ? clip(value, MAX_TEXT) : value]),
    ),
  );
}

/** One record for all outlets: it is frozen. */
function sendRecord(
  outlets: readonly Outlet[],
  ended: EndedCall,
  settings: RecordSettings,
  clock: Clock,
): void {
  let record: ReturnType<typeof spanRecordOf>;
  try {
    record = spanRecordOf(ended, settings);
  } catch (thrown) {
    for (const outlet of outlets) lose(outlet, thrown);
    return;
  }
  for (const outlet of outlets) accept(outlet, record, clock);
}
