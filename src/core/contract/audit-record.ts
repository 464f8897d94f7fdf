/** The audit record: what the layers say about a call. */

import type { ToolHints } from './annotations.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';

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
  readonly scope?: {
    readonly stage: string;
    readonly allowedTools?: readonly string[];
    readonly sideEffectLevel?: string;
  };
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

/**
 * What a layer may say on its own line: a status of its own, and details. Name and times belong to
 * compose.
 */
export type EntryPatch = {
  readonly status?: string;
  readonly [detail: string]: JsonValue | undefined;
};
