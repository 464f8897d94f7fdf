/**
 * `allium`: what whoever builds an agent uses. Every name is written out, and there are 110 at most
 * (a test counts): what is not here is not promised, or stands at another door.
 */

// Tools
export { defineTool, type ToolDefinition } from './tools/define-tool.ts';
export type { InferArgs } from './tools/infer-args.ts';
export type { TypedTool } from './tools/typed-tool.ts';
export { injectParameter } from './tools/parameters/inject-parameter.ts';
export type { Provider } from './tools/providers/alias.ts';
export { exportTools } from './tools/providers/export-tools.ts';
export { fromProviderArgs } from './tools/providers/provider-messages.ts';
export { toToolMessage } from './tools/providers/provider-messages.ts';
export { createRegistry, type Registry, type RegistryOptions } from './tools/registry.ts';
export {
  type HiddenArgument,
  type HiddenSource,
  type Invocation,
  type Logger,
  type Tool,
  type ToolContext,
  type ToolExecutor,
  toolFailure,
  type ToolOutput,
  toolOutput,
  type ToolRequest,
} from './tools/tool.ts';
export type { SideEffectLevel, ToolAnnotations, ToolKind } from './core/contract/annotations.ts';

// Governing them
export {
  type AdvertiseOptions,
  type GovernedTools,
  type GovernedToolsOf,
  type GovernOptions,
  governTools,
} from './dispatch/govern-tools.ts';
export type { BatchOptions } from './dispatch/run/batch.ts';
export type { CallOptions } from './dispatch/intake/open-call.ts';
export { EVENT_SCHEMA } from './dispatch/events/event-schema.ts';
export type { EventListener, EventName } from './dispatch/events/events.ts';
export type { Secret } from './dispatch/intake/arguments.ts';
export type { DispatchLimits } from './dispatch/intake/limits.ts';
export { fileOutputs, type OutputFiles } from './dispatch/run/output-files.ts';
export { localExecutor } from './executors/local.ts';
export type { NativeCall } from './executors/provider-native/native-call.ts';
export {
  nativeCallsOf,
  type NativeCallsOptions,
} from './executors/provider-native/native-calls-of.ts';
export { providerNativeExecutor } from './executors/provider-native/provider-native-executor.ts';

// Stacks
export {
  type ComposedCaller,
  type ComposeOptions,
  composeToolCallers,
} from './core/onion/compose.ts';
export { explainStack } from './core/onion/explain.ts';
export {
  defineLayer,
  type Next,
  type OrderRule,
  passThrough,
  type ToolCaller,
  type ToolLayer,
  type ToolSpec,
  when,
} from './core/contract/layer.ts';

// Calls and results
export type {
  ExecutorKind,
  JsonSchema,
  ToolCall,
  ToolProgress,
  Turn,
} from './core/contract/call.ts';
export { withCall } from './core/onion/own-call.ts';
export type {
  ApprovalRecord,
  Interruption,
  OutputFileRef,
  ToolResult,
} from './core/contract/result.ts';
export type { ContentBlock } from './core/contract/content.ts';
export { annotate, causeOf, fail, ok, refuse, withResult } from './core/onion/results.ts';
export type { AuditRecord, ConsentRecord, LayerEntry } from './core/contract/audit-record.ts';
export {
  type ErrorClass,
  type Executed,
  type Outcome,
  outcomeOf,
  STATUSES,
  type ToolStatus,
} from './core/contract/status.ts';
export { AlliumError, ERROR_CODES, type ErrorCode, isAlliumError } from './core/contract/errors.ts';

// Time, JSON, and what leaves the process
export { type Clock, systemClock } from './core/time/clock.ts';
export type { CreateId } from './core/contract/call.ts';
export type { JsonObject, JsonValue } from './core/json/json-value.ts';
export { canonicalJson } from './core/json/canonical.ts';
export { hashCanonical, type HashKey } from './core/json/hash-canonical.ts';
export {
  fromWire,
  type TaskEvent,
  type ToolCallAuditEvent,
  type ToolCallEvent,
  type ToolCallProgressEvent,
  type ToolCallUpdateEvent,
  type ToolEvent,
  toWire,
} from './core/wire/wire.ts';
export {
  answerLabel,
  APPROVAL_ANSWERS,
  type ApprovalAnswer,
  type ApprovalDecision,
  type ApprovalPrompt,
  type ApprovalQuestion,
} from './approvals/question.ts';
