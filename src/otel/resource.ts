/** Who sends. */

import type { Resource } from '@opentelemetry/resources';
import { loadPackage } from './load-package.ts';
import type { TelemetrySettings } from './start-telemetry.ts';

/** What the environment says about the program, and on top of it what the host says. */
export async function resourceFrom({ serviceName, resourceAttributes }: TelemetrySettings): Promise<Resource> {
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = await loadPackage(
    '@opentelemetry/resources',
    () => import('@opentelemetry/resources'),
  );
  const given = resourceFromAttributes({ ...resourceAttributes, 'service.name': serviceName });
  return defaultResource()
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(given);
}
