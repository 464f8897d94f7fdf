/** Writes a handoff into the record of its call, and sends on what the stack's scrubs have left of it. */

import {
  annotate,
  type JsonObject,
  type ToolCall,
  type ToolResult,
  whenEnded,
} from '../../src/index.ts';
import type { HandoffDelivery } from './handoff-delivery.ts';
import type { HandoffRecord } from './handoff-record.ts';
import type { HandoffReading } from './read-handoff.ts';

type Taken = Extract<HandoffReading, { readonly record: HandoffRecord }>;

export function emitHandoff(
  call: ToolCall,
  result: ToolResult,
  taken: Taken,
  delivery: HandoffDelivery,
): ToolResult {
  const noted = recorded(result, taken);
  // A layer outside has the last word on the record, and has cleaned it only when the call has ended. A handoff of its own is not this one's
  // to send.
  void whenEnded(call).then(({ audit }) => {
    const clean = audit?.handoff;
    if (clean?.id === taken.record.id && clean.withheld !== true)
      delivery.send(ownCopy(clean), call);
  });
  const failures = delivery.failures();
  return failures === 0 ? noted : annotate(noted, {}, { sinkErrors: failures });
}

/** What a scrub leaves of a record are other texts in the same form; a sink that writes into its copy changes no audit. */
const ownCopy = (clean: JsonObject): HandoffRecord =>
  structuredClone(clean) as unknown as HandoffRecord;

function recorded(result: ToolResult, { record, leftOut, tightened }: Taken): ToolResult {
  const noted = written(result, record, leftOut, tightened);
  const { policyOverride, ...rest } = record;
  if (JSON.stringify(noted.audit?.handoff?.policyOverride) === JSON.stringify(policyOverride))
    return noted;
  // A scrub that touched the policy may have taken a restriction out of it.
  return written(result, rest, [...leftOut, 'policyOverride'], false);
}

function written(
  result: ToolResult,
  record: HandoffRecord,
  leftOut: readonly string[],
  policyTightened: boolean,
): ToolResult {
  const line = { status: 'emitted', handoffId: record.id, policyTightened, leftOut };
  // The record is plain data with optional members, which is what JSON objects are.
  return annotate(result, { handoff: record as unknown as JsonObject, kind: 'handoff' }, line);
}
