/** `allium/handoff`: the handoff record, its schema, and how one is read from what a tool sent. */

export { emitHandoff, type HandoffDelivery, type HandoffSink } from './emit-handoff.ts';
export { openDelivery } from './emit-handoff.ts';
export { type DetectHandoff, findPayload } from './find-payload.ts';
export type { EvidenceRef, HandoffRecord, ReceiptLink } from './handoff-record.ts';
export { HANDOFF_LIMITS } from './handoff-record.ts';
export { HANDOFF_SCHEMA } from './handoff-schema.ts';
export type { HandoffContext, HandoffReading } from './read-handoff.ts';
export { personaName, readHandoff } from './read-handoff.ts';
