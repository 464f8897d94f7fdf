/** Metrics, sent from time to time. */

import type { MeterProvider } from '@opentelemetry/sdk-metrics';
import { exporterConfig } from './exporter-config.ts';
import { loadPackage } from './load-package.ts';
import { resourceFrom } from './resource.ts';
import type { TelemetrySettings } from './start-telemetry.ts';

/** Builds the provider; registering it is left to the caller. */
export async function createMeterProvider(settings: TelemetrySettings): Promise<MeterProvider> {
  const sdk = await loadPackage(
    '@opentelemetry/sdk-metrics',
    () => import('@opentelemetry/sdk-metrics'),
  );
  const { OTLPMetricExporter } = await loadPackage(
    '@opentelemetry/exporter-metrics-otlp-http',
    () => import('@opentelemetry/exporter-metrics-otlp-http'),
  );
  const exporter = new OTLPMetricExporter(exporterConfig(settings, 'v1/metrics'));
  const readers = [new sdk.PeriodicExportingMetricReader({ exporter })];
  return new sdk.MeterProvider({ resource: await resourceFrom(settings), readers });
}
