/**
 * `allium/telemetry`: what is told about calls. The span record and its schema, and the reporter
 * that makes spans, metrics and records of calls and sends them to sinks.
 */

export type { SpanAttributes } from './ended-call.ts';
export type { SinkCounts, TelemetryProblem } from './problem.ts';
export type { Reporter, ReporterSettings } from './reporter.ts';
export { createReporter } from './reporter.ts';
export type { TelemetrySink, TelemetrySinkName } from './reporter.ts';
export type {
  ApprovalWaitRecord,
  ChildSpanRecord,
  SpanRecord,
  SpanRecordEvent,
} from './span-record.ts';
export { SPAN_SCHEMA } from './span-schema.ts';
