/**
 * Writes a handoff into the record of its call, and sends on what the stack's scrubs have left of
 * it.
 */

import type { ToolCall } from '../core/contract/call.ts';
import type { ToolResult } from '../core/contract/result.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import { whenEnded } from '../core/onion/account.ts';
import { clockOf } from '../core/onion/own-call.ts';
import { annotate } from '../core/onion/results.ts';
import type { Clock } from '../core/time/clock.ts';
import { runWithin } from '../core/time/run-within.ts';
import type { HandoffRecord } from './handoff-record.ts';
import type { HandoffReading } from './read-handoff.ts';

/** A reading that came to a record. */
type Taken = Extract<HandoffReading, { readonly record: HandoffRecord }>;

/** Notes the handoff on the result, and sends it once the call has ended. */
export function emitHandoff(
  call: ToolCall,
  result: ToolResult,
  taken: Taken,
  delivery: HandoffDelivery,
): ToolResult {
  const noted = recorded(result, taken);
  // A layer outside has the last word on the record, and has cleaned it only when the call has
  // ended. A handoff of its own is not this one's to send.
  void whenEnded(call).then(({ audit }) => {
    const clean = audit?.handoff;
    if (clean?.id === taken.record.id && clean.withheld !== true)
      delivery.send(ownCopy(clean), call);
  });
  const failures = delivery.failures();
  return failures === 0 ? noted : annotate(noted, {}, { sinkErrors: failures });
}

/**
 * What a scrub leaves of a record are other texts in the same form; a sink that writes into its
 * copy changes no audit.
 */
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

/** Is told of every valid handoff. Gets a copy of its own; what it answers is ignored. */
export type HandoffSink = (record: HandoffRecord, call: ToolCall) => unknown;

/** Records on their way to a sink that may fail or hang; no call waits for it. */
export interface HandoffDelivery {
  send(record: HandoffRecord, call: ToolCall): void;
  /** How many records the sink has not taken, as far as is known by now. */
  failures(): number;
  /** Waits for what is under way, but not for ever. */
  close(): Promise<void>;
}

/** With this many under way the sink hangs, and what comes on top would only fill the memory. */
const MAX_UNDER_WAY = 1_000;
const CLOSE_MS = 5_000;

/** Opens the way to the sink of the host. */
export function openDelivery(sink: HandoffSink | undefined): HandoffDelivery {
  const underWay = new Set<Promise<void>>();
  let failed = 0;
  let clock: Clock | null = null;
  const deliver = async (record: HandoffRecord, call: ToolCall): Promise<void> => {
    try {
      await sink?.(record, call);
    } catch {
      failed += 1;
    }
  };
  return {
    send(record, call) {
      if (sink === undefined) return;
      if (underWay.size >= MAX_UNDER_WAY) return void (failed += 1);
      clock = clockOf(call);
      const delivery = deliver(record, call).then(() => void underWay.delete(delivery));
      underWay.add(delivery);
    },
    failures: () => failed,
    async close() {
      if (clock === null || underWay.size === 0) return;
      const bounds = {
        clock,
        signal: new AbortController().signal,
        timeoutMs: CLOSE_MS,
        graceMs: 0,
      };
      await runWithin(bounds, () => Promise.all(underWay));
    },
  };
}
