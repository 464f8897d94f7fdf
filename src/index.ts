/** The public list. Every name is written out: what is not here is not promised. */

// The contract
export type { Gate, Guard, HashValue, Refusal } from './core/onion/pass.ts';
export {
  answerLabel,
  APPROVAL_ANSWERS,
  type ApprovalAnswer,
  type ApprovalDecision,
  type ApprovalPrompt,
  type ApprovalQuestion,
  type EarlierDecision,
} from './core/contract/approval.ts';
export {
  annotate,
  causeOf,
  fail,
  type FailOptions,
  isRendered,
  ok,
  raise,
  refuse,
  type ResultChanges,
  withResult,
} from './core/onion/results.ts';
export type { JsonObject, JsonValue } from './core/json/json-value.ts';
export { definitionOf, promptsOf } from './core/onion/host-parts.ts';
export {
  type CallChanges,
  abortOf,
  clockOf,
  createIdOf,
  isSignalAborted as isAborted,
  withCall,
} from './core/onion/own-call.ts';
export type {
  AuditPatch,
  AuditRecord,
  ConsentRecord,
  EntryPatch,
  LayerEntry,
} from './core/contract/audit-record.ts';
export type {
  SideEffectLevel,
  ToolAnnotations,
  ToolHints,
  ToolKind,
  ToolSafety,
} from './core/contract/annotations.ts';
export { SIDE_EFFECT_LEVELS } from './core/contract/annotations.ts';
export type {
  ExecutorKind,
  JsonSchema,
  ToolCall,
  ToolProgress,
  Turn,
} from './core/contract/call.ts';
export { isObserved } from './core/onion/observed.ts';
export type { Clock } from './core/time/clock.ts';
export { isoTime, systemClock } from './core/time/clock.ts';
export type { ContentBlock } from './core/contract/content.ts';
export type { ErrorCode, ErrorDetails } from './core/contract/errors.ts';
export { AlliumError, ERROR_CODES, isAlliumError } from './core/contract/errors.ts';
export type { CreateId } from './core/contract/ids.ts';
export type {
  ApprovalRecord,
  Interruption,
  OutputFileRef,
  ToolResult,
} from './core/contract/result.ts';
export type {
  ErrorClass,
  Executed,
  KnownStatus,
  Outcome,
  StatusRow,
  ToolStatus,
} from './core/contract/status.ts';
export { outcomeOf, STATUSES } from './core/contract/status.ts';

// For layers that decide and layers that record
export type { CallAccount } from './core/onion/account.ts';
export { accountOf, attachReceipt } from './core/onion/account.ts';
export { changedPaths } from './core/json/changed-paths.ts';
export {
  approveCall,
  gateCall,
  guardCall,
  hashOf,
  hashWith,
  limitAsking,
  objectionToAsking,
  supplyResult,
} from './core/onion/conditions.ts';
export type { ApprovalWait } from './core/onion/trace.ts';
export { approvalWaitOf, traceWith } from './core/onion/trace.ts';
export { whenEnded } from './core/onion/when-ended.ts';
export type {
  ApprovalAsk,
  ApprovalOutcome,
  ApprovalSaid,
} from './approvals/ask-approval.ts';
export { askApproval } from './approvals/ask-approval.ts';
export type { Decided } from './approvals/decision-window.ts';
export { decideWithin } from './approvals/decision-window.ts';
export { editCall } from './approvals/edit-call.ts';
export { interrupt } from './approvals/refusals.ts';
export {
  definitionHashOf,
  fingerprintOf,
  standingKeyOf,
  standingToolKeyOf,
} from './approvals/fingerprint.ts';

// Capability policy
export { narrowPolicy, policyOf } from './policy/ambient-policy.ts';
export type { ArgConstraint } from './policy/arg-constraint.ts';
export type { ArgConstraints } from './policy/arg-constraints.ts';
export type { CapabilityPolicy, PolicyQuestion } from './policy/capability-policy.ts';
export { allows, checkPolicy, intersectPolicies } from './policy/capability-policy.ts';
export { advertisable } from './policy/tool-reach.ts';
export { denyAlways } from './permissions/compose-policies.ts';
export { expectedChecker } from './permissions/evaluate.ts';
export type { PermissionChecker, PermissionDecision } from './permissions/permission.ts';
export type { PermissionSet } from './permissions/finding.ts';
export type { PermissionReport } from './permissions/preflight.ts';
export { permissionGate, permissionReportOf } from './permissions/preflight.ts';

