/**
 * The part of the Agent Client Protocol (version 1) that is spoken here. Lists can be changed, as
 * the types of its SDK ask for.
 */

import type { ToolKind } from '../../core/contract/annotations.ts';
import type { ApprovalDecision } from '../../approvals/question.ts';
import type { AuditRecord } from '../../core/contract/audit-record.ts';
import { type AuditReading, auditUnder, readAuditUnder } from '../audit-claim.ts';

/** Where both sides may put what the protocol does not know. */
export type AcpMeta = { [key: string]: unknown };

export interface AcpPermissionOption {
  optionId: string;
  /** For the person. */
  name: string;
  kind: ApprovalDecision;
  _meta?: AcpMeta | null;
}

/** The call that is asked about. */
export interface AcpToolCall {
  toolCallId: string;
  title: string;
  name: string;
  kind: ToolKind;
  status: 'pending';
  rawInput: unknown;
  content?: { type: 'content'; content: { type: 'text'; text: string } }[];
}

/** The params of `session/request_permission`. */
export interface AcpPermissionRequest {
  sessionId: string;
  toolCall: AcpToolCall;
  options: AcpPermissionOption[];
  _meta: AcpMeta;
}

/** Its result. */
export interface AcpPermissionResponse {
  outcome: { outcome: 'cancelled' } | { outcome: 'selected'; optionId: string };
}

/** The prefix of every key of ours in `_meta`. */
const PREFIX = 'allium';

/** Under this key a permission request says which approval it is about. */
export const ACP_APPROVAL_KEY = `${PREFIX}/approval`;

/** Under this key is the audit record of a call. */
export const ACP_AUDIT_KEY = `${PREFIX}/audit`;

/**
 * For the `_meta` of a `tool_call_update`: the protocol forbids own members beside it. Cleans
 * nothing: take the record of a result, which is clean.
 */
export const toAcpMeta = (audit: AuditRecord): AcpMeta => auditUnder(ACP_AUDIT_KEY, audit);

/** What a `_meta` that came in says. Never throws. */
export const fromAcpMeta = (meta: unknown): AuditReading => readAuditUnder(ACP_AUDIT_KEY, meta);
