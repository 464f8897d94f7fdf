/** The audit record in the `_meta` of an ACP message. */

import type { AuditRecord } from '../../core/audit.ts';
import { type AuditReading, auditUnder, readAuditUnder } from '../audit-claim.ts';
import { ACP_AUDIT_KEY, type AcpMeta } from './protocol.ts';

/** For the `_meta` of a `tool_call_update`: the protocol forbids own members beside it. Cleans nothing: take the record of a result, which is clean. */
export const toAcpMeta = (audit: AuditRecord): AcpMeta => auditUnder(ACP_AUDIT_KEY, audit);

/** What a `_meta` that came in says. Never throws. */
export const fromAcpMeta = (meta: unknown): AuditReading => readAuditUnder(ACP_AUDIT_KEY, meta);
