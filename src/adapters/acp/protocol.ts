/** The part of the Agent Client Protocol (version 1) that is spoken here. Lists can be changed, as the types of its SDK ask for. */

import type { ToolKind } from '../../core/annotations.ts';
import type { ApprovalDecision } from '../../core/approval.ts';

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
