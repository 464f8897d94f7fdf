/**
 * A process that writes receipts and says so in a second file, until it is killed or done. Started
 * by the crash runs.
 */

import { openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describeThrown } from '../../../src/core/contract/errors.ts';
import { type Durability, localReceiptSink } from '../../../src/receipts/index.ts';
import { receiptOf } from './sample-receipt.ts';

/** What the process is told, as JSON in its first argument. */
export interface WriterOrders {
  readonly dir: string;
  /** Each receipt that was kept is named here, by a write that a kill cannot take back. */
  readonly acks: string;
  readonly keyFile: string;
  /** Begins every call id. */
  readonly name: string;
  /**
   * `buffered` is the mistake that the runs must find: it acknowledges what is still in its own
   * memory.
   */
  readonly kind: 'allium' | 'buffered';
  /** How many receipts; `null` means until it is killed. */
  readonly receipts: number | null;
  readonly maxFileBytes: number;
}

const SESSIONS = ['one', 'two'];
const DURABILITIES: readonly Durability[] = ['write', 'fsync', 'write'];
const LANES = 16;
const BUFFER_BYTES = 64 * 1024;

// Its parent wrote it.
const orders = JSON.parse(process.argv[2] ?? '{}') as WriterOrders;
const acks = openSync(orders.acks, 'a');
/** A disk that is full may also say so by a signal, which would end the process. */
process.on('SIGXFSZ', () => {});
process.stdout.write('ready\n');

type Keep = (callId: string, sessionId: string, turn: number) => Promise<void>;

function safely(): { keep: Keep; close: () => Promise<void> } {
  const { dir, keyFile, maxFileBytes } = orders;
  const sink = localReceiptSink({
    dir,
    key: false,
    signingKey: readFileSync(keyFile, 'utf8'),
    checkpointEvery: 16,
    maxFileBytes,
  });
  return {
    keep: (callId, sessionId, turn) =>
      sink.append(
        sessionId,
        () => receiptOf(callId, sessionId),
        DURABILITIES[turn % DURABILITIES.length] ?? 'write',
      ).kept,
    close: () => sink.close(),
  };
}

/** Collects lines in memory and writes them when there are enough, like many a logger. */
function buffered(): { keep: Keep; close: () => Promise<void> } {
  const file = openSync(join(orders.dir, 'buffered-00000000.jsonl'), 'a');
  let text = '';
  const write = (): void => {
    writeSync(file, text);
    text = '';
  };
  return {
    async keep(callId, sessionId) {
      text += `${JSON.stringify(receiptOf(callId, sessionId))}\n`;
      if (text.length > BUFFER_BYTES) write();
      await new Promise((resolve) => setImmediate(resolve));
    },
    close: async () => write(),
  };
}

const { keep, close } = orders.kind === 'allium' ? safely() : buffered();
let count = 0;

async function lane(): Promise<void> {
  while (orders.receipts === null || count < orders.receipts) {
    const turn = count++;
    const callId = `${orders.name}-${turn}`;
    try {
      await keep(callId, SESSIONS[turn % SESSIONS.length] ?? '', turn);
      writeSync(acks, `${callId}\n`);
    } catch (error) {
      process.stdout.write(`failed: ${describeThrown(error)}\n`);
    }
  }
}

await Promise.all(Array.from({ length: LANES }, lane));
await close().catch((error: unknown) => process.stdout.write(`failed: ${describeThrown(error)}\n`));
process.stdout.write('done\n');
