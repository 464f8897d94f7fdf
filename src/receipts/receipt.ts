/**
 * The receipt of a call: what happened, by hash and never by value, in the form in which it is
 * written down.
 */

import type { JsonObject } from '../core/json/json-value.ts';
import type { HashKey } from '../core/json/hash-canonical.ts';

/**
 * One call, or with `record: 'intent'` what is about to happen. Fields that say nothing are `null`.
 */
export interface Receipt {
  readonly schema_version: 1;
  readonly record: 'receipt' | 'intent';
  readonly session_id: string;
  readonly run_id: string | null;
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly iteration: number;
  readonly turn_index: number | null;
  readonly emit_order: number;
  readonly reason: string | null;
  readonly kind: string | null;
  readonly executor: string | null;
  /** `null` in an intent: the call has not ended. */
  readonly status: string | null;
  readonly error_category: string | null;
  readonly executed: 'no' | 'yes' | 'unknown';
  /** The layer that turned the call away. */
  readonly blocked_by: string | null;
  readonly duration_ms: number;
  /**
   * The arguments as they came in, as they were approved, and as the tool was entered with
   * them.
   */
  readonly requested_hash: string;
  readonly approved_hash: string | null;
  readonly executed_hash: string | null;
  /** The same as `requested_hash`; spans carry it under this name. */
  readonly args_hash: string;
  readonly result_hash: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  /** The host's name for the MCP server of the tool. Absent for tools that have none. */
  readonly server?: string;
  /**
   * The rule that let the call pass, held it up or turned it away, such as `consent rule 2 (deny
   * write_*)`. Absent where no rule did.
   */
  readonly rule?: string;
  readonly audit: JsonObject | null;
  readonly emitted_at: string;
}

/** The fields that come before the audit record. */
export type ReceiptFields = Omit<Receipt, 'audit' | 'emitted_at'>;

/** All that a receipt is made of but its place. */
export interface ReceiptDraft {
  readonly fields: ReceiptFields;
  /** The audit record as it is in memory. */
  readonly audit: object | null;
  /** Wall clock in milliseconds since 1970. */
  readonly emittedMs: number;
}

/** When a receipt counts as kept: on disk, handed to the system, or some time later. */
export type Durability = 'fsync' | 'write' | 'background';

/**
 * Takes receipts. A promise is waited for; one that rejects means that the receipt was not kept.
 */
export type ReceiptSink = (receipt: Receipt) => unknown;

/** A receipt that has its place in the file. */
export interface Appended {
  /** `file://…#seq=<n>`, known before anything is written. */
  readonly uri: string;
  /**
   * Kept as the durability says; already kept for `background`. Rejects when it could not be
   * written.
   */
  readonly kept: Promise<void>;
}

/** The receipts on this machine: one file a session, chained and signed. */
export interface LocalReceiptSink {
  (receipt: Receipt): Promise<void>;
  /** The key its hashes are made with, or `null` for plain SHA-256. */
  readonly key: HashKey | null;
  /** The key that its checkpoints are verified with, as PEM text. */
  readonly publicKey: string;
  /**
   * Gives the receipt its place and URI at once, in the order of the calls, then writes it. `build`
   * gets the URI, because the receipt names itself. Throws when the file cannot be used.
   */
  append(sessionId: string, build: (uri: string) => Receipt, durability: Durability): Appended;
  /**
   * The same for a draft, which is laid out where its line is written from: no receipt is made of
   * it. A sink of the host's own may leave it out; `append` gets the receipts then.
   */
  appendDraft?(sessionId: string, draft: ReceiptDraft, durability: Durability): Appended;
  /**
   * Rejects when the session's file cannot be written to just now; tries what failed before once
   * more. `null` when nothing failed, and then there is nothing to wait for. Throws when the file
   * cannot be used.
   */
  ready(sessionId: string): Promise<void> | null;
  /** Waits until everything appended so far is written. Rejects when something could not be. */
  flush(): Promise<void>;
  /** Flushes, signs the ends and lets go of the files. */
  close(): Promise<void>;
}
