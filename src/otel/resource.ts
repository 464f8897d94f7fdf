/** Who sends. */

import type { Resource } from '@opentelemetry/resources';
import { loadPackage } from './load-package.ts';
import type { TelemetrySettings } from './start-telemetry.ts';

/** How version 1 of the package makes resources; version 2 has functions for it, and no class. */
interface Version1 {
  readonly Resource?: {
    new (attributes: Readonly<Record<string, string>>): Resource;
    default(): Resource;
  };
}

/** What the environment says about the program, and on top of it what the host says. */
export async function resourceFrom({
  serviceName,
  resourceAttributes,
}: TelemetrySettings): Promise<Resource> {
  const sdk = await loadPackage(
    '@opentelemetry/resources',
    () => import('@opentelemetry/resources'),
  );
  const { Resource: Old } = sdk as unknown as Version1; // The types are those of version 2.
  const attributes = { ...resourceAttributes, 'service.name': serviceName };
  const given = Old === undefined ? sdk.resourceFromAttributes(attributes) : new Old(attributes);
  // A promise in version 1.
  const detected = await Promise.resolve(sdk.detectResources({ detectors: [sdk.envDetector] }));
  return (Old === undefined ? sdk.defaultResource() : Old.default()).merge(detected).merge(given);
}
