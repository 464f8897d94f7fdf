/**
 * Append what went in and what came out. What is naive: it stands where it is put and writes what
 * it sees there, which redaction outside has not cleaned yet on the way up, half a line of a dead
 * writer is written on, and nobody can tell a nested call.
 */

import { appendFileSync } from 'node:fs';
import { clockOf, defineLayer, type ToolLayer, toWire } from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

export function naiveRecord({ file }: { readonly file: string }): ToolLayer {
  let seq = 0;
  return defineLayer({
    name: 'record',
    async caller(call, next) {
      const { toolName, toolArgs, callId: toolCallId, turn } = call;
      const startMs = clockOf(call).now();
      const result = await next(call);
      const { audit: _, ...answer } = result;
      const times = {
        startedAt: new Date(startMs).toISOString(),
        durationMs: clockOf(call).now() - startMs,
      };
      const line = {
        schemaVersion: 1,
        record: 'call',
        writer: 'naive',
        seq,
        toolCallId,
        toolName,
        arguments: toolArgs,
        turn,
        ...times,
        answer,
      };
      appendFileSync(file, `${JSON.stringify(toWire(line))}\n`);
      seq += 1;
      return result;
    },
  });
}

export default createSubject({ name: 'naive record', factories: { record: naiveRecord } });

export const fails: readonly string[] = [
  'record.goes-on-in-a-file-that-was-cut-off',
  'record.must-stand-inside-redaction',
  'record.must-stand-outside-retry',
  'record.nested-calls-are-marked',
  'record.refuses-wrong-options',
  'record.what-is-redacted-is-not-in-the-file',
];
