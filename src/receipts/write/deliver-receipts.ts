/**
 * Sees to it that receipts arrive: what failed is kept and tried again, and what is under way is
 * known.
 */

import type { Durability, LocalReceiptSink, Receipt, ReceiptSink } from '../receipt.ts';
import { placed } from './build-receipt.ts';

/** A receipt that was handed to the sink. */
export interface Sent {
  readonly receipt: Receipt;
  readonly uri: string | null;
  /** Whether it was kept, once that is known; `null` when it was at once. Never rejects. */
  readonly kept: Promise<boolean> | null;
}

/** Receipts on their way to a sink. */
export interface Delivery {
  send(sessionId: string, build: (uri: string | null) => Receipt, durability: Durability): Sent;
  /**
   * Tries what could not be delivered, in order, and rejects while it cannot. `null` when there is
   * nothing to ask.
   */
  ready(sessionId: string): Promise<void> | null;
  /** Something could not be delivered and is still kept here. */
  readonly isDown: boolean;
  /** How many receipts could not be delivered at their time. */
  readonly failures: number;
  /** Receipts whose sink has not answered. */
  readonly underWay: number;
  /**
   * Waits for everything under way, tries what failed once more, and lets go of the sink. Rejects
   * if some are lost.
   */
  close(): Promise<void>;
}

/** How a sink is used. */
export interface DeliveryRules {
  /** Receipts that fail are held and tried again; without it, they are counted and let go. */
  readonly keep: boolean;
  /** The sink is closed with the delivery; one that was handed in is only waited for. */
  readonly owned: boolean;
}

/** Opens the way to a sink: a function that takes receipts, or the receipts on this machine. */
export function deliverReceipts(
  sink: ReceiptSink | LocalReceiptSink,
  { keep, owned }: DeliveryRules,
): Delivery {
  const writer = 'append' in sink ? localWriter(sink, owned) : functionWriter(sink);
  const failed = failedReceipts();
  const underWay = new Set<Promise<boolean>>();
  let failures = 0;

  return {
    send(sessionId, build, durability) {
      const { receipt, uri, kept, again } = writer.write(sessionId, build, durability);
      if (kept === null) return { receipt, uri, kept };
      const settled: Promise<boolean> = kept.then(
        () => underWay.delete(settled),
        () => {
          failures += 1;
          if (keep) failed.add(again);
          underWay.delete(settled);
          return false;
        },
      );
      underWay.add(settled);
      return { receipt, uri, kept: settled };
    },
    ready: (sessionId) =>
      failed.isEmpty
        ? writer.ready(sessionId)
        : failed.retry().then(() => writer.ready(sessionId) ?? undefined),
    get isDown() {
      return !failed.isEmpty;
    },
    get failures() {
      return failures;
    },
    get underWay() {
      return underWay.size;
    },
    async close() {
      while (underWay.size > 0) await Promise.all(underWay);
      const lost = await failed.retry().then(
        () => null,
        (thrown: unknown) => ({ thrown }),
      );
      await writer.close();
      if (lost !== null) throw lost.thrown;
    },
  };
}

interface FailedReceipts {
  add(again: () => Promise<void>): void;
  /** Tries them in their order, until one fails once more. */
  retry(): Promise<void>;
  readonly isEmpty: boolean;
}

function failedReceipts(): FailedReceipts {
  const failed: (() => Promise<void>)[] = [];
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
  return {
    add: (again) => void failed.push(again),
    // One at a time: two calls that try the same receipt at once would deliver it twice.
    retry: () => (retrying ??= retryAll()),
    get isEmpty() {
      return failed.length === 0;
    },
  };
}

/** A receipt that was handed to a writer. */
interface Handed {
  readonly receipt: Receipt;
  /** Where it stands, for sinks that have places. */
  readonly uri: string | null;
  /** `null` when it is kept already; rejects when it could not be. */
  readonly kept: Promise<void> | null;
  /** Tries the same receipt once more. */
  readonly again: () => Promise<void>;
}

/** Takes receipts for a sink. Whatever the sink does, only promises reject. */
interface Writer {
  write(sessionId: string, build: (uri: string | null) => Receipt, durability: Durability): Handed;
  /** Rejects when the sink knows that it cannot write; `null` when there is nothing to ask. */
  ready(sessionId: string): Promise<void> | null;
  close(): Promise<void>;
}

/** A function cannot say where a receipt stands or whether it is ready. */
function functionWriter(sink: ReceiptSink): Writer {
  return {
    write(_sessionId, build) {
      const receipt = build(null);
      const again = async () => {
        await sink(receipt);
      };
      return { receipt, uri: null, kept: started(() => sink(receipt)), again };
    },
    ready: () => null,
    close: async () => {},
  };
}

/** A writer for the receipts on this machine. */
function localWriter(sink: LocalReceiptSink, owned: boolean): Writer {
  return {
    write(sessionId, build, durability) {
      try {
        let receipt: Receipt | null = null;
        const { uri, kept } = sink.append(
          sessionId,
          (place) => (receipt = build(place)),
          durability,
        );
        // A receipt that has its place stays with the sink, which tries again itself when it is
        // asked whether it is ready.
        return {
          receipt: receipt ?? build(uri),
          uri,
          kept,
          again: async () => {
            await sink.ready(sessionId);
          },
        };
      } catch (thrown) {
        const receipt = build(null);
        const again = async () =>
          sink.append(sessionId, (place) => placed(receipt, place), durability).kept;
        return { receipt, uri: null, kept: started(() => Promise.reject(asError(thrown))), again };
      }
    },
    ready: (sessionId) => started(() => sink.ready(sessionId)),
    close: async () => (owned ? sink.close() : sink.flush()),
  };
}

/**
 * A receipt that is kept at once costs no wait. Strange promises are adopted: they settle once or
 * not at all.
 */
function started(task: () => unknown): Promise<void> | null {
  try {
    const answer = task();
    if (!isThenable(answer)) return null;
    return new Promise<unknown>((resolve) => resolve(answer)).then(() => {});
  } catch (thrown) {
    return Promise.reject(asError(thrown));
  }
}

const isThenable = (value: unknown): boolean =>
  (typeof value === 'object' || typeof value === 'function') &&
  value !== null &&
  'then' in value &&
  typeof value.then === 'function';

const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error('the sink failed', { cause: thrown });
