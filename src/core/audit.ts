/** The audit record: what the layers say about a call. It exists once per call and grows from the inside out. */

import { type ToolAnnotations, type ToolHints, hintsOf } from './annotations.ts';
import { type JsonObject, type JsonValue, snapshotObject } from './json.ts';
import { scrub } from './scrub.ts';
import type { CallState } from './state.ts';

/** One layer's line. Details a layer adds stand beside these four. */
export interface LayerEntry {
  readonly name: string;
  readonly status: string;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly error?: string;
  readonly [detail: string]: JsonValue | undefined;
}

export interface ConsentRecord {
  readonly decision: 'approved' | 'auto' | 'denied' | 'expired';
  readonly decidedBy: string;
  readonly decidedAt: string;
  readonly reason?: string;
}

/** Free-form JSON with conventional keys. */
export interface AuditRecord {
  /** One line for people. */
  readonly summary?: string;
  /** The model's own words. */
  readonly reason?: string;
  readonly reasonMissing?: boolean;
  readonly description?: string;
  readonly kind?: string;
  readonly hints?: ToolHints;
  readonly consent?: ConsentRecord;
  readonly scope?: { readonly stage: string; readonly allowedTools?: readonly string[]; readonly sideEffectLevel?: string };
  /** Innermost first. */
  readonly layers: readonly LayerEntry[];
  readonly handoff?: JsonObject;
  /** Which layer changed which argument paths after approval. */
  readonly rewrites?: readonly { readonly layer: string; readonly paths: readonly string[] }[];
  readonly receiptUri?: string;
  readonly metadata?: JsonObject;
  readonly [key: string]: unknown;
}

export type AuditPatch = { readonly [K in keyof AuditRecord]?: AuditRecord[K] };
/** What a layer may say on its own line: a status of its own, and details. Name and times belong to compose. */
export type EntryPatch = { readonly status?: string; readonly [detail: string]: JsonValue | undefined };

/** The record as the framework writes it; a call whose layers have had nothing to say has none yet. */
function recordOf(state: CallState): Writable {
  state.audit ??= openAudit(state.annotations);
  return state.audit as Writable;
}

type Writable = { -readonly [K in keyof AuditRecord]: AuditRecord[K] } & { layers: LayerEntry[] };

/** Opens the record of a call, filled with what the tool says about itself. */
export function openAudit(annotations: ToolAnnotations): AuditRecord {
  return annotations.kind === undefined
    ? { hints: hintsOf(annotations), layers: [] }
    : { kind: annotations.kind, hints: hintsOf(annotations), layers: [] };
}

/** Shallow merge with one exception: `layers` grows. A key written by an outer layer is not overwritten from inside. */
export function mergeAudit(state: CallState, patch: AuditPatch, depth: number): void {
  const record = recordOf(state);
  for (const [key, value] of Object.entries(cleanPatch(state, patch))) {
    // Assigning `__proto__` would change what the record is instead of what it says.
    if (key === '__proto__') continue;
    if (key === 'layers') record.layers.push(...(value as readonly LayerEntry[]));
    else if (mayWrite(state, key, depth)) record[key] = value;
  }
}

/**
 * Adds a finished line. Lines are scrubbed on the way in, so that no reader can come too early. They are not frozen one
 * by one: that alone would cost a fifth of what a layer costs.
 */
export function pushEntry(state: CallState, entry: LayerEntry): void {
  recordOf(state).layers.push(scrub(entry, state.scrubs));
}

/** After this nothing is added: the record is what the host keeps. */
export function closeAudit(state: CallState): void {
  if (state.audit === undefined || Object.isFrozen(state.audit)) return;
  Object.freeze(state.audit.layers);
  Object.freeze(state.audit);
}

/** A record that belongs to no call under way: the same merge on plain values. */
export function mergeRecords(record: AuditRecord | undefined, patch: AuditPatch): AuditRecord {
  const clean = snapshotObject(patch) as AuditPatch;
  const layers = Object.freeze([...(record?.layers ?? []), ...(clean.layers ?? [])]);
  return Object.freeze({ ...record, ...clean, layers });
}

const cleanPatch = (state: CallState, patch: AuditPatch): JsonObject => scrub(snapshotObject(patch), state.scrubs);

function mayWrite(state: CallState, key: string, depth: number): boolean {
  state.writers ??= new Map();
  const writer = state.writers.get(key);
  if (writer !== undefined && writer < depth) return false;
  state.writers.set(key, depth);
  return true;
}
