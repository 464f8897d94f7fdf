/** A real SDK that keeps what it gets, and takes itself out of the process again. */

import { context, metrics, propagation, trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';

export interface TestSdk {
  /** Ended spans, in the order in which they ended. */
  readonly spans: readonly ReadableSpan[];
}

/** Registers a tracer provider for the whole process. */
export function startTracing(sampler?: Sampler): TestSdk {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  new NodeTracerProvider(
    sampler === undefined ? { spanProcessors } : { spanProcessors, sampler },
  ).register();
  return {
    get spans() {
      return exporter.getFinishedSpans();
    },
  };
}

export interface Point {
  readonly metric: string;
  readonly unit: string;
  readonly value: unknown;
  readonly attributes: object;
}

/** Registers a meter provider for the whole process; the answer reads every point. */
export function startMetering(): () => Promise<readonly Point[]> {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  return async () => {
    const { resourceMetrics } = await reader.collect();
    return resourceMetrics.scopeMetrics.flatMap((scope) =>
      scope.metrics.flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ value, attributes }) => ({
          metric: descriptor.name,
          unit: descriptor.unit,
          value,
          attributes,
        })),
      ),
    );
  };
}

/** Makes the process what it was. */
export function stopSdk(): void {
  for (const api of [trace, metrics, context, propagation]) api.disable();
}
