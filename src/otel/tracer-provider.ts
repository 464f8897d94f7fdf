/** Spans, sent in batches. */

import type {
  NodeTracerProvider,
  ParentBasedSampler,
  Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import { AlliumError } from '../core/errors.ts';
import { exporterConfig } from './exporter-config.ts';
import { loadPackage } from './load-package.ts';
import { resourceFrom } from './resource.ts';
import type { TelemetrySettings } from './start-telemetry.ts';

/** Builds the provider; registering it is left to the caller. */
export async function createTracerProvider(
  settings: TelemetrySettings,
): Promise<NodeTracerProvider> {
  const sdk = await loadPackage(
    '@opentelemetry/sdk-trace-node',
    () => import('@opentelemetry/sdk-trace-node'),
  );
  const { OTLPTraceExporter } = await loadPackage(
    '@opentelemetry/exporter-trace-otlp-http',
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
  const { activeSpanProcessor } = provider as { activeSpanProcessor?: unknown }; // Private from version 2 on.
  if (activeSpanProcessor instanceof sdk.NoopSpanProcessor) throw tooOld();
  return provider;
}

/** Versions before 1.30 pass over `spanProcessors`, and every span would go nowhere without a word. */
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
