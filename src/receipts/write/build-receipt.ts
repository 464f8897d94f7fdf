/**
 * What is written down about a call: hashes and names, never an argument or a result. First a draft
 * of it, and of that a receipt that can be written, whatever is in it, or its bytes.
 */

import { clockOf, definitionOf } from '../../core/onion/own-call.ts';
import type { ToolCall } from '../../core/contract/call.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import { canonicalHasher, type HashKey } from '../../core/json/hash-canonical.ts';
import { bytes, NOT_PLAIN, writesSoFar } from '../../core/json/json-bytes.ts';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { accountOf } from '../../core/onion/account.ts';
import type { AuditRecord } from '../../core/contract/audit-record.ts';
import { hashOf } from '../../core/onion/conditions.ts';
import type { HashValue } from '../../core/onion/pass.ts';
import { isoTime } from '../../core/time/clock.ts';
import { toWire } from '../../core/wire/wire.ts';
import { writeWire } from '../../core/wire/wire-bytes.ts';
import type { Receipt, ReceiptDraft, ReceiptFields } from '../receipt.ts';

/** The receipt of a call that has ended. `call` must be the one whose hash was chosen. */
export function buildReceipt(call: ToolCall, result: ToolResult, durationMs: number): ReceiptDraft {
  const { approvedArgs, executedArgs, blockedBy } = accountOf(result);
  const { audit = null, executed, status } = result;
  const fields = intentFields(call);
  fields.record = 'receipt';
  fields.reason = textOr(audit?.reason) ?? textOr(audit?.summary);
  fields.kind = textOr(audit?.kind) ?? fields.kind;
  fields.executor = result.executor ?? fields.executor;
  fields.status = status;
  fields.error_category = result.errorCategory;
  fields.executed = executed;
  // `blockedBy` is written when the layer that turned the call away is left, and auditLog itself is
  // still at work here.
  fields.blocked_by = blockedBy ?? (status === 'audit_unavailable' ? 'auditLog' : null);
  fields.duration_ms = Math.max(0, Math.round(durationMs * 1000) / 1000);
  if (approvedArgs !== null) fields.approved_hash = hashOf(call, approvedArgs);
  // An executor may know that it never got as far as the tool.
  if (executed !== 'no' && executedArgs !== null) fields.executed_hash = hashOf(call, executedArgs);
  if (result.result !== null) fields.result_hash = hashOf(call, result.result);
  const rule = audit === null ? null : ruleOf(audit, fields.blocked_by);
  if (rule !== null) fields.rule = rule;
  return { fields, audit, emittedMs: clockOf(call).now() };
}

/** What is about to happen, as far as is known before the layers inside have seen the call. */
export const buildIntent = (call: ToolCall): ReceiptDraft => ({
  fields: intentFields(call),
  audit: null,
  emittedMs: clockOf(call).now(),
});

function intentFields(call: ToolCall): { -readonly [K in keyof ReceiptFields]: ReceiptFields[K] } {
  const { turn } = call;
  const iteration = countOr(turn.iteration);
  const requested = hashOf(call, call.toolArgs);
  const fields: ReturnType<typeof intentFields> = {
    schema_version: 1,
    record: 'intent',
    session_id: turn.sessionId,
    run_id: textOr(turn.runId),
    tool_call_id: call.callId,
    tool_name: call.toolName,
    iteration,
    turn_index: iteration === 0 ? null : iteration - 1,
    emit_order: countOr(turn.emitOrder),
    reason: null,
    kind: call.annotations.kind ?? null,
    executor: call.declaredExecutor,
    status: null,
    error_category: null,
    executed: 'no',
    blocked_by: null,
    duration_ms: 0,
    requested_hash: requested,
    approved_hash: null,
    executed_hash: null,
    args_hash: requested,
    result_hash: null,
    model: textOr(turn.model),
    provider: textOr(turn.provider),
  };
  // Tools of MCP servers carry the host's name for their server. A tool that a layer renamed the
  // call to is looked up by its new name.
  const mcp = definitionOf(call)?.metadata?.mcp;
  const isServed = typeof mcp === 'object' && mcp !== null && 'server' in mcp;
  if (isServed && typeof mcp.server === 'string') fields.server = mcp.server;
  return fields;
}

/**
 * The rule on the line of the layer that turned the call away; of a call that passed, the rule of
 * the outermost layer that names one.
 */
function ruleOf({ layers: lines }: AuditRecord, blocker: string | null): string | null {
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index];
    if (typeof line?.rule === 'string' && (blocker === null || line.name === blocker))
      return line.rule;
  }
  return null;
}

const textOr = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** A turn comes from the host: its receipt must be written also with a wrong count. */
const countOr = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;

/**
 * Hashes values without the members that `redact` names, at every depth. Never throws for a JSON
 * value.
 */
