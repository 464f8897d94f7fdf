/** OpenTelemetry as one of the sinks. Whatever a provider does, it throws nothing into a call. */

import {
  type Context,
  context,
  type Counter,
  createNoopMeter,
  type Histogram,
  type MeterProvider,
  metrics,
  type SpanContext,
  trace,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import type { ToolCall } from '../../core/contract/call.ts';
import type { Next } from '../../core/contract/layer.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import {
  clip,
  type EndedCall,
  ERROR_TYPE,
  EXECUTE_TOOL,
  MAX_NAME,
  OPERATION,
  type SpanAttributes,
  STATUS,
  TOOL_NAME,
} from '../ended-call.ts';
import { problemOf, type SinkCounts, type TellProblem } from '../problem.ts';

/** The same for every span. */
export interface SpanSettings {
  readonly parent: SpanContext | null;
  readonly attached: Readonly<SpanAttributes> | null;
  readonly captureContent: boolean;
}

/** What a layer knows about the registered providers and about its spans. */
export interface Otel {
  readonly settings: SpanSettings;
  readonly tell: TellProblem;
  readonly counts: { -readonly [K in keyof SinkCounts]: SinkCounts[K] };
  /** The providers that `tracer` and `instruments` are from; `null` where none is registered. */
  tracers: TracerProvider | null;
  meters: MeterProvider | null;
  tracer: Tracer | null;
  instruments: Instruments | null;
}

export const createOtel = (settings: SpanSettings, tell: TellProblem): Otel => ({
  settings,
  tell,
  counts: { generated: 0, delivered: 0, dropped: 0, pending: 0 },
  tracers: null,
  meters: null,
  tracer: null,
  instruments: null,
});

/**
 * Whether a tracer or a meter is registered: then `otel` has them. Asked for every call, because a
 * provider may come late, or be replaced.
 */
export function isHeard(otel: Otel): boolean {
  try {
    if (trace.getTracerProvider() !== otel.tracers) findTracer(otel);
    if (metrics.getMeterProvider() !== otel.meters) findInstruments(otel);
  } catch (thrown) {
    failed(otel, thrown);
  }
  return otel.tracer !== null || otel.instruments !== null;
}

function findTracer(otel: Otel): void {
  otel.tracer = null;
  otel.tracers = null;
  try {
    const provider = trace.getTracerProvider();
    if (!isRegistered(provider)) return;
    otel.tracer = provider.getTracer('allium');
    otel.tracers = provider;
  } catch (thrown) {
    failed(otel, thrown);
  }
}

/** Before a provider is registered, the API gives a stand-in that has nothing to delegate to. */
const isRegistered = (
  provider: TracerProvider & { getDelegateTracer?(name: string): unknown },
): boolean =>
  provider.getDelegateTracer === undefined || provider.getDelegateTracer('allium') !== undefined;

/** Says that a provider failed. */
export function failed({ tell, counts }: Otel, thrown: unknown): void {
  const problem = { sink: 'otel', kind: 'failed', message: 'a provider failed' } as const;
  tell(problemOf({ ...problem, counts: Object.freeze({ ...counts }) }, thrown));
}

/** Goes on within a span, so that what the tool does itself becomes part of it. */
export function runWithin(
  otel: Otel,
  own: Context,
  call: ToolCall,
  next: Next,
): Promise<ToolResult> {
  const entered: { running?: Promise<ToolResult> } = {};
  try {
    context.with(own, () => void (entered.running = next(call)));
  } catch (thrown) {
    failed(otel, thrown);
  }
  // A context manager that fails may have gone on or not; the tool must not run twice.
  return entered.running ?? next(call);
}

/** What calls are counted with. */
export interface Instruments {
  readonly duration: Histogram;
  readonly calls: Counter;
  readonly dropped: Counter;
}

/** Seconds, as the GenAI conventions advise for this histogram. */
const BUCKETS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

/**
 * An instrument made before a provider is registered does nothing for ever, because the API has no
 * stand-in for meters.
 */
function findInstruments(otel: Otel): void {
  try {
    const provider = metrics.getMeterProvider();
    if (provider === otel.meters) return;
    otel.instruments = null;
    otel.instruments = instrumentsFrom(provider);
    otel.meters = provider;
  } catch (thrown) {
    failed(otel, thrown);
  }
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
export function countCall(otel: Otel, { duration, calls }: Instruments, ended: EndedCall): void {
  const { call, result, durationMs, errorType } = ended;
  try {
    const tool = result.status === 'tool_not_found' ? '_OTHER' : clip(call.toolName, MAX_NAME);
    const error = errorType === null ? {} : { [ERROR_TYPE]: errorType };
    duration.record(durationMs / 1000, { [OPERATION]: EXECUTE_TOOL, [TOOL_NAME]: tool, ...error });
    calls.add(1, { [TOOL_NAME]: tool, [STATUS]: clip(result.status, MAX_NAME) });
  } catch (thrown) {
    failed(otel, thrown);
  }
}

/** Counts records that another sink did not get. */
export function countDropped(otel: Otel, sink: string, count: number): void {
  try {
    findInstruments(otel);
    otel.instruments?.dropped.add(count, { 'allium.sink': sink });
  } catch (thrown) {
    failed(otel, thrown);
  }
}
