/** `allium/a2a`: audit records in the messages of the Agent2Agent protocol, without its SDK. */

export type { AuditReading } from '../audit-claim.ts';
export {
  A2A_AUDIT_EXTENSION,
  A2A_AUDIT_URI,
  fromA2aMetadata,
  toA2aMetadata,
} from './audit-metadata.ts';
