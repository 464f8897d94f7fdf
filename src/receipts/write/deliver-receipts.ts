/**
 * Sees to it that receipts arrive: what failed is kept and tried again, and what is under way is
 * known.
 */

import type {
  Durability,
  LocalReceiptSink,
  Receipt,
  ReceiptDraft,
  ReceiptSink,
} from '../receipt.ts';
import { receiptOf } from './create-receipt.ts';

/** A receipt that was handed to the sink. */
export interface Sent {
  /** Where it stands, for sinks that have places. */
  readonly uri: string | null;
  /** Whether it was kept, once that is known; `null` when it was at once. Never rejects. */
  readonly kept: Promise<boolean> | null;
}

/** Receipts on their way to a sink. */
export interface Delivery {
  send(sessionId: string, draft: ReceiptDraft, durability: Durability): Sent;
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
    send(sessionId, draft, durability) {
      const { uri, kept, again } = writer.write(sessionId, draft, durability);
      if (kept === null) return { uri, kept };
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
      return { uri, kept: settled };
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
  readonly uri: string | null;
  /** `null` when it is kept already; rejects when it could not be. */
  readonly kept: Promise<void> | null;
  /** Tries the same receipt once more. */
  readonly again: () => Promise<void>;
}

/** Takes drafts for a sink. A sink that throws makes `kept` reject; `write` itself never throws. */
interface Writer {
  write(sessionId: string, draft: ReceiptDraft, durability: Durability): Handed;
  /** Rejects when the sink knows that it cannot write; `null` when there is nothing to ask. */
  ready(sessionId: string): Promise<void> | null;
  close(): Promise<void>;
}

/** A function cannot say where a receipt stands or whether it is ready. */
function functionWriter(sink: ReceiptSink): Writer {
  return {
    write(_sessionId, draft) {
      const receipt = receiptOf(draft, null);
      const again = async () => {
        await sink(receipt);
      };
      return { uri: null, kept: started(() => sink(receipt)), again };
    },
    ready: () => null,
    close: async () => {},
  };
}

const NEVER = async (): Promise<void> => {};

/** A writer for the receipts on this machine. */
function localWriter(sink: LocalReceiptSink, owned: boolean): Writer {
  return {
    write(sessionId, draft, durability) {
      try {
        const { uri, kept } =
          sink.appendDraft?.(sessionId, draft, durability) ??
          sink.append(sessionId, (place) => receiptOf(draft, place), durability);
        // A sink that takes drafts keeps what it took, and tells by `ready` what became of it.
        if (durability === 'background' && sink.appendDraft !== undefined)
          return { uri, kept: null, again: NEVER };
        // A receipt that has its place stays with the sink, which tries again itself when it is
        // asked whether it is ready.
        return { uri, kept, again: async () => void (await sink.ready(sessionId)) };
      } catch (thrown) {
        // Made now: the record of a draft goes on changing until its call has ended.
        const receipt = receiptOf(draft, null);
        const again = async () =>
          sink.append(sessionId, (place) => placed(receipt, place), durability).kept;
        return { uri: null, kept: Promise.reject(asError(thrown)), again };
      }
    },
    ready: (sessionId) => started(() => sink.ready(sessionId)),
    close: async () => (owned ? sink.close() : sink.flush()),
  };
}

/** The same receipt for a place that was found later. */
const placed = (receipt: Receipt, uri: string): Receipt =>
  Object.freeze({ ...receipt, audit: Object.freeze({ ...receipt.audit, receipt_uri: uri }) });

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
