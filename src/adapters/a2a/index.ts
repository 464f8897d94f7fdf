/** `allium/a2a`: audit records in the messages of the Agent2Agent protocol, without its SDK. */

import type { AuditRecord } from '../../core/contract/audit-record.ts';
import { type AuditReading, auditUnder, readAuditUnder } from '../audit-claim.ts';

export type { AuditReading };

/** The extension, and the key of its data. */
export const A2A_AUDIT_URI = 'urn:allium:extension:audit:v1';

/** For the list of extensions in an agent card: who does not know it misses nothing. */
export const A2A_AUDIT_EXTENSION = Object.freeze({
  uri: A2A_AUDIT_URI,
  description: 'What governed a tool call, as an audit record in metadata.',
  required: false,
});

/**
 * For any `metadata`; a message or an artifact names `A2A_AUDIT_URI` in its `extensions` too.
 * Cleans nothing: take the record of a result, which is clean.
 */
export const toA2aMetadata = (audit: AuditRecord): { [key: string]: unknown } =>
  auditUnder(A2A_AUDIT_URI, audit);

/** What a `metadata` that came in says. Never throws. */
export const fromA2aMetadata = (metadata: unknown): AuditReading =>
  readAuditUnder(A2A_AUDIT_URI, metadata);