// Pinned definitions
export { definitionChanges } from './pins/definition-hash.ts';
export { hashDefinition } from './pins/definition-hash.ts';
export type { FilePins, FilePinsOptions, PinProblem } from './pins/file-pins.ts';
export { filePins } from './pins/file-pins.ts';
export type { PinJudgement, PinVerdict } from './pins/judge-definition.ts';
export { changesFromPin, judgeDefinition } from './pins/judge-definition.ts';
export { memoryPins } from './pins/memory-pins.ts';
export type { HeldDefinition, Pin, PinBook } from './pins/pin-book.ts';
export { acceptPin, forgetPin } from './pins/pin-book.ts';
export type { ChangePins, PinStore } from './pins/pin-book.ts';
export type { SeenTools } from './pins/judge-definition.ts';
export { reconcilePins } from './pins/judge-definition.ts';

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
export type { FileClaims, FileClaimsOptions } from './stores/files/file-claims.ts';
export { fileClaims } from './stores/files/file-claims.ts';
export type { FlexibleLimiter } from './stores/flexible-counter.ts';
export { flexibleCounter } from './stores/flexible-counter.ts';
export type { MemoryClaimsOptions } from './stores/memory/memory-claims.ts';
export { memoryClaims } from './stores/memory/memory-claims.ts';
export type { MemoryCounters, MemoryCountersOptions } from './stores/memory/memory-counters.ts';
export { memoryCounters } from './stores/memory/memory-counters.ts';
export type { MemoryTasksOptions } from './stores/memory/memory-tasks.ts';
export { memoryTasks } from './stores/memory/memory-tasks.ts';
export type {
  NewTask,
  TaskAnswer,
  TaskEnding,
  TaskRecord,
  TaskState,
  TaskStore,
} from './stores/task-store.ts';

// The onion
export type { ComposedCaller, ComposeOptions } from './core/onion/compose.ts';
export { composeToolCallers } from './core/onion/compose.ts';
export { explainStack } from './core/onion/explain.ts';
export type {
  Next,
  OrderRule,
  SchemaTransform,
  Scrub,
  TooLate,
  ToolCaller,
  ToolLayer,
  ToolSpec,
  ToolView,
} from './core/contract/layer.ts';
export { defineLayer, passThrough, when } from './core/contract/layer.ts';

// For layer authors
export type { OpenHow } from './system/open-regular.ts';
export { openRegularHandle } from './system/open-regular.ts';
export { cutUtf8 } from './core/json/cut-utf8.ts';
export { quoteVoice } from './core/contract/voice.ts';
export type { FairEntry, FairTable } from './stores/fair-table.ts';
export { fairTable } from './stores/fair-table.ts';
export { matchesTool } from './core/contract/match-tool.ts';
export type { Expectation } from './core/contract/options.ts';
export { checkOptions, expected } from './core/contract/options.ts';
export { pause } from './core/time/pause.ts';
export type { Bounds, Ending, Stopped, TimeBounds } from './core/time/run-within.ts';
export { nextWithin, runWithin } from './core/time/run-within.ts';
export { scrub } from './core/onion/scrub.ts';
export { scrubFor } from './core/onion/scrub-for.ts';
export type { AbortSource, LinkedAbort } from './core/time/abort.ts';
export { linkAbort } from './core/time/abort.ts';

// What leaves the process
export { canonicalJson } from './core/json/canonical.ts';
export type { HashKey, HashOptions } from './core/json/hash-canonical.ts';
export { canonicalHasher, hashCanonical } from './core/json/hash-canonical.ts';
export type {
  TaskEvent,
  ToolCallAuditEvent,
  ToolCallEvent,
  ToolCallProgressEvent,
  ToolCallUpdateEvent,
  ToolEvent,
} from './core/wire/wire.ts';
export { fromWire, toWire } from './core/wire/wire.ts';

// Tools
export type { ToolDefinition } from './tools/define-tool.ts';
export { defineTool } from './tools/define-tool.ts';
export type { InferArgs } from './tools/infer-args.ts';
export { declaresParameter, injectParameter } from './tools/parameters/inject-parameter.ts';
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
export type { BatchOptions } from './dispatch/run/batch.ts';
export type { CallOptions } from './dispatch/intake/open-call.ts';
export { EVENT_SCHEMA } from './dispatch/events/event-schema.ts';
export type { EventListener, EventName } from './dispatch/events/events.ts';
export type { AdvertiseOptions, GovernedTools, GovernOptions } from './dispatch/govern-tools.ts';
export { governTools } from './dispatch/govern-tools.ts';
export type { Secret } from './dispatch/intake/hidden-arguments.ts';
export type { DispatchLimits } from './dispatch/intake/limits.ts';
export type { OutputFiles, OutputRequest, ReadableOutputs } from './dispatch/run/output-files.ts';
export { fileOutputs } from './dispatch/run/output-files.ts';
export type { OutputSlice } from './dispatch/run/read-output.ts';
export { localExecutor } from './executors/local.ts';

// Calls that a provider runs itself
export type { NativeCall, SkippedItem } from './executors/provider-native/native-call.ts';
export type { NativeCallsOptions } from './executors/provider-native/native-calls-of.ts';
export { nativeCallsOf } from './executors/provider-native/native-calls-of.ts';
export { providerNativeExecutor } from './executors/provider-native/provider-native-executor.ts';
