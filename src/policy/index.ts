/** `allium/policy`: what a call may do at most, what it may do unasked, and who has to be asked. */

export { narrowPolicy, policyOf } from './ambient-policy.ts';
export { answerApproval } from '../approvals/store/answer-approval.ts';
export type {
  Approval,
  ApprovalCode,
  ApprovalFilter,
  ApprovalReply,
  ApprovalRoute,
  ApprovalState,
  ApprovalStore,
} from '../approvals/store/approval.ts';
export { approvalState } from '../approvals/store/approval-rules.ts';
export { APPROVAL_SCHEMA } from '../approvals/store/approval-schema.ts';
export type {
  ApprovalProblem,
  FileApprovals,
  FileApprovalsOptions,
} from '../approvals/store/approval-stores.ts';
export { fileApprovals } from '../approvals/store/approval-stores.ts';
export type { MemoryApprovalsOptions } from '../approvals/store/approval-stores.ts';
export { memoryApprovals } from '../approvals/store/approval-stores.ts';
export type { ArgConstraint } from './arg-constraint.ts';
export type { ArgConstraints } from './arg-constraints.ts';
export type { CapabilityPolicy, PolicyQuestion } from './capability-policy.ts';
export { allows, checkPolicy, intersectPolicies } from './capability-policy.ts';
export { SIDE_EFFECT_LEVELS } from '../core/contract/annotations.ts';
export type { Jail, JailEntry } from '../jail/jail.ts';
export { jail } from '../jail/jail.ts';
export type { JailReason } from '../jail/jail-error.ts';
export { JAIL_REASONS } from '../jail/jail-error.ts';
export {
  type CommandInspection,
  type CommandPolicyOptions,
  commandPolicy,
  inspectCommand,
} from '../permissions/command/command-policy.ts';
export type { CommandConcern } from '../permissions/command/command-reading.ts';
export type { CommandSource } from '../permissions/command/read-command.ts';
export { composePolicies } from '../permissions/compose-policies.ts';
export type { CheckerVerdict, PermissionVerdict } from '../permissions/evaluate.ts';
export { evaluateCheckers, expectedChecker } from '../permissions/evaluate.ts';
export type { ArgumentPattern, ValuePattern } from '../approvals/grants/argument-pattern.ts';
export { covers, patternFor } from '../approvals/grants/argument-pattern.ts';
export { describeGrant, describePattern } from '../approvals/grants/describe-grant.ts';
export type {
  FileGrants,
  FileGrantsOptions,
  GrantProblem,
} from '../approvals/grants/grant-stores.ts';
export { fileGrants } from '../approvals/grants/grant-stores.ts';
export type { CreateGrantOptions, GrantRequest } from '../approvals/grants/create-grant.ts';
export { createGrant } from '../approvals/grants/create-grant.ts';
export type {
  Grant,
  GrantFilter,
  GrantQuery,
  GrantScope,
  GrantStore,
} from '../approvals/grants/grant.ts';
export { GRANT_SCOPES } from '../approvals/grants/grant.ts';
export type { MemoryGrantsOptions } from '../approvals/grants/grant-stores.ts';
export { memoryGrants } from '../approvals/grants/grant-stores.ts';
export { definitionChanges, hashDefinition } from '../pins/definition-hash.ts';
export type { FilePins, FilePinsOptions, PinProblem } from '../pins/pin-stores.ts';
export { filePins } from '../pins/pin-stores.ts';
export type { PinJudgement, PinVerdict, SeenTools } from '../pins/judge-definition.ts';
export { changesFromPin, judgeDefinition, reconcilePins } from '../pins/judge-definition.ts';
export { memoryPins } from '../pins/pin-stores.ts';
export type { ChangePins, HeldDefinition, Pin, PinBook, PinStore } from '../pins/pin-book.ts';
export { acceptPin, forgetPin } from '../pins/pin-book.ts';
export type { PathPolicyOptions } from '../permissions/paths/path-policy.ts';
export { pathPolicy } from '../permissions/paths/path-policy.ts';
export type {
  McpServerPolicyOptions,
  NameLists,
} from '../permissions/network/mcp-server-policy.ts';
export { mcpServerPolicy } from '../permissions/network/mcp-server-policy.ts';
export type { GuardedLookupOptions } from '../permissions/network/guarded-lookup.ts';
export { guardedLookup } from '../permissions/network/guarded-lookup.ts';
export type {
  NetworkPolicyOptions,
  NetworkRequest,
} from '../permissions/network/network-policy.ts';
export { networkPolicy, networkRequestOf } from '../permissions/network/network-policy.ts';
export type {
  CheckerFunction,
  FilesystemKind,
  PermissionAnswer,
  PermissionChecker,
  PermissionDecision,
  PermissionPolicy,
  PermissionRequest,
  ProposedRequest,
} from '../permissions/permission.ts';
export { FILESYSTEM_KINDS, PERMISSION_DECISIONS } from '../permissions/permission.ts';
export type { Approved } from '../permissions/ask-permission.ts';
export type { PermissionSet } from '../permissions/finding.ts';
export type { PermissionReport } from '../permissions/preflight.ts';
export { permissionGate, permissionReportOf } from '../permissions/preflight.ts';
export type { PermissionRule, RuleDecision } from '../permissions/rules/read-rules.ts';
export type { RulesPolicy, RulesPolicyOptions } from '../permissions/rules/rules-policy.ts';
export { rulesPolicy } from '../permissions/rules/rules-policy.ts';
export { advertisable } from './tool-reach.ts';
