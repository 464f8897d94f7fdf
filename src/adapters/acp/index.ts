/**
 * `allium/acp`: approvals and audit records in the words of the Agent Client Protocol, without its
 * SDK.
 */

export type { AuditReading } from '../audit-claim.ts';
export type { AcpAsk, AcpCall } from './ask-client.ts';
export { acpPrompt, fromAcpResponse, toAcpPermission } from './ask-client.ts';
export type { AcpAsked } from './asked-by-agent.ts';
export { fromAcpPermission, permissionRequestsOf, toAcpResponse } from './asked-by-agent.ts';
export type {
  AcpMeta,
  AcpPermissionOption,
  AcpPermissionRequest,
  AcpPermissionResponse,
  AcpToolCall,
} from './protocol.ts';
export { ACP_APPROVAL_KEY, ACP_AUDIT_KEY, fromAcpMeta, toAcpMeta } from './protocol.ts';
