/**
 * The providers of `startTelemetry`: spans in batches, metrics from time to time. The packages are
 * optional, and loaded when they are needed.
 */

import type { MeterProvider } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type {
  NodeTracerProvider,
  ParentBasedSampler,
  Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import { AlliumError } from '../../core/contract/errors.ts';

/** What `startTelemetry` is told. */
export interface TelemetrySettings {
  /** How this program is called in traces. Wins over `OTEL_SERVICE_NAME`. */
  readonly serviceName: string;
  /**
   * The collector, without the path: `/v1/traces` and `/v1/metrics` are added. @default
   * `OTEL_EXPORTER_OTLP_ENDPOINT` or http://localhost:4318
   */
  readonly url?: string;
  /**
   * Sent with every export, for collectors that want to know who it is. @default
   * `OTEL_EXPORTER_OTLP_HEADERS`
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether metrics are exported too. @default true */
  readonly metrics?: boolean;
  /**
   * The share of traces to keep, from 0 to 1, or a sampler of the SDK. @default
   * `OTEL_TRACES_SAMPLER`, or all
   */
  readonly sampler?: number | Sampler;
  /** More about this program, added to `OTEL_RESOURCE_ATTRIBUTES`. */
  readonly resourceAttributes?: Readonly<Record<string, string>>;
}

/** Builds the provider of spans; registering it is left to the caller. */
export async function createTracerProvider(
  settings: TelemetrySettings,
): Promise<NodeTracerProvider> {
  const sdk = await loadPackage(
    '@opentelemetry/sdk-trace-node@2',
    () => import('@opentelemetry/sdk-trace-node'),
  );
  const { OTLPTraceExporter } = await loadPackage(
    '@opentelemetry/exporter-trace-otlp-http@0.223',
    () => import('@opentelemetry/exporter-trace-otlp-http'),
  );
  const resource = await resourceFrom(settings);
  const sampler = samplerFrom(sdk, settings.sampler);
  const provider = new sdk.NodeTracerProvider({
    resource,
    spanProcessors: [
      new sdk.BatchSpanProcessor(new OTLPTraceExporter(exporterConfig(settings, 'v1/traces'))),
    ],
    ...(sampler === undefined ? {} : { sampler }),
  });
  // Private from version 2 on.
  const { activeSpanProcessor } = provider as { activeSpanProcessor?: unknown };
  if (activeSpanProcessor instanceof sdk.NoopSpanProcessor) throw tooOld();
  return provider;
}

/**
 * Versions before 1.30 pass over `spanProcessors`, and every span would go nowhere without a word.
 */
const tooOld = (): AlliumError =>
  new AlliumError(
    'ERR_MISSING_PACKAGE',
    'startTelemetry: needs @opentelemetry/sdk-trace-node 1.30 or later, with exporters of 0.57 or later',
  );

interface Samplers {
  readonly ParentBasedSampler: typeof ParentBasedSampler;
  readonly TraceIdRatioBasedSampler: typeof TraceIdRatioBasedSampler;
}

/** A share applies to whole traces: a call inside a trace that is kept is kept. */
function samplerFrom(sdk: Samplers, sampler: number | Sampler | undefined): Sampler | undefined {
  return typeof sampler === 'number'
    ? new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(sampler) })
    : sampler;
}

/** In types of the API, which is installed: declarations lead here. */
export interface EndingMeterProvider extends MeterProvider {
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** Builds the provider of metrics; registering it is left to the caller. */
export async function createMeterProvider(
  settings: TelemetrySettings,
): Promise<EndingMeterProvider> {
  const sdk = await loadPackage(
    '@opentelemetry/sdk-metrics@2',
    () => import('@opentelemetry/sdk-metrics'),
  );
  const { OTLPMetricExporter } = await loadPackage(
    '@opentelemetry/exporter-metrics-otlp-http@0.223',
    () => import('@opentelemetry/exporter-metrics-otlp-http'),
  );
  const exporter = new OTLPMetricExporter(exporterConfig(settings, 'v1/metrics'));
  const readers = [new sdk.PeriodicExportingMetricReader({ exporter })];
  return new sdk.MeterProvider({ resource: await resourceFrom(settings), readers });
}

/** How version 1 of the package makes resources; version 2 has functions for it, and no class. */
interface Version1 {
  readonly Resource?: {
    new (attributes: Readonly<Record<string, string>>): Resource;
    default(): Resource;
  };
}

/** Who sends: what the environment says about the program, and on top of it what the host says. */
async function resourceFrom({
  serviceName,
  resourceAttributes,
}: TelemetrySettings): Promise<Resource> {
  const sdk = await loadPackage(
    '@opentelemetry/resources@2',
    () => import('@opentelemetry/resources'),
  );
  const { Resource: Old } = sdk as unknown as Version1; // The types are those of version 2.
  const attributes = { ...resourceAttributes, 'service.name': serviceName };
  const given = Old === undefined ? sdk.resourceFromAttributes(attributes) : new Old(attributes);
  // A promise in version 1.
  const detected = await Promise.resolve(sdk.detectResources({ detectors: [sdk.envDetector] }));
  return (Old === undefined ? sdk.defaultResource() : Old.default()).merge(detected).merge(given);
}

/**
 * Where an exporter sends to. Only what was given: what is absent, the exporter takes from the
 * environment.
 */
function exporterConfig(
  { url, headers }: TelemetrySettings,
  path: string,
): { url?: string; headers?: Record<string, string> } {
  return {
    ...(url === undefined ? {} : { url: new URL(path, url.endsWith('/') ? url : `${url}/`).href }),
    ...(headers === undefined ? {} : { headers: { ...headers } }),
  };
}

/** Awaits an import, and says what to install where the package is not there. */
export async function loadPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (thrown) {
    const message = `startTelemetry needs the package ${name}, which could not be loaded; install it with "npm install ${name}"`;
    throw new AlliumError('ERR_MISSING_PACKAGE', message, {}, { cause: thrown });
  }
}
