/** OpenTelemetry as one of the sinks. Whatever a provider does, it throws nothing into a call. */

import {
  context,
  type Counter,
  createNoopMeter,
  type Histogram,
  type MeterProvider,
  metrics,
  type Tracer,
} from '@opentelemetry/api';
import type { ToolCall } from '../../core/contract/call.ts';
import type { Next } from '../../core/contract/layer.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import { ERROR_TYPE, EXECUTE_TOOL, OPERATION, STATUS, TOOL_NAME } from '../attributes.ts';
import { clip, MAX_NAME, type EndedCall, errorTypeOf } from '../ended-call.ts';
import { problemOf, type TellProblem } from '../problem.ts';
import { endSpan, type OpenSpan, openSpan, type SpanSettings, tracerFinder } from './otel-span.ts';

/** The tracer and the instruments that are registered at the moment. */
export interface OtelListeners {
  readonly tracer: Tracer | null;
  readonly instruments: Instruments | null;
}

/** Spans and metrics for the registered providers. */
export interface Otel {
  /** `null` where neither a tracer nor a meter is registered. */
  listeners(): OtelListeners | null;
  open(listeners: OtelListeners, call: ToolCall, startMs: number): OpenSpan | null;
  /** Goes on within the span, so that what the tool does itself becomes part of it. */
  run(open: OpenSpan, call: ToolCall, next: Next): Promise<ToolResult>;
  end(listeners: OtelListeners, open: OpenSpan | null, ended: EndedCall): void;
  readonly countDropped: (sink: string, count: number) => void;
}

/** Asks the API for its providers at every call; `settings` are the same for every span. */
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

/** What calls are counted with. */
interface Instruments {
  readonly duration: Histogram;
  readonly calls: Counter;
  readonly dropped: Counter;
}

/** Seconds, as the GenAI conventions advise for this histogram. */
const BUCKETS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

/**
 * Gives the instruments of the registered provider, or `null` where there is none. Asked for every
 * call: an instrument made before a provider is registered does nothing for ever, because the API
 * has no stand-in for meters.
 */
function instrumentsFinder(): () => Instruments | null {
  let known: MeterProvider | null = null;
  let instruments: Instruments | null = null;
  return () => {
    const provider = metrics.getMeterProvider();
    if (provider === known) return instruments;
    instruments = instrumentsFrom(provider);
    known = provider;
    return instruments;
  };
}

function instrumentsFrom(provider: MeterProvider): Instruments | null {
  const meter = provider.getMeter('allium');
  if (meter === createNoopMeter()) return null;
  return {
    duration: meter.createHistogram('gen_ai.client.operation.duration', {
      unit: 's',
      description: 'How long a tool call took.',
      advice: { explicitBucketBoundaries: BUCKETS },
    }),
    calls: meter.createCounter('allium.tool.calls', {
      unit: '{call}',
      description: 'Tool calls by tool and status.',
    }),
    dropped: meter.createCounter('allium.telemetry.dropped', {
      unit: '{record}',
      description: 'Span records that no sink got.',
    }),
  };
}

/**
 * Counts a call. A tool that was not found has a name that a model made up, and there are endlessly
 * many of those.
 */
function countCall(
  { duration, calls }: Instruments,
  { call, result, durationMs }: EndedCall,
): void {
  const tool = result.status === 'tool_not_found' ? '_OTHER' : clip(call.toolName, MAX_NAME);
  const errorType = errorTypeOf(result);
  const error = errorType === null ? {} : { [ERROR_TYPE]: errorType };
  duration.record(durationMs / 1000, { [OPERATION]: EXECUTE_TOOL, [TOOL_NAME]: tool, ...error });
  calls.add(1, { [TOOL_NAME]: tool, [STATUS]: clip(result.status, MAX_NAME) });
}
