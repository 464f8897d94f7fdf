/** What is written down about a call: hashes and names, never an argument or a result. */

import { clockOf, definitionOf } from '../../core/onion/own-call.ts';
import type { ToolCall } from '../../core/contract/call.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import { canonicalHasher, type HashKey } from '../../core/json/hash-canonical.ts';
import type { JsonValue } from '../../core/json/json-value.ts';
import { accountOf } from '../../core/onion/account.ts';
import type { AuditRecord } from '../../core/contract/audit-record.ts';
import { hashOf } from '../../core/onion/conditions.ts';
import type { HashValue } from '../../core/onion/pass.ts';
import type { Receipt, ReceiptDraft, ReceiptFields } from '../receipt.ts';

/** How a call came out: what differs between a receipt and an intent. */
type Ending = Pick<
  Receipt,
  | 'record'
  | 'reason'
  | 'kind'
  | 'executor'
  | 'status'
  | 'error_category'
  | 'executed'
  | 'blocked_by'
  | 'duration_ms'
  | 'approved_hash'
  | 'executed_hash'
  | 'result_hash'
>;

/** The receipt of a call that has ended. `call` must be the one whose hash was chosen. */
export function buildReceipt(call: ToolCall, result: ToolResult, durationMs: number): ReceiptDraft {
  const { approvedArgs, executedArgs, blockedBy } = accountOf(result);
  const { audit = null, executed, status } = result;
  // `blockedBy` is written when the layer that turned the call away is left, and auditLog itself is
  // still at work here.
  const blocker = blockedBy ?? (status === 'audit_unavailable' ? 'auditLog' : null);
  const ending: Ending = {
    record: 'receipt',
    reason: textOr(audit?.reason) ?? textOr(audit?.summary),
    kind: textOr(audit?.kind) ?? call.annotations.kind ?? null,
    executor: result.executor ?? call.declaredExecutor,
    status,
    error_category: result.errorCategory,
    executed,
    blocked_by: blocker,
    duration_ms: Math.max(0, Math.round(durationMs * 1000) / 1000),
    approved_hash: hashOrNull(call, approvedArgs),
    // An executor may know that it never got as far as the tool.
    executed_hash: executed === 'no' ? null : hashOrNull(call, executedArgs),
    result_hash: hashOrNull(call, result.result),
  };
  return draftOf(call, ending, audit);
}

/** What is about to happen, as far as is known before the layers inside have seen the call. */
export const buildIntent = (call: ToolCall): ReceiptDraft => {
  const ending: Ending = {
    record: 'intent',
    reason: null,
    kind: call.annotations.kind ?? null,
    executor: call.declaredExecutor,
    status: null,
    error_category: null,
    executed: 'no',
    blocked_by: null,
    duration_ms: 0,
    approved_hash: null,
    executed_hash: null,
    result_hash: null,
  };
  return draftOf(call, ending, null);
};

function draftOf(call: ToolCall, ending: Ending, audit: AuditRecord | null): ReceiptDraft {
  const { sessionId, runId, model, provider, emitOrder } = call.turn;
  const iteration = countOr(call.turn.iteration);
  const requested = hashOf(call, call.toolArgs);
  const fields: { -readonly [K in keyof ReceiptFields]: ReceiptFields[K] } = {
    schema_version: 1,
    record: ending.record,
    session_id: sessionId,
    run_id: textOr(runId),
    tool_call_id: call.callId,
    tool_name: call.toolName,
    iteration,
    turn_index: iteration === 0 ? null : iteration - 1,
    emit_order: countOr(emitOrder),
    reason: ending.reason,
    kind: ending.kind,
    executor: ending.executor,
    status: ending.status,
    error_category: ending.error_category,
    executed: ending.executed,
    blocked_by: ending.blocked_by,
    duration_ms: ending.duration_ms,
    requested_hash: requested,
    approved_hash: ending.approved_hash,
    executed_hash: ending.executed_hash,
    args_hash: requested,
    result_hash: ending.result_hash,
    model: textOr(model),
    provider: textOr(provider),
  };
  const server = serverOf(call);
  if (server !== null) fields.server = server;
  const rule = ruleOf(audit, ending.blocked_by);
  if (rule !== null) fields.rule = rule;
  return { fields, audit, emittedMs: clockOf(call).now() };
}

const hashOrNull = (call: ToolCall, value: JsonValue | null): string | null =>
  value === null ? null : hashOf(call, value);

/**
 * The rule on the line of the layer that turned the call away; of a call that passed, the rule of
 * the outermost layer that names one.
 */
function ruleOf(audit: AuditRecord | null, blocker: string | null): string | null {
  const lines = audit?.layers ?? [];
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index];
    if (typeof line?.rule === 'string' && (blocker === null || line.name === blocker))
      return line.rule;
  }
  return null;
}

/**
 * Tools of MCP servers carry the host's name for their server. A tool that a layer renamed the call
 * to is looked up by its new name.
 */
function serverOf(call: ToolCall): string | null {
  const mcp = definitionOf(call)?.metadata?.mcp;
  return typeof mcp === 'object' && mcp !== null && 'server' in mcp ? textOr(mcp.server) : null;
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

/** `Array.isArray` does not take readonly lists for lists. */
const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);
