/**
 * An audit log as somebody would write it in an hour: a hash of the JSON text, handed to the sink
 * after the call and not waited for. Errors of the sink are swallowed, and a call that was refused
 * before a tool ran looks like any other.
 */

import { createHash } from 'node:crypto';
import { defineLayer, type JsonValue, type ToolLayer } from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

type Sink = (receipt: object) => unknown;
type Given = Sink | string | { readonly sink: Sink | string; readonly redact?: readonly string[] };

const sha256 = (value: JsonValue, redact: readonly string[]): string => {
  const text = JSON.stringify(value, (name, item: unknown) =>
    redact.includes(name) ? undefined : item,
  );
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
};

function naiveAuditLog(given: Given): ToolLayer {
  const { sink, redact = [] } = typeof given === 'object' ? given : { sink: given };
  const send = async (receipt: object): Promise<unknown> =>
    typeof sink === 'function' ? sink(receipt) : undefined;
  return defineLayer({
    name: 'auditLog',
    observes: true,
    async caller(call, next) {
      const result = await next(call);
      const { status, executed, errorCategory } = result;
      const hash = sha256(call.toolArgs, redact);
      send({
        record: 'receipt',
        tool_call_id: call.callId,
        tool_name: call.toolName,
        status,
        error_category: errorCategory,
        executed,
        requested_hash: hash,
        executed_hash: hash,
        args_hash: hash,
        result_hash: sha256(result.result, redact),
        duration_ms: result.executionDurationMs,
      }).catch(() => {});
      return result;
    },
  });
}

export default createSubject({ name: 'naive audit-log', factories: { auditLog: naiveAuditLog } });

/** The scenarios it must fail. */
export const fails: readonly string[] = [
  'audit-log.answers-who-leaves-while-the-sink-is-slow',
  'audit-log.delivers-late-receipts-once',
  'audit-log.hashes-plainly-where-the-key-is-refused',
  'audit-log.keeps-a-refusal-a-refusal',
  'audit-log.keeps-cloud-receipts-on-the-event-while-prefetching',
  'audit-log.keeps-files-with-every-durability',
  'audit-log.lets-no-call-run-while-the-sink-is-down',
  'audit-log.lets-the-receipt-ride-on-the-event',
  'audit-log.names-the-key-of-its-hashes',
  'audit-log.records-every-ending',
  'audit-log.refuses-a-sink-nobody-knows',
  'audit-log.refuses-an-empty-key',
  'audit-log.runs-nothing-for-who-left-before-the-intent',
  'audit-log.runs-nothing-for-who-left-while-the-sink-was-down',
  'audit-log.runs-nothing-without-its-intent',
  'audit-log.stands-outside-consent',
  'audit-log.stands-outside-redaction',
  'audit-log.takes-no-intent-with-cloud',
  'audit-log.uses-the-key-of-the-files',
  'audit-log.waits-for-its-sink',
  'audit-log.warns-where-told',
  'audit-log.writes-an-intent-before-the-tool-runs',
];
