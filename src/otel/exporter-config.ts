/** Where an exporter sends to. */

import type { TelemetrySettings } from './start-telemetry.ts';

/** Only what was given: what is absent, the exporter takes from the environment. */
export function exporterConfig(
  { url, headers }: TelemetrySettings,
  path: string,
): { url?: string; headers?: Record<string, string> } {
  return {
    ...(url === undefined ? {} : { url: new URL(path, url.endsWith('/') ? url : `${url}/`).href }),
    ...(headers === undefined ? {} : { headers: { ...headers } }),
  };
}
