/**
 * A process that uses everything a state folder holds, folder by folder, and says what each use
 * came to. Its first argument is JSON: the folders, and whether to use them as somebody would who
 * trusts them.
 */

import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lineFile } from '../src/recording/line-file.ts';
import { fileOutputs } from '../src/dispatch/run/output-files.ts';
import { fileApprovals } from '../src/approvals/store/approval-stores.ts';
import { fileGrants } from '../src/approvals/grants/grant-stores.ts';
import { filePins } from '../src/pins/pin-stores.ts';
import { localReceiptSink } from '../src/receipts/write/local-receipt-sink.ts';
import { verifyReceipts } from '../src/receipts/read/verify-receipts.ts';
import { fileClaims } from '../src/stores/files/file-claims.ts';
import { receiptOf } from './benches/crash/sample-receipt.ts';

/** What the process is told. */
export interface UseOrders {
  readonly folders: readonly string[];
  readonly naive: boolean;
}

// Its parent wrote it.
const orders = JSON.parse(process.argv[2] ?? '{}') as UseOrders;

/**
 * Everything that was said about a folder: errors with their causes, warnings, and problems that
 * were found.
 */
let said: string[] = [];
process.on('warning', (warning) => void said.push(warning.message));

function say(thrown: unknown): void {
  if (!(thrown instanceof Error)) return void said.push(String(thrown));
  said.push(thrown.message);
  if (thrown.cause !== undefined) say(thrown.cause);
}

const uses: readonly ((state: string) => Promise<unknown>)[] = [
  async () => {
    const sink = localReceiptSink();
    await sink.append('session', () => receiptOf('call', 'session'), 'fsync').kept;
    await sink.close();
  },
  async (state) => {
    const { problems } = await verifyReceipts(join(state, 'receipts'));
    said.push(...problems.map(({ file, kind }) => `${join(state, 'receipts', file)}: ${kind}`));
  },
  async (state) => {
    const store = fileApprovals({ dir: join(state, 'approvals') });
    for (const { file, message } of await store.problems()) said.push(`${file}: ${message}`);
    await store.list();
  },
  async (state) => {
    const store = fileGrants({ dir: join(state, 'grants') });
    for (const { file, message } of await store.problems()) said.push(`${file}: ${message}`);
    await store.list();
  },
  async (state) => filePins({ dir: join(state, 'pins') }).update('files', (book) => book),
  async (state) => {
    const store = fileClaims({ dir: join(state, 'claims') });
    await store.claim('key', { fingerprint: 'f', leaseMs: 1000, token: 'second' });
    await store.renew('key', 'first', 1000);
  },
  async (state) => {
    const outputs = fileOutputs(join(state, 'outputs'));
    const { sha256 } = await outputs.write({
      sessionId: 'session',
      text: 'a large result',
      mediaType: 'text/plain',
    });
    await outputs.read({ sessionId: 'session', id: sha256, offset: 0, length: 100 });
  },
  async (state) => {
    const lines = lineFile(join(state, 'calls.recording'), false);
    lines.append('{"call":2}\n');
    await lines.close();
  },
];

/** The mistake that the test must find: files are what their names say. */
async function trustingly(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (existsSync(path) && statSync(path).isDirectory()) await trustingly(path);
    else {
      readFileSync(path);
      appendFileSync(path, 'more\n');
    }
  }
}

for (const state of orders.folders) {
  said = [];
  process.env.ALLIUM_STATE_DIR = state;
  if (orders.naive) await trustingly(state).catch(say);
  else for (const use of uses) await use(state).catch(say);
  // Warnings come a turn later.
  await new Promise((resolve) => setImmediate(resolve));
  process.stdout.write(`${JSON.stringify({ state, said })}\n`);
}
