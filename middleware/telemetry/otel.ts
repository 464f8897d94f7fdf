/** OpenTelemetry as one of the sinks. Whatever a provider does, it throws nothing into a call. */

import { context, type Tracer } from '@opentelemetry/api';
import type { Next, ToolCall, ToolResult } from '../../src/index.ts';
import type { EndedCall } from './ended-call.ts';
import { countCall, type Instruments, instrumentsFinder } from './otel-metrics.ts';
import { endSpan, type OpenSpan, openSpan, type SpanSettings, tracerFinder } from './otel-span.ts';
import { problemOf, type TellProblem } from './problem.ts';

/** Who listens at the moment. */
export interface OtelListeners {
  readonly tracer: Tracer | null;
  readonly instruments: Instruments | null;
}

export interface Otel {
  /** `null` where neither a tracer nor a meter is registered. */
  listeners(): OtelListeners | null;
  open(listeners: OtelListeners, call: ToolCall, startMs: number): OpenSpan | null;
  /** Goes on within the span, so that what the tool does itself becomes part of it. */
  run(open: OpenSpan, call: ToolCall, next: Next): Promise<ToolResult>;
  end(listeners: OtelListeners, open: OpenSpan | null, ended: EndedCall): void;
  readonly countDropped: (sink: string, count: number) => void;
}

/** Connects to whatever is registered; `settings` are the same for every span. */
export function createOtel(settings: SpanSettings, tell: TellProblem): Otel {
  const findTracer = tracerFinder();
  const findInstruments = instrumentsFinder();
  const counts = { generated: 0, delivered: 0, dropped: 0, pending: 0 };
  const attempt = attempts((thrown) => {
    tell(
      problemOf(
        {
          sink: 'otel',
          kind: 'failed',
          message: 'a provider failed',
          counts: Object.freeze({ ...counts }),
        },
        thrown,
      ),
    );
  });
  return {
    listeners: () => listenersOf(attempt(findTracer), attempt(findInstruments)),
    open({ tracer }, call, startMs) {
      if (tracer === null) return null;
      counts.generated += 1;
      const open = attempt(() => openSpan(tracer, call, startMs, settings));
      counts[open === null ? 'dropped' : 'pending'] += 1;
      return open;
    },
    run({ context: own }, call, next) {
      const entered: { running?: Promise<ToolResult> } = {};
      attempt(() => context.with(own, () => void (entered.running = next(call))));
      // A context manager that fails may have gone on or not; the tool must not run twice.
      return entered.running ?? next(call);
    },
    end({ instruments }, open, ended) {
      if (open !== null) {
        counts.pending -= 1;
        const isDone = attempt(() => endSpan(open, ended, settings.captureContent) ?? true);
        counts[isDone === null ? 'dropped' : 'delivered'] += 1;
      }
      if (instruments !== null) attempt(() => countCall(instruments, ended));
    },
    countDropped: (sink, count) =>
      void attempt(() => findInstruments()?.dropped.add(count, { 'allium.sink': sink })),
  };
}

const listenersOf = (
  tracer: Tracer | null,
  instruments: Instruments | null,
): OtelListeners | null =>
  tracer === null && instruments === null ? null : { tracer, instruments };

/** Does something, or tells why not and answers `null`. */
const attempts =
  (failed: (thrown: unknown) => void) =>
  <T>(work: () => T): T | null => {
    try {
      return work();
    } catch (thrown) {
      failed(thrown);
      return null;
    }
  };
