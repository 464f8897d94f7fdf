/** The result: what a call came to, frozen. */

import type { AuditRecord } from './audit-record.ts';
import type { ExecutorKind } from './call.ts';
import type { Content } from './content.ts';
import type { ErrorClass, Executed, ToolStatus } from './status.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';

export const BRAND: unique symbol = Symbol('allium.result');

/** Who allowed a call, and over which call exactly. */
export interface ApprovalRecord {
  readonly id: string;
  readonly decision: 'approved' | 'auto' | 'denied' | 'expired';
  readonly decidedBy: string;
  readonly decidedAt: string;
  readonly fingerprint: string;
  readonly reason?: string;
}

/** Why a call waits, and what would let it go on. */
export interface Interruption {
  readonly kind: 'approval_required' | 'auth_required';
  readonly id: string;
  readonly fingerprint: string;
  readonly shown: JsonObject;
  readonly options: readonly string[];
  readonly expiresAt?: string;
}

/** A large result kept aside. */
export interface OutputFileRef {
  readonly uri: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly mediaType: string;
}

export interface ToolResult {
  readonly ok: boolean;
  readonly status: ToolStatus;
  readonly toolName: string;
  readonly toolCallId: string;
  readonly arguments: JsonObject;
  /** The structured value. */
  readonly result: JsonValue | null;
  readonly content: Content;
  /** The text the model reads. */
  readonly renderedResult: string;
  readonly observation: string;
  /** For the model: no internals, says what to do instead. */
  readonly error: string | null;
  /** Equals the status on refusals; finer on executor errors. */
  readonly errorCategory: string | null;
  readonly errorClass: ErrorClass | null;
  readonly executor: ExecutorKind | null;
  /** Did the tool's side effects happen? */
  readonly executed: Executed;
  readonly approval: ApprovalRecord | null;
  readonly outputFiles: readonly OutputFileRef[];
  /** How long the tool took. Less than a millisecond is written as 0. */
  readonly executionDurationMs: number;
  readonly interruption?: Interruption;
  readonly metadata?: JsonObject;
  readonly audit?: AuditRecord;
  /** Makes a hand-made literal a type error. */
  readonly [BRAND]: object;
}
