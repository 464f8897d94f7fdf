/** `allium/handoff`: the handoff record, its schema, and how one is read from what a tool sent. */

export type { EvidenceRef, HandoffRecord, ReceiptLink } from './handoff-record.ts';
export { HANDOFF_LIMITS } from './handoff-record.ts';
export { HANDOFF_SCHEMA } from './handoff-schema.ts';
export type { HandoffContext, HandoffReading } from './read-handoff.ts';
export { personaName, readHandoff } from './read-handoff.ts';
