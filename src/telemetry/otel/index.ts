/** `allium/otel`: OpenTelemetry in one line, for programs that have not set it up themselves. */

export type { TelemetrySettings } from './providers.ts';
export type { Telemetry } from './start-telemetry.ts';
export { startTelemetry } from './start-telemetry.ts';
