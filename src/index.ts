/** The public list. Every name is written out: what is not here is not promised. */

// The contract
export type {
  SideEffectLevel,
  ToolAnnotations,
  ToolHints,
  ToolKind,
  ToolSafety,
} from './core/annotations.ts';
export { SIDE_EFFECT_LEVELS } from './core/annotations.ts';
export type {
  AuditPatch,
  AuditRecord,
  ConsentRecord,
  EntryPatch,
  LayerEntry,
} from './core/audit.ts';
export type {
  CallChanges,
  ExecutorKind,
  JsonSchema,
  ToolCall,
  ToolProgress,
  Turn,
} from './core/call.ts';
export { clockOf, createIdOf, isSignalAborted as isAborted, withCall } from './core/call.ts';
export { isObserved } from './core/observed.ts';
export { definitionOf } from './core/definition-of.ts';
export type { Clock } from './core/clock.ts';
export { isoTime, systemClock } from './core/clock.ts';
export type { ContentBlock } from './core/content.ts';
export type { ErrorCode, ErrorDetails } from './core/errors.ts';
export { AlliumError, ERROR_CODES, isAlliumError } from './core/errors.ts';
export type { CreateId } from './core/ids.ts';
export type { JsonObject, JsonValue } from './core/json.ts';
export type {
  ApprovalRecord,
  FailOptions,
  Interruption,
  OutputFileRef,
  ResultChanges,
  ToolResult,
} from './core/result.ts';
export {
  annotate,
  causeOf,
  fail,
  isRendered,
  ok,
  raise,
  refuse,
  withResult,
} from './core/result.ts';
export type {
  ErrorClass,
  Executed,
  KnownStatus,
  Outcome,
  StatusRow,
  ToolStatus,
} from './core/status.ts';
export { outcomeOf, STATUSES } from './core/status.ts';

// For layers that decide and layers that record
export type { CallAccount } from './core/account.ts';
export { accountOf, attachReceipt } from './core/account.ts';
export type {
  ApprovalAnswer,
  ApprovalDecision,
  ApprovalPrompt,
  ApprovalQuestion,
  EarlierDecision,
} from './core/approval.ts';
export { answerLabel, APPROVAL_ANSWERS, promptsOf } from './core/approval.ts';
export type { Gate, Guard, HashValue, Refusal } from './core/terms.ts';
export { changedPaths } from './core/changed-paths.ts';
export {
  approveCall,
  gateCall,
  guardCall,
  hashOf,
  hashWith,
  limitAsking,
  objectionToAsking,
  supplyResult,
} from './core/terms.ts';
export type { ApprovalWait } from './core/trace.ts';
export { approvalWaitOf, traceWith } from './core/trace.ts';
export { whenEnded } from './core/when-ended.ts';
export type {
  ApprovalAsk,
  ApprovalOutcome,
  ApprovalSaid,
} from './policy/approvals/ask-approval.ts';
export { askApproval } from './policy/approvals/ask-approval.ts';
export type { Decided } from './policy/approvals/decision-window.ts';
export { decideWithin } from './policy/approvals/decision-window.ts';
export { editCall } from './policy/approvals/edit-call.ts';
export { interrupt } from './policy/approvals/interrupt.ts';
export {
  definitionHashOf,
  fingerprintOf,
  standingKeyOf,
  standingToolKeyOf,
} from './policy/approvals/fingerprint.ts';

// Capability policy
export { narrowPolicy, policyOf } from './policy/ambient-policy.ts';
export type { ArgConstraint } from './policy/arg-constraint.ts';
export type { ArgConstraints } from './policy/arg-constraints.ts';
export type { CapabilityPolicy, PolicyQuestion } from './policy/capability-policy.ts';
export { allows, checkPolicy, intersectPolicies } from './policy/capability-policy.ts';
export { advertisable } from './policy/tool-reach.ts';
export { denyAlways } from './policy/permissions/compose-policies.ts';
export { expectedChecker } from './policy/permissions/evaluate.ts';
export type { PermissionChecker, PermissionDecision } from './policy/permissions/permission.ts';
export type { PermissionReport, PermissionSet } from './policy/permissions/preflight.ts';
export { permissionGate, permissionReportOf } from './policy/permissions/preflight.ts';

// Pinned definitions
export { definitionChanges } from './policy/pins/definition-changes.ts';
export { hashDefinition } from './policy/pins/definition-hash.ts';
export type { FilePins, FilePinsOptions, PinProblem } from './policy/pins/file-pins.ts';
export { filePins } from './policy/pins/file-pins.ts';
export type { PinJudgement, PinVerdict } from './policy/pins/judge-definition.ts';
export { changesFromPin, judgeDefinition } from './policy/pins/judge-definition.ts';
export { memoryPins } from './policy/pins/memory-pins.ts';
export type { HeldDefinition, Pin, PinBook } from './policy/pins/pin-book.ts';
export { acceptPin, forgetPin } from './policy/pins/pin-book.ts';
export type { ChangePins, PinStore } from './policy/pins/pin-store.ts';
export type { SeenTools } from './policy/pins/reconcile-pins.ts';
export { reconcilePins } from './policy/pins/reconcile-pins.ts';

