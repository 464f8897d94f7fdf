/**
 * Receipts as somebody would build them in an hour: all the fields, taken from the call as it came
 * in. The hashes are over `JSON.stringify`, arguments are taken for executed as they were asked
 * for, and nothing is null that did not happen.
 */

import { createHash } from 'node:crypto';
import {
  clockOf,
  defineLayer,
  type JsonValue,
  type ToolLayer,
  toWire,
} from '../../../src/layer.ts';
import type { Receipt } from '../../../src/receipts/index.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

const sha256 = (value: JsonValue): string =>
  `sha256:${createHash('sha256').update(JSON.stringify(value)).digest('hex')}`;

const textOr = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function naiveAuditLog(
  given: ((receipt: Receipt) => unknown) | { readonly sink: (receipt: Receipt) => unknown },
): ToolLayer {
  const sink = typeof given === 'function' ? given : given.sink;
  return defineLayer({
    name: 'auditLog',
    observes: true,
    async caller(call, next) {
      const { turn, toolArgs } = call;
      const startedAt = clockOf(call).now();
      const result = await next(call);
      const hash = sha256(toolArgs);
      await sink({
        schema_version: 1,
        record: 'receipt',
        session_id: turn.sessionId,
        run_id: turn.runId ?? null,
        tool_call_id: call.callId,
        tool_name: call.toolName,
        iteration: turn.iteration,
        turn_index: turn.iteration - 1,
        emit_order: turn.emitOrder ?? 0,
        reason: textOr(result.audit?.summary),
        kind: call.annotations.kind ?? null,
        executor: result.executor,
        status: result.status,
        error_category: result.errorCategory,
        executed: result.executed,
        blocked_by: null,
        duration_ms: clockOf(call).now() - startedAt,
        requested_hash: hash,
        approved_hash: hash,
        executed_hash: hash,
        args_hash: hash,
        result_hash: sha256(result.result),
        model: turn.model ?? null,
        provider: turn.provider ?? null,
        audit: result.audit === undefined ? null : toWire(result.audit),
        emitted_at: new Date(clockOf(call).now()).toISOString(),
      });
      return result;
    },
  });
}

export default createSubject({ name: 'naive receipts', factories: { auditLog: naiveAuditLog } });

/** The scenarios it must fail. */
export const fails: readonly string[] = [
  'receipts.gives-every-session-its-own-file',
  'receipts.has-the-agreed-fields',
  'receipts.hashes-canonical-json',
  'receipts.keeps-intents-in-the-chain',
  'receipts.keeps-the-hash-of-an-approval-that-ran-into-a-failure',
  'receipts.knows-its-place',
  'receipts.makes-session-names-safe',
  'receipts.names-the-rule-that-decided',
  'receipts.names-the-server-of-a-tool',
  'receipts.says-null-for-what-did-not-happen',
  'receipts.says-which-turn-it-was',
  'receipts.shows-an-edit-by-its-hash',
  'receipts.takes-the-kind-a-layer-said',
  'receipts.tells-a-timeout-from-an-error',
  'receipts.tells-asked-approved-and-executed-apart',
];
