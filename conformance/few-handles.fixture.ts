/**
 * A process with few file handles that makes governed calls while more and more of them are taken,
 * and says for each call what its result says and whether its tool ran. Its first argument is JSON:
 * a folder, and whether receipts go through a sink that opens its file when it writes.
 */

import { generateKeyPairSync } from 'node:crypto';
import { appendFileSync, closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { auditLog } from '../middleware/audit-log/audit-log.ts';
import { defineTool, governTools } from '../src/index.ts';
import { localReceiptSink } from '../src/receipts/index.ts';

/** What the process is told. */
export interface HandleOrders {
  readonly folder: string;
  readonly naive: boolean;
}

// Its parent wrote it.
const { folder, naive } = JSON.parse(process.argv[2] ?? '{}') as HandleOrders;
const signingKey = generateKeyPairSync('ed25519').privateKey;
const MAX_FREE = 16;

/** Takes all handles but so many. */
function takeHandles(free: number): () => void {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {
    for (const file of taken.splice(0, free)) closeSync(file);
  }
  return () => {
    for (const file of taken) closeSync(file);
  };
}

async function round(free: number): Promise<void> {
  const dir = join(folder, `free-${free}`);
  const local = localReceiptSink({ dir, key: false, signingKey, maxFileBytes: 4096 });
  // The mistake that the test must find: nobody asks before the tool runs, and what fails is
  // dropped.
  const forgetful = {
    sink: async (receipt: object) => appendFileSync(`${dir}.log`, JSON.stringify(receipt)),
    onSinkError: 'warn' as const,
  };
  const ran: string[] = [];
  const tool = defineTool({
    name: 'work',
    description: 'Works.',
    inputSchema: { type: 'object', properties: {} },
    execute: (_args, { callId }) => void ran.push(callId),
  });
  const governed = governTools({
    tools: [tool],
    layers: [auditLog(naive ? forgetful : { sink: local })],
  });
  const call = async (id: string, sessionId: string): Promise<void> => {
    const { executed, status } = await governed.call(
      { name: 'work', arguments: {}, id },
      { turn: { sessionId } },
    );
    process.stdout.write(
      `${JSON.stringify({ dir, id, executed, status, ran: ran.includes(id) })}\n`,
    );
  };
  // One session has its file before handles run out.
  await call('early', 'open');
  const release = takeHandles(free);
  for (let nth = 0; nth < 12; nth += 1) await call(`open-${nth}`, 'open');
  for (let nth = 0; nth < 6; nth += 1) await call(`new-${nth}`, `session-${nth % 3}`);
  await Promise.all(['a', 'b', 'c', 'd'].map((session) => call(`at-once-${session}`, session)));
  await governed.close().catch(() => {});
  await local.close().catch(() => {});
  release();
}

for (let free = 0; free <= MAX_FREE; free += 1) await round(free);
process.stdout.write('done\n');