// Stores
export type {
  Awaitable,
  Claimed,
  ClaimEnding,
  ClaimRecord,
  ClaimRequest,
  ClaimStore,
} from './stores/claim-store.ts';
export type { CounterStore, Taken, TakeRequest } from './stores/counter-store.ts';
export type { FileClaims, FileClaimsOptions } from './stores/file-claims.ts';
export { fileClaims } from './stores/file-claims.ts';
export type { FlexibleLimiter } from './stores/flexible-counter.ts';
export { flexibleCounter } from './stores/flexible-counter.ts';
export type { MemoryClaimsOptions } from './stores/memory-claims.ts';
export { memoryClaims } from './stores/memory-claims.ts';
export type { MemoryCounters, MemoryCountersOptions } from './stores/memory-counters.ts';
export { memoryCounters } from './stores/memory-counters.ts';
export type { MemoryTasksOptions } from './stores/memory-tasks.ts';
export { memoryTasks } from './stores/memory-tasks.ts';
export type {
  NewTask,
  TaskAnswer,
  TaskEnding,
  TaskRecord,
  TaskState,
  TaskStore,
} from './stores/task-store.ts';

// The onion
export type { ComposedCaller, ComposeOptions } from './core/compose.ts';
export { composeToolCallers } from './core/compose.ts';
export { explainStack } from './core/explain.ts';
export type {
  Next,
  OrderRule,
  SchemaTransform,
  TooLate,
  ToolCaller,
  ToolLayer,
  ToolSpec,
  ToolView,
} from './core/layer.ts';
export { defineLayer, passThrough, when } from './core/layer.ts';

// For layer authors
export type { OpenHow } from './system/open-regular.ts';
export { openRegularHandle } from './system/open-regular.ts';
export { cutUtf8 } from './core/cut-utf8.ts';
export { quoteVoice } from './core/voice.ts';
export type { FairEntry, FairTable } from './stores/fair-table.ts';
export { fairTable } from './stores/fair-table.ts';
export { matchesTool } from './core/match-tool.ts';
export type { Expectation } from './core/options.ts';
export { checkOptions, expected } from './core/options.ts';
export { pause } from './core/pause.ts';
export type { Bounds, Ending, Stopped, TimeBounds } from './core/run-within.ts';
export { nextWithin, runWithin } from './core/run-within.ts';
export { inSteps } from './core/steps.ts';
export type { Onward, Step, Stepped } from './core/steps.ts';
export type { Scrub } from './core/scrub.ts';
export { scrub } from './core/scrub.ts';
export { scrubFor } from './core/scrub-for.ts';
export type { LinkedAbort } from './core/signal.ts';
export { linkAbort } from './core/signal.ts';

// What leaves the process
export { canonicalJson } from './core/canonical.ts';
export type { HashKey, HashOptions } from './core/hash-canonical.ts';
export { canonicalHasher, hashCanonical } from './core/hash-canonical.ts';
export type {
  ToolCallAuditEvent,
  ToolCallEvent,
  ToolCallProgressEvent,
  ToolCallUpdateEvent,
  ToolEvent,
} from './core/wire.ts';
export type { TaskEvent } from './core/task-event.ts';
export { fromWire, toWire } from './core/wire.ts';

// Tools
export type { ToolDefinition } from './tools/define-tool.ts';
export { defineTool } from './tools/define-tool.ts';
export type { InferArgs } from './tools/infer-args.ts';
export { declaresParameter, injectParameter } from './tools/inject-parameter.ts';
export { ownDefinition } from './tools/own-definition.ts';
export type { AliasMap, Provider } from './tools/providers/alias.ts';
export { aliasNames } from './tools/providers/alias.ts';
export { exportTools } from './tools/providers/export-tools.ts';
export { fromProviderArgs } from './tools/providers/from-provider-args.ts';
export { toToolMessage } from './tools/providers/tool-message.ts';
export type { Registry, RegistryOptions, ToolCapabilities } from './tools/registry.ts';
export { createRegistry } from './tools/registry.ts';
export type {
  BackgroundOwner,
  BackgroundRuns,
  BackgroundUpdate,
  HiddenArgument,
  HiddenSource,
  Invocation,
  Logger,
  Tool,
  ToolContext,
  ToolExecutor,
  ToolOutput,
  ToolRequest,
} from './tools/tool.ts';
export { toolFailure, toolOutput } from './tools/tool.ts';

// Dispatch
export type { BatchOptions } from './dispatch/batch.ts';
export type { CallOptions } from './dispatch/open-call.ts';
export { EVENT_SCHEMA } from './dispatch/event-schema.ts';
export type { EventListener, EventName } from './dispatch/events.ts';
export type { AdvertiseOptions, GovernedTools, GovernOptions } from './dispatch/govern-tools.ts';
export { governTools } from './dispatch/govern-tools.ts';
export type { Secret } from './dispatch/hidden-arguments.ts';
export type { DispatchLimits } from './dispatch/limits.ts';
export type { OutputFiles, OutputRequest, ReadableOutputs } from './dispatch/output-files.ts';
export { fileOutputs } from './dispatch/output-files.ts';
export type { OutputSlice } from './dispatch/read-output.ts';
export { localExecutor } from './executors/local.ts';

// Calls that a provider runs itself
export type { NativeCall, SkippedItem } from './executors/provider-native/native-call.ts';
export type { NativeCallsOptions } from './executors/provider-native/native-calls-of.ts';
export { nativeCallsOf } from './executors/provider-native/native-calls-of.ts';
export { providerNativeExecutor } from './executors/provider-native/provider-native-executor.ts';
