/** The two kinds of sinks behind one door: a function that takes receipts, and the receipts on this machine. */

import type {
  Durability,
  LocalReceiptSink,
  Receipt,
  ReceiptSink,
} from '../../src/receipts/index.ts';
import { placed } from './build-receipt.ts';

/** A receipt on its way. */
export interface Written {
  readonly receipt: Receipt;
  /** Where it stands, for sinks that have places. */
  readonly uri: string | null;
  /** `null` when it is kept already; rejects when it could not be. */
  readonly kept: Promise<void> | null;
  /** Tries the same receipt once more. */
  readonly again: () => Promise<void>;
}

/** Takes receipts for a sink. Whatever the sink does, only promises reject. */
export interface Writer {
  write(sessionId: string, build: (uri: string | null) => Receipt, durability: Durability): Written;
  /** Rejects when the sink knows that it cannot write; `null` when there is nothing to ask. */
  ready(sessionId: string): Promise<void> | null;
  close(): Promise<void>;
}

/** A function cannot say where a receipt stands or whether it is ready. */
export function functionWriter(sink: ReceiptSink): Writer {
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

/** `owned` sinks are closed with the layer; one that was handed in is only waited for. */
export function localWriter(sink: LocalReceiptSink, owned: boolean): Writer {
  return {
    write(sessionId, build, durability) {
      try {
        let receipt: Receipt | null = null;
        const { uri, kept } = sink.append(
          sessionId,
          (place) => (receipt = build(place)),
          durability,
        );
        // A receipt that has its place stays with the sink, which tries again itself when it is asked whether it is ready.
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

/** A receipt that is kept at once costs no wait. Strange promises are adopted: they settle once or not at all. */
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
