/**
 * `allium/layer`: what layers are written with. The bundled layers import it like any other layer,
 * and have nothing beside it. Names that builders of agents use too stand in `allium` as well.
 */

// What a layer is, and what it is given
export {
  defineLayer,
  must,
  type Next,
  type OrderRule,
  type SchemaTransform,
  should,
  type Scrub,
  type TooLate,
  type ToolCaller,
  type ToolLayer,
  type ToolSpec,
  type ToolView,
} from './core/contract/layer.ts';
export type { JsonSchema, ToolCall, ToolProgress, Turn } from './core/contract/call.ts';
export {
  SIDE_EFFECT_LEVELS,
  type SideEffectLevel,
  type ToolAnnotations,
} from './core/contract/annotations.ts';
export type { JsonObject, JsonValue } from './core/json/json-value.ts';
export {
  abortOf,
  type CallChanges,
  clockOf,
  createIdOf,
  isAborted,
  withCall,
} from './core/onion/own-call.ts';
export { definitionOf } from './core/onion/own-call.ts';
export { isObserved } from './core/onion/observed.ts';

// What it answers
export type {
  ApprovalRecord,
  Interruption,
  OutputFileRef,
  ToolResult,
} from './core/contract/result.ts';
export type { ContentBlock } from './core/contract/content.ts';
export { outcomeOf, STATUSES, type ToolStatus } from './core/contract/status.ts';
export {
  annotate,
  fail,
  type FailOptions,
  isRendered,
  ok,
  raise,
  refuse,
  type ResultChanges,
  withResult,
} from './core/onion/results.ts';
export { AlliumError, isAlliumError } from './core/contract/errors.ts';

// What it writes down
export type {
  AuditPatch,
  AuditRecord,
  ConsentRecord,
  EntryPatch,
} from './core/contract/audit-record.ts';
export { scrub, scrubFor } from './core/onion/audit.ts';
export { accountOf, attachReceipt, type CallAccount } from './core/onion/account.ts';
export { traceWith } from './core/onion/account.ts';
export { whenEnded } from './core/onion/account.ts';

// What it lays down for everything below
export type { Gate, Guard, HashValue, Refusal } from './core/onion/pass.ts';
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
export { narrowPolicy, policyOf } from './policy/ambient-policy.ts';
export type { ArgConstraints } from './policy/arg-constraints.ts';
export {
  allows,
  type CapabilityPolicy,
  checkPolicy,
  intersectPolicies,
} from './policy/capability-policy.ts';
export { advertisable } from './policy/tool-reach.ts';
export { denyAlways } from './permissions/compose-policies.ts';
export { expectedChecker } from './permissions/evaluate.ts';
export type { PermissionSet } from './permissions/finding.ts';
export type { PermissionChecker } from './permissions/permission.ts';
export {
  permissionGate,
  type PermissionReport,
  permissionReportOf,
} from './permissions/preflight.ts';

// Asking a person
export {
  type ApprovalAsk,
  type ApprovalOutcome,
  type ApprovalSaid,
  askApproval,
} from './approvals/ask-approval.ts';
export { type Decided, decideWithin } from './approvals/decision-window.ts';
export { editCall } from './approvals/edit-call.ts';
export { interrupt } from './approvals/refusals.ts';
export {
  definitionHashOf,
  fingerprintOf,
  standingKeyOf,
  standingToolKeyOf,
} from './approvals/fingerprint.ts';

// Its options, and the tools it is meant for
export {
  checkOptions,
  type Expectation,
  expected,
  type Option,
  option,
  type OptionTable,
  optionsSchema,
} from './core/contract/options.ts';
export { matchesTool } from './core/contract/layer.ts';
export { filePins } from './pins/pin-stores.ts';
export {
  changesFromPin,
  judgeDefinition,
  type PinJudgement,
  type PinVerdict,
  reconcilePins,
} from './pins/judge-definition.ts';
export type { PinStore } from './pins/pin-book.ts';
export { declaresParameter, injectParameter } from './tools/parameters/inject-parameter.ts';
export { ownDefinition } from './tools/own-definition.ts';

// Time, and taking a call back
export { type Clock, isoTime } from './core/time/clock.ts';
export type { CreateId } from './core/contract/call.ts';
export { pause } from './core/time/run-within.ts';
export {
  type Bounds,
  type Ending,
  nextWithin,
  runWithin,
  type Stopped,
  type TimeBounds,
} from './core/time/run-within.ts';
export { type AbortSource, linkAbort, type LinkedAbort } from './core/time/abort.ts';

// JSON, text and files
export { canonicalJson } from './core/json/canonical.ts';
export {
  canonicalHasher,
  hashCanonical,
  type HashKey,
  type HashOptions,
} from './core/json/hash-canonical.ts';
export { changedPaths } from './core/json/changed-paths.ts';
export { cutUtf8 } from './core/json/cut-utf8.ts';
export { quoteVoice } from './core/contract/voice.ts';
export { fromWire, toWire } from './core/wire/wire.ts';
export { openRegularHandle, type OpenHow } from './system/open-regular.ts';
export type { OutputFiles, OutputRequest, ReadableOutputs } from './dispatch/run/output-files.ts';
export type { OutputSlice } from './dispatch/run/read-output.ts';
export { promptsOf, approvalWaitOf, type ApprovalWait } from './approvals/consultation.ts';
export type { ApprovalPrompt } from './approvals/question.ts';
