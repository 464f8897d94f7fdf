/** Brings records to a sink that may fail or hang, without a call ever waiting for it. */

import { type Clock, clockOf, runWithin, type ToolCall } from '../../src/index.ts';
import type { HandoffRecord } from './handoff-record.ts';

/** Is told of every valid handoff. Gets a copy of its own; what it answers is ignored. */
export type HandoffSink = (record: HandoffRecord, call: ToolCall) => unknown;

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
