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
import { receiptOf } from './build-receipt.ts';

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
  const failed: FailedReceipts = { tries: [], retrying: null };
  const underWay = new Set<Promise<boolean>>();
  let failures = 0;

  return {
    send(sessionId, draft, durability) {
      const { uri, kept, receipt } = writer.write(sessionId, draft, durability);
      if (kept === null) return { uri, kept };
      const settled: Promise<boolean> = kept.then(
        () => underWay.delete(settled),
        () => {
          failures += 1;
          if (keep) failed.tries.push(() => writer.again(sessionId, receipt, durability));
          underWay.delete(settled);
          return false;
        },
      );
      underWay.add(settled);
      return { uri, kept: settled };
    },
    ready: (sessionId) =>
      failed.tries.length === 0
        ? writer.ready(sessionId)
        : retry(failed).then(() => writer.ready(sessionId) ?? undefined),
    get isDown() {
      return failed.tries.length > 0;
    },
    get failures() {
      return failures;
    },
    get underWay() {
      return underWay.size;
    },
    async close() {
      while (underWay.size > 0) await Promise.all(underWay);
      const lost = await retry(failed).then(
        () => null,
        (thrown: unknown) => ({ thrown }),
      );
      await writer.close();
      if (lost !== null) throw lost.thrown;
    },
  };
}

/** What could not be delivered, oldest first. */
interface FailedReceipts {
  readonly tries: (() => Promise<void>)[];
  retrying: Promise<void> | null;
}

/**
 * Tries all in their order, until a receipt fails once more. One at a time: two calls that try the
 * same receipt at once would deliver it twice.
 */
const retry = (failed: FailedReceipts): Promise<void> => (failed.retrying ??= retryAll(failed));

async function retryAll(failed: FailedReceipts): Promise<void> {
  const { tries } = failed;
  try {
    for (let again = tries[0]; again !== undefined; again = tries[0]) {
      await again();
      tries.shift();
    }
  } finally {
    failed.retrying = null;
  }
}

/** A receipt that was handed to a writer. */
interface Handed {
  readonly uri: string | null;
  /** `null` when it is kept already; rejects when it could not be. */
  readonly kept: Promise<void> | null;
  /** What to hand over once more if it could not be; `null` where the sink has it. */
  readonly receipt: Receipt | null;
}

/** Takes drafts for a sink. A sink that throws makes `kept` reject; `write` itself never throws. */
interface Writer {
  write(sessionId: string, draft: ReceiptDraft, durability: Durability): Handed;
  /** Tries a receipt once more, by what `write` answered. */
  again(sessionId: string, receipt: Receipt | null, durability: Durability): Promise<void>;
  /** Rejects when the sink knows that it cannot write; `null` when there is nothing to ask. */
  ready(sessionId: string): Promise<void> | null;
  close(): Promise<void>;
}

/** A function cannot say where a receipt stands or whether it is ready. */
function functionWriter(sink: ReceiptSink): Writer {
  return {
    write(_sessionId, draft) {
      const receipt = receiptOf(draft, null);
      try {
        return { uri: null, kept: adopted(sink(receipt)), receipt };
      } catch (thrown) {
        return { uri: null, kept: Promise.reject(asError(thrown)), receipt };
      }
    },
    async again(_sessionId, receipt) {
      if (receipt !== null) await sink(receipt);
    },
    ready: () => null,
    close: async () => {},
  };
}

/** A writer for the receipts on this machine. */
function localWriter(sink: LocalReceiptSink, owned: boolean): Writer {
  return {
    write(sessionId, draft, durability) {
      try {
        const { uri, kept } =
          sink.appendDraft?.(sessionId, draft, durability) ??
          sink.append(sessionId, (place) => receiptOf(draft, place), durability);
        // A sink that takes drafts keeps what it took, and tells by `ready` what became of it.
        const isKept = durability === 'background' && sink.appendDraft !== undefined;
        return { uri, kept: isKept ? null : kept, receipt: null };
      } catch (thrown) {
        // Made now: the record of a draft goes on changing until its call has ended.
        const receipt = receiptOf(draft, null);
        return { uri: null, kept: Promise.reject(asError(thrown)), receipt };
      }
    },
    async again(sessionId, receipt, durability) {
      // A receipt that has its place stays with the sink, which tries again itself when it is asked
      // whether it is ready.
      await (receipt === null
        ? sink.ready(sessionId)
        : sink.append(sessionId, (place) => placed(receipt, place), durability).kept);
    },
    ready(sessionId) {
      try {
        const answer = sink.ready(sessionId);
        return answer === null ? null : adopted(answer);
      } catch (thrown) {
        return Promise.reject(asError(thrown));
      }
    },
    close: async () => (owned ? sink.close() : sink.flush()),
  };
}

/** The same receipt for a place that was found later. */
const placed = (receipt: Receipt, uri: string): Receipt =>
  Object.freeze({ ...receipt, audit: Object.freeze({ ...receipt.audit, receipt_uri: uri }) });

/**
 * `null` for a receipt that is kept at once, which costs no wait. Strange promises are adopted:
 * they settle once or not at all.
 */
function adopted(answer: unknown): Promise<void> | null {
  const isThenable =
    (typeof answer === 'object' || typeof answer === 'function') &&
    answer !== null &&
    'then' in answer &&
    typeof answer.then === 'function';
  return isThenable ? new Promise<unknown>((resolve) => resolve(answer)).then(() => {}) : null;
}

const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error('the sink failed', { cause: thrown });