export function hashValues(redact: readonly string[], key: HashKey | null): HashValue {
  const dropped = new Set(redact);
  const hashed = canonicalHasher(key === null ? {} : { key });
  return (value) => {
    const kept = dropped.size === 0 ? value : without(value, dropped);
    try {
      return hashed(kept);
    } catch {
      // Half a surrogate pair has no bytes. Its escaped text has, and what has run must have a
      // hash.
      return hashed(JSON.stringify(kept));
    }
  };
}

function without(value: JsonValue, dropped: ReadonlySet<string>): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((item) => without(item, dropped));
  const kept = Object.entries(value).filter(([name]) => !dropped.has(name));
  return Object.fromEntries(kept.map(([name, item]) => [name, without(item, dropped)]));
}

/** What comes behind the fields of a receipt. */
export interface ReceiptEnd extends Omit<ReceiptDraft, 'fields'> {
  /** Where the receipt will stand in a file, or `null` where it goes elsewhere. */
  readonly uri: string | null;
}

/**
 * A frozen receipt with whole characters and of limited depth: one that cannot be written would
 * hold up every call after it.
 */
export function createReceipt(
  fields: ReceiptFields,
  { audit, uri, emittedMs }: ReceiptEnd,
): Receipt {
  const named = uri === null ? audit : { ...audit, receiptUri: uri };
  return wellFormed({
    ...fields,
    audit: named === null ? null : wireAudit(named),
    emitted_at: isoTime(emittedMs),
  });
}

/** The receipt of a draft. An intent does not name its place: it has no audit record. */
export function receiptOf({ fields, audit, emittedMs }: ReceiptDraft, uri: string | null): Receipt {
  const place = fields.record === 'intent' ? null : uri;
  return createReceipt(fields, { audit, uri: place, emittedMs });
}

const COMMA = 0x2c;
const AUDIT_LABEL = Buffer.from(',"audit":');

/**
 * Writes the JSON of the receipt that `receiptOf` makes, without its closing brace, at the
 * beginning of `bytes`. Answers its length, or `NOT_PLAIN` where `receiptOf` has to say what
 * becomes of the draft. In four parts, because to spread fields or record costs more than all of
 * this; each part is written over the brace that closes the one before.
 */
export function layOut({ fields, audit, emittedMs }: ReceiptDraft, uri: string): number {
  const isPlaced = audit !== null && ('receiptUri' in audit || 'receipt_uri' in audit);
  if (audit === null || isPlaced || fields.record === 'intent') return NOT_PLAIN;
  const before = writesSoFar;
  const head = writeWire(fields, 0);
  if (head === NOT_PLAIN) return NOT_PLAIN;
  bytes.set(AUDIT_LABEL, head - 1);
  const start = head - 1 + AUDIT_LABEL.length;
  const record = writeWire(audit, start);
  const isEmpty = record === start + '{}'.length;
  if (record === NOT_PLAIN || isEmpty) return NOT_PLAIN;
  const whole = writeWire({ receiptUri: uri }, record - 1);
  if (whole === NOT_PLAIN) return NOT_PLAIN;
  const end = writeWire({ emitted_at: isoTime(emittedMs) }, whole);
  // A getter in the record may have had something else written into `bytes` meanwhile.
  if (end === NOT_PLAIN || writesSoFar !== before + 4) return NOT_PLAIN;
  bytes[record - 1] = COMMA;
  bytes[whole] = COMMA;
  return end - 1;
}

/**
 * A copy. Two names that become one are no reason to lose the record; it then keeps the names it
 * has in memory.
 */
function wireAudit(audit: object): JsonObject {
  try {
    return toWire(audit);
  } catch {
    return cleaned(audit as JsonObject, 1) as JsonObject; // Layers can only write JSON into it.
  }
}

const MAX_DEPTH = 64;

/** The fields keep their names and kinds, so it is still a receipt. */
function wellFormed(receipt: Receipt): Receipt {
  const members = receipt as unknown as JsonObject;
  return isClean(members, 0) ? Object.freeze(receipt) : (cleaned(members, 0) as unknown as Receipt);
}

/** Nearly every receipt is, and finding that out costs less than copying it. */
function isClean(value: JsonValue, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  if (isList(value)) return value.every((item) => isClean(item, depth + 1));
  for (const name of Object.keys(value))
    if (!name.isWellFormed() || !isClean(value[name] ?? null, depth + 1)) return false;
  return true;
}

function cleaned(value: JsonValue, depth: number): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '…';
  if (isList(value)) return Object.freeze(value.map((item) => cleaned(item, depth + 1)));
  return Object.freeze(
    Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name.toWellFormed(), cleaned(item, depth + 1)]),
    ),
  );
}

/** `Array.isArray` does not take readonly lists for lists. */
const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);
