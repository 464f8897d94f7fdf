/** `allium/policy`: what a call may do at most, what it may do unasked, and who has to be asked. */

export { narrowPolicy, policyOf } from './ambient-policy.ts';
export { answerApproval } from './approvals/answer-approval.ts';
export type {
  Approval,
  ApprovalCode,
  ApprovalReply,
  ApprovalRoute,
  ApprovalState,
} from './approvals/approval.ts';
export { approvalState } from './approvals/approval-rules.ts';
export { APPROVAL_SCHEMA } from './approvals/approval-schema.ts';
export type { ApprovalFilter, ApprovalStore } from './approvals/approval-store.ts';
export type {
  ApprovalProblem,
  FileApprovals,
  FileApprovalsOptions,
} from './approvals/file-approvals.ts';
export { fileApprovals } from './approvals/file-approvals.ts';
export type { MemoryApprovalsOptions } from './approvals/memory-approvals.ts';
export { memoryApprovals } from './approvals/memory-approvals.ts';
export type { ArgConstraint } from './arg-constraint.ts';
export type { ArgConstraints } from './arg-constraints.ts';
export type { CapabilityPolicy, PolicyQuestion } from './capability-policy.ts';
export { allows, checkPolicy, intersectPolicies } from './capability-policy.ts';
export type { Jail, JailEntry } from './jail/jail.ts';
export { jail } from './jail/jail.ts';
export type { JailReason } from './jail/jail-error.ts';
export { JAIL_REASONS } from './jail/jail-error.ts';
export { type CommandPolicyOptions, commandPolicy } from './permissions/command/command-policy.ts';
export type { CommandConcern } from './permissions/command/command-reading.ts';
export { type CommandInspection, inspectCommand } from './permissions/command/inspect-command.ts';
export type { CommandSource } from './permissions/command/read-command.ts';
export { composePolicies } from './permissions/compose-policies.ts';
export type { CheckerVerdict, PermissionVerdict } from './permissions/evaluate.ts';
export { evaluateCheckers, expectedChecker } from './permissions/evaluate.ts';
export type { ArgumentPattern, ValuePattern } from './grants/argument-pattern.ts';
export { covers, patternFor } from './grants/argument-pattern.ts';
export { describeGrant, describePattern } from './grants/describe-grant.ts';
export type { FileGrants, FileGrantsOptions, GrantProblem } from './grants/file-grants.ts';
export { fileGrants } from './grants/file-grants.ts';
export type { CreateGrantOptions, Grant, GrantRequest, GrantScope } from './grants/grant.ts';
export { createGrant, GRANT_SCOPES } from './grants/grant.ts';
export type { GrantFilter, GrantQuery, GrantStore } from './grants/grant-store.ts';
export type { MemoryGrantsOptions } from './grants/memory-grants.ts';
export { memoryGrants } from './grants/memory-grants.ts';
export { definitionChanges } from './pins/definition-changes.ts';
export { hashDefinition } from './pins/definition-hash.ts';
export type { FilePins, FilePinsOptions, PinProblem } from './pins/file-pins.ts';
export { filePins } from './pins/file-pins.ts';
export type { PinJudgement, PinVerdict } from './pins/judge-definition.ts';
export { changesFromPin, judgeDefinition } from './pins/judge-definition.ts';
export { memoryPins } from './pins/memory-pins.ts';
export type { HeldDefinition, Pin, PinBook } from './pins/pin-book.ts';
export { acceptPin, forgetPin } from './pins/pin-book.ts';
export type { ChangePins, PinStore } from './pins/pin-store.ts';
export type { SeenTools } from './pins/reconcile-pins.ts';
export { reconcilePins } from './pins/reconcile-pins.ts';
export type { PathPolicyOptions } from './permissions/path-policy.ts';
export { pathPolicy } from './permissions/path-policy.ts';
export type { McpServerPolicyOptions, NameLists } from './permissions/mcp-server-policy.ts';
export { mcpServerPolicy } from './permissions/mcp-server-policy.ts';
export type { GuardedLookupOptions } from './permissions/network/guarded-lookup.ts';
export { guardedLookup } from './permissions/network/guarded-lookup.ts';
export type { NetworkRequest } from './permissions/network/network-request.ts';
export { networkRequestOf } from './permissions/network/network-request.ts';
export type { NetworkPolicyOptions } from './permissions/network-policy.ts';
export { networkPolicy } from './permissions/network-policy.ts';
export type {
  CheckerFunction,
  FilesystemKind,
  PermissionAnswer,
  PermissionChecker,
  PermissionDecision,
  PermissionPolicy,
  PermissionRequest,
  ProposedRequest,
} from './permissions/permission.ts';
export { FILESYSTEM_KINDS, PERMISSION_DECISIONS } from './permissions/permission.ts';
export type { Approved } from './permissions/ask-permission.ts';
export type { PermissionReport, PermissionSet } from './permissions/preflight.ts';
export { permissionGate, permissionReportOf } from './permissions/preflight.ts';
export type { PermissionRule, RuleDecision } from './permissions/rules/read-rules.ts';
export type { RulesPolicy, RulesPolicyOptions } from './permissions/rules/rules-policy.ts';
export { rulesPolicy } from './permissions/rules/rules-policy.ts';
export { advertisable } from './tool-reach.ts';
