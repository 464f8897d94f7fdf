/** Starts the OpenTelemetry SDK: spans in batches, and metrics, over OTLP/HTTP. */

import { context, metrics, propagation, trace, type TracerProvider } from '@opentelemetry/api';
import type { NodeTracerProvider, Sampler } from '@opentelemetry/sdk-trace-node';
import { AlliumError } from '../../core/contract/errors.ts';
import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';
import {
  createMeterProvider,
  createTracerProvider,
  type EndingMeterProvider,
  type TelemetrySettings,
} from './providers.ts';

/** A running SDK. */
export interface Telemetry {
  /**
   * Sends what is waiting. Never rejects: a collector that cannot be reached is not worth a
   * program.
   */
  readonly forceFlush: () => Promise<void>;
  /** Sends what is waiting, stops, and makes room for another start. Never rejects. */
  readonly shutdown: () => Promise<void>;
}

const url: Expectation = { text: 'an http or https address', test: isHttpUrl };
const sampler: Expectation = {
  text: 'a number from 0 to 1 or a sampler of the SDK',
  test: isSampler,
};

/**
 * Registers the SDK for the whole process; the packages it needs are optional and loaded here.
 * Everything not given comes from the `OTEL_…` variables, and with `OTEL_SDK_DISABLED=true` nothing
 * is started. Does not instrument anything.
 */
export async function startTelemetry(settings: TelemetrySettings): Promise<Telemetry> {
  checkOptions('startTelemetry', settings, {
    serviceName: expected.required(expected.string),
    url,
    headers: expected.mapOf(expected.string),
    metrics: expected.boolean,
    sampler,
    resourceAttributes: expected.mapOf(expected.string),
  });
  if (process.env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return running([]);
  // The API would only log that it was ignored, to a log that is off by default, and every span
  // would go elsewhere.
  if (isRegistered(trace.getTracerProvider())) throw alreadyRunning();
  const tracing = await createTracerProvider(settings);
  const metering = settings.metrics === false ? null : await createMeterProvider(settings);
  const parts = metering === null ? [tracing] : [tracing, metering];
  // Another start may have come first while the packages were loaded.
  if (isRegistered(trace.getTracerProvider())) {
    await stopAll(parts);
    throw alreadyRunning();
  }
  register(tracing, metering);
  return running(parts);
}

function register(tracing: NodeTracerProvider, metering: EndingMeterProvider | null): void {
  tracing.register();
  if (metering !== null) metrics.setGlobalMeterProvider(metering);
}

type Part = Pick<EndingMeterProvider, 'forceFlush' | 'shutdown'>;

function running(parts: readonly Part[]): Telemetry {
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await stopAll(parts);
    if (parts.length === 0) return;
    for (const api of [trace, metrics, context, propagation]) api.disable();
  };
  return Object.freeze({
    async forceFlush() {
      await Promise.allSettled(parts.map((part) => part.forceFlush()));
    },
    shutdown: () => (stopping ??= stop()),
  });
}

const stopAll = (parts: readonly Part[]): Promise<unknown> =>
  Promise.allSettled(parts.map((part) => part.shutdown()));

const alreadyRunning = (): AlliumError =>
  new AlliumError(
    'ERR_ALREADY_RUNNING',
    'startTelemetry: OpenTelemetry is running in this process already; telemetry() will use it',
  );

/** Before a provider is registered, the API gives a stand-in that has nothing to delegate to. */
const isRegistered = (
  provider: TracerProvider & { getDelegateTracer?(name: string): unknown },
): boolean =>
  provider.getDelegateTracer === undefined || provider.getDelegateTracer('allium') !== undefined;

function isHttpUrl(value: unknown): boolean {
  return (
    typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
  );
}

function isSampler(value: unknown): boolean {
  if (typeof value === 'number') return value >= 0 && value <= 1;
  return (
    expected.object.test(value) && typeof (value as Partial<Sampler>).shouldSample === 'function'
  );
}
