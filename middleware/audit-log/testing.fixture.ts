/** Sinks and a stack shared by the tests of this folder. */

import { echoExecutor, makeCall, type PartialCall, testClock } from '../../conformance/index.ts';
import { composeToolCallers, type HashKey, type Next, type ToolLayer } from '../../src/index.ts';
import type { Durability, LocalReceiptSink, Receipt } from '../../src/receipts/index.ts';

/**
 * Runs one call through a stack on a standing clock, and tells what the executor was entered with.
 */
export async function runThrough(
  layers: readonly ToolLayer[],
  partial: PartialCall = {},
  next?: Next,
) {
  const clock = testClock();
  const echo = echoExecutor();
  const result = await composeToolCallers(layers, { clock })(makeCall(partial), next ?? echo);
  return { result, entered: echo.calls, clock };
}

export interface TroubledSink {
  (receipt: Receipt): Promise<void>;
  readonly receipts: readonly Receipt[];
  /** How often it was called. */
  readonly tries: number;
  /** Rejects while this is set. */
  failing: boolean;
}

/** A function sink that can be made to fail. */
export function troubledSink(failing = false): TroubledSink {
  const receipts: Receipt[] = [];
  let tries = 0;
  const sink = async (receipt: Receipt): Promise<void> => {
    tries += 1;
    if (self.failing) throw new Error('the disk is full: /srv/token-sk-123');
    receipts.push(receipt);
  };
  const self: TroubledSink = Object.assign(sink, { receipts, tries: 0, failing });
  Object.defineProperty(self, 'tries', { get: () => tries });
  return self;
}

export interface HeldSink {
  (receipt: Receipt): Promise<void>;
  readonly receipts: readonly Receipt[];
  /** Lets every receipt so far be kept. */
  release(): void;
  /** Lets every receipt so far fail. */
  break(): void;
}

/** A function sink that settles only when it is told to. */
export function heldSink(): HeldSink {
  const receipts: Receipt[] = [];
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const sink = (receipt: Receipt): Promise<void> => {
    receipts.push(receipt);
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  };
  return Object.assign(sink, {
    receipts,
    release: () => waiting.splice(0).forEach(({ resolve }) => resolve()),
    break: () => waiting.splice(0).forEach(({ reject }) => reject(new Error('no'))),
  });
}

export interface MemoryFiles extends LocalReceiptSink {
  readonly lines: readonly { readonly receipt: Receipt; readonly durability: Durability }[];
  readonly events: readonly string[];
  /** What is broken: places cannot be given, or what has a place cannot be written. */
  trouble: 'none' | 'append' | 'write';
}

/**
 * The port of the receipt files, in memory: one chain, and what failed is written when it is asked
 * whether it is ready.
 */
export function memoryFiles(key: HashKey | null = null): MemoryFiles {
  const lines: { receipt: Receipt; durability: Durability }[] = [];
  const pending: { receipt: Receipt; durability: Durability }[] = [];
  const events: string[] = [];
  let seq = 0;
  const demand = (...troubles: readonly MemoryFiles['trouble'][]) => {
    if (troubles.includes(files.trouble)) throw new Error('the file cannot be used');
  };
  const writeAll = async (): Promise<void> => {
    demand('append', 'write');
    lines.push(...pending.splice(0));
  };
  const append: LocalReceiptSink['append'] = (sessionId, build, durability) => {
    demand('append');
    seq += 1;
    const uri = `file:///receipts/${sessionId}.jsonl#seq=${seq}`;
    pending.push({ receipt: build(uri), durability });
    return { uri, kept: writeAll() };
  };
  const files: MemoryFiles = Object.assign(
    (receipt: Receipt) => append(receipt.session_id, () => receipt, 'write').kept,
    {
      ...{ key, publicKey: '', append, lines, events, trouble: 'none' as const },
      ready: writeAll,
      flush: async () => void events.push('flush'),
      close: async () => void events.push('close'),
    },
  );
  return files;
}
