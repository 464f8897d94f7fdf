/** Watches calls, and hands what it saw to OpenTelemetry and to the other sinks. Nothing that fails here reaches a call. */

import {
  type Clock,
  clockOf,
  type Next,
  type ToolCall,
  type ToolResult,
  whenEnded,
} from '../../src/index.ts';
import { type EndedCall, endCall } from './ended-call.ts';
import { humanWaitOf } from './human-wait.ts';
import { createOtel, type OtelListeners } from './otel.ts';
import { accept, closeOutlet, createOutlet, lose, type Outlet } from './outlet.ts';
import { fixedParent } from './parent-context.ts';
import { problemTeller } from './problem.ts';
import { attachedAttributes, sendersOf, sinksOf } from './senders.ts';
import { type RecordSettings, spanRecordOf } from './span-record.ts';
import type { TelemetryOptions } from './telemetry.ts';

export interface Reporter {
  /** Hands the call on, under watch if anybody would hear of it. */
  readonly watch: (call: ToolCall, next: Next) => Promise<ToolResult>;
  readonly close: () => Promise<void>;
}

/** Options must have been checked. */
export function createReporter(options: TelemetryOptions): Reporter {
  const {
    traceId,
    parentSpanId,
    captureContent = false,
    timeoutMs = 5000,
    maxPending = 1024,
  } = options;
  const attached = attachedAttributes(options);
  const tell = problemTeller(options.onError);
  const otel = createOtel(
    { parent: fixedParent(traceId, parentSpanId), attached, captureContent },
    tell,
  );
  const settings: RecordSettings = { traceId, parentSpanId, attached, captureContent };
  const outletSettings = { maxPending, timeoutMs, tell, onDropped: otel.countDropped };
  const outlets = sendersOf(options).map((sender) => createOutlet(sender, outletSettings));
  const usesOtel = sinksOf(options).includes('otel');

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
        const told = answer === result ? ended : { ...ended, answer };
        if (listeners !== null) otel.end(listeners, open, told);
        if (outlets.length > 0) sendRecord(outlets, told, settings, clock);
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

/** One record for all of them: it is frozen. */
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
