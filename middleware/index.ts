/** The bundled layers. Each is also at `allium/middleware/<kebab-name>`. */

export type { AuditLogOptions, AuditLogSink } from './audit-log/audit-log.ts';
export { auditLog } from './audit-log/audit-log.ts';
export type { CallLimitOptions } from './call-limit/call-limit.ts';
export { callLimit } from './call-limit/call-limit.ts';
export type { ConsentOptions } from './consent/consent.ts';
export { consent } from './consent/consent.ts';
export type {
  AutoApproveOptions,
  ConsentAnswer,
  ConsentDecide,
  ConsentDecision,
  ConsentRule,
  RuleDecision,
  TerminalPromptOptions,
} from '../src/consent/index.ts';
export { autoApprove, ruleList, terminalPrompt } from '../src/consent/index.ts';
export type { DefinitionPinOptions } from './definition-pin/definition-pin.ts';
export { definitionPin } from './definition-pin/definition-pin.ts';
export type { QuarantineReport } from '../src/pins/index.ts';
export type { DryRunOptions } from './dry-run/dry-run.ts';
export { dryRun } from './dry-run/dry-run.ts';
export type { EvidenceRef, HandoffRecord, ReceiptLink } from '../src/handoff/index.ts';
export { HANDOFF_SCHEMA } from '../src/handoff/index.ts';
export type { HandoffArtifactOptions } from './handoff-artifact/handoff-artifact.ts';
export { handoffArtifact } from './handoff-artifact/handoff-artifact.ts';
export type {
  FireOptions,
  HookDefinition,
  HookOutcome,
  HookRun,
  HooksOptions,
} from './hooks/hooks.ts';
export { fireHooks, hooks } from './hooks/hooks.ts';
export type { IdempotencyOptions } from './idempotency/idempotency.ts';
export { idempotency } from './idempotency/idempotency.ts';
export type { OutputLimitOptions, ReadOutputToolOptions } from './output-limit/output-limit.ts';
export { outputLimit, readOutputTool } from './output-limit/output-limit.ts';
export type { RateLimitOptions } from './rate-limit/rate-limit.ts';
export { rateLimit } from './rate-limit/rate-limit.ts';
export type { PermissionsOptions } from './permissions/permissions.ts';
export { permissions } from './permissions/permissions.ts';
export type {
  RedactionAnswer,
  RedactionDetector,
  RedactionInput,
  RedactionOptions,
  RedactionPattern,
  RedactionStrategy,
  Redactor,
} from './redaction/redaction.ts';
export { redaction } from './redaction/redaction.ts';
export type { RecordOptions } from './record/record.ts';
export { record } from './record/record.ts';
export type { RecordedAnswer, RecordedCall, Recording, ReplayOptions } from './replay/replay.ts';
export { readRecording, replay } from './replay/replay.ts';
export type { RepeatGuardOptions } from './repeat-guard/repeat-guard.ts';
export { repeatGuard } from './repeat-guard/repeat-guard.ts';
export type { RequiredReasonOptions } from './required-reason/required-reason.ts';
export { requiredReason } from './required-reason/required-reason.ts';
export type { RetryOptions } from './retry/retry.ts';
export { retry } from './retry/retry.ts';
export type { ScopedExecutorOptions } from './scoped-executor/scoped-executor.ts';
export { scopedExecutor } from './scoped-executor/scoped-executor.ts';
export type { SummaryFormat } from './summary/summary.ts';
export { summary } from './summary/summary.ts';
export type {
  ChildSpanRecord,
  SinkCounts,
  SpanRecord,
  SpanRecordEvent,
  TelemetryProblem,
  TelemetrySink,
  TelemetrySinkName,
} from '../src/telemetry/index.ts';
export { SPAN_SCHEMA } from '../src/telemetry/index.ts';
export type { TelemetryOptions } from './telemetry/telemetry.ts';
export { telemetry } from './telemetry/telemetry.ts';
export type { TimeoutOptions } from './timeout/timeout.ts';
export { timeout } from './timeout/timeout.ts';
