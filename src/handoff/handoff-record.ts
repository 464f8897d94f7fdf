/**
 * The handoff record: what one persona leaves to another persona or to a human, and in which
 * bounds.
 */

import type { JsonObject } from '../core/json/json-value.ts';
import type { CapabilityPolicy } from '../policy/capability-policy.ts';

/** Something the next one can look at. */
export interface EvidenceRef {
  readonly artifactId?: string;
  readonly kind?: string;
  readonly label?: string;
  readonly path?: string;
  readonly uri?: string;
}

/** Where a receipt of the work so far is. */
export interface ReceiptLink {
  readonly kind: string;
  readonly label?: string;
  readonly runId?: string;
  readonly artifactId?: string;
  readonly path?: string;
  readonly href?: string;
}

/**
 * A handoff as it stands in `audit.handoff`; on the wire its names are snake_case. Everything but
 * `_type`, `id`, `createdAt` and what the call itself knows is the tool's word.
 */
export interface HandoffRecord {
  readonly _type: 'handoff_artifact';
  readonly id: string;
  /** The run of the call, where the host names one; otherwise what the tool says. */
  readonly parentRunId?: string;
  readonly kind?: string;
  readonly sourcePersona: string;
  readonly targetPersonaOrHuman: {
    readonly kind: 'persona' | 'human';
    readonly id?: string;
    readonly label?: string;
  };
  readonly task: string;
  readonly reason: string;
  readonly evidenceRefs: readonly EvidenceRef[];
  readonly filesOrEntitiesTouched: readonly string[];
  readonly openQuestions: readonly string[];
  readonly blockedOn: readonly string[];
  readonly requestedCapabilities: readonly string[];
  readonly allowedSideEffects: readonly string[];
  readonly budgetRemaining?: {
    readonly tokens?: number;
    readonly toolCalls?: number;
    readonly dollars?: number;
  };
  readonly deadlineCheckback?: { readonly deadline?: string; readonly checkbackAt?: string };
  /** From 0 to 1. */
  readonly confidence?: number;
  readonly receiptLinks: readonly ReceiptLink[];
  /** What the next one may reach at most. Never wider than what the call itself was under. */
  readonly policyOverride?: CapabilityPolicy;
  readonly createdAt: string;
  readonly metadata: JsonObject;
}

/**
 * How much of a handoff is taken. Nothing is cut: half a secret passes a cleaner that would have
 * masked the whole one.
 */
export const HANDOFF_LIMITS = Object.freeze({
  /** Characters of a name, an id, a label or a time. */
  name: 200,
  /** Characters of a path, an address or an entry of a list. */
  entry: 1_000,
  /** Characters of a task or a reason. */
  text: 8_000,
  /** Entries of a list. */
  entries: 100,
  /** Characters of the canonical JSON of `metadata`, and of `policyOverride`. */
  json: 8_000,
  /** How deep `metadata` may nest. */
  depth: 8,
});
