/** Sees to it that receipts arrive: what failed is kept and tried again, and what is under way is known. */

import type { Durability, Receipt } from '../../src/receipts/index.ts';
import type { Writer } from './write-receipts.ts';

/** A receipt that was handed to the sink. */
export interface Sent {
  readonly receipt: Receipt;
  readonly uri: string | null;
  /** Whether it was kept, once that is known; `null` when it was at once. Never rejects. */
  readonly kept: Promise<boolean> | null;
}

export interface Delivery {
  send(sessionId: string, build: (uri: string | null) => Receipt, durability: Durability): Sent;
  /** Tries what could not be delivered, in order, and rejects while it cannot. `null` when there is nothing to ask. */
  ready(sessionId: string): Promise<void> | null;
  /** Something could not be delivered and is still kept here. */
  readonly isDown: boolean;
  /** How many receipts could not be delivered at their time. */
  readonly failures: number;
  /** Receipts whose sink has not answered. */
  readonly underWay: number;
  /** Waits for everything under way, tries what failed once more, and lets go of the sink. Rejects if some are lost. */
  close(): Promise<void>;
}

/** With `keep`, what fails is held and tried again; without, it is counted and let go. */
export function deliverReceipts(writer: Writer, keep: boolean): Delivery {
  const failed: (() => Promise<void>)[] = [];
  const underWay = new Set<Promise<boolean>>();
  let failures = 0;
  let retrying: Promise<void> | null = null;

  const retryAll = async (): Promise<void> => {
    try {
      for (let again = failed[0]; again !== undefined; again = failed[0]) {
        await again();
        failed.shift();
      }
    } finally {
      retrying = null;
    }
  };
  // One at a time: two calls that try the same receipt at once would deliver it twice.
  const retry = (): Promise<void> => (retrying ??= retryAll());

  return {
    send(sessionId, build, durability) {
      const { receipt, uri, kept, again } = writer.write(sessionId, build, durability);
      if (kept === null) return { receipt, uri, kept };
      const settled: Promise<boolean> = kept.then(
        () => underWay.delete(settled),
        () => {
          failures += 1;
          if (keep) failed.push(again);
          underWay.delete(settled);
          return false;
        },
      );
      underWay.add(settled);
      return { receipt, uri, kept: settled };
    },
    ready: (sessionId) =>
      failed.length === 0
        ? writer.ready(sessionId)
        : retry().then(() => writer.ready(sessionId) ?? undefined),
    get isDown() {
      return failed.length > 0;
    },
    get failures() {
      return failures;
    },
    get underWay() {
      return underWay.size;
    },
    async close() {
      while (underWay.size > 0) await Promise.all(underWay);
      const lost = await retry().then(
        () => null,
        (thrown: unknown) => ({ thrown }),
      );
      await writer.close();
      if (lost !== null) throw lost.thrown;
    },
  };
}
