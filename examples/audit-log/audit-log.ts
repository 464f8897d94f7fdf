/**
 * Receipts of a small session: a call, a refusal, a sink that fails, and receipts on disk, in a
 * folder that is removed again.
 */

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ComposedCaller,
  composeToolCallers,
  defineTool,
  governTools,
  type JsonObject,
} from 'allium';
import { echoExecutor, makeCall, testClock } from 'allium/conformance';
import { auditLog, dryRun, requiredReason } from 'allium/middleware';
import type { Receipt } from 'allium/receipts';

const clock = testClock();
const transfer = makeCall({
  toolName: 'transfer',
  toolArgs: { amount: 40, pin: '1234', reason: 'rent for May' },
});

// #region function
const receipts: Receipt[] = [];
const recorded = composeToolCallers(
  [auditLog({ sink: (receipt) => receipts.push(receipt), redact: ['pin'] }), requiredReason()],
  {
    clock,
  },
);

await recorded(transfer, echoExecutor());
await recorded(makeCall({ toolName: 'transfer', toolArgs: { amount: 40 } }), echoExecutor());

assert.deepEqual(
  receipts.map(({ status, executed, blocked_by, reason }) => [
    status,
    executed,
    blocked_by,
    reason,
  ]),
  [
    ['ok', 'yes', null, 'rent for May'],
    ['schema_violation', 'no', 'requiredReason', null],
  ],
);
assert.notEqual(receipts[0]?.requested_hash, receipts[0]?.executed_hash);
assert.ok(!JSON.stringify(receipts).includes('1234'));
// #endregion function

// #region block
let down = true;
const strict = composeToolCallers([
  auditLog(async () => {
    if (down) throw new Error('the log server is away');
  }),
]);
const tool = echoExecutor();

const ran = await strict(transfer, tool);
const held = await strict(transfer, tool);
down = false;
const after = await strict(transfer, tool);

assert.deepEqual([ran.status, held.status, after.status], ['ok', 'audit_unavailable', 'ok']);
assert.equal(ran.audit?.layers.at(-1)?.status, 'sink_failed');
assert.equal(tool.calls.length, 2);
// #endregion block

const folder = await mkdtemp(join(tmpdir(), 'allium-example-'));
process.env.ALLIUM_STATE_DIR = folder;
try {
  await onDisk();
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function onDisk(): Promise<void> {
  const note = defineTool({
    name: 'write_note',
    description: 'Writes a note.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    annotations: { kind: 'edit' },
    execute: ({ text }) => ({ characters: text.length }),
  });

  // #region local
  const governed = governTools({
    tools: [note],
    layers: [auditLog({ sink: 'both', intent: true, durability: 'fsync' }), requiredReason()],
  });
  const onEvents: JsonObject[] = [];
  governed.on('tool_call_audit', ({ receipt }) => onEvents.push(receipt ?? {}));

  const result = await governed.call({
    name: 'write_note',
    arguments: { text: 'buy milk', reason: 'asked to' },
  });
  await governed.close();

  const [file = ''] = (await readdir(join(folder, 'receipts'))).filter((name) =>
    name.endsWith('.jsonl'),
  );
  const lines = (await readFile(join(folder, 'receipts', file), 'utf8')).trimEnd().split('\n');
  const records = lines.map((line) => (JSON.parse(line) as { record: string }).record);

  assert.deepEqual(
    records.filter((record) => record !== 'checkpoint'),
    ['intent', 'receipt'],
  );
  assert.match(result.audit?.receiptUri ?? '', /^file:\/\/.*\.jsonl#seq=2$/);
  assert.ok(!lines.join('').includes('milk'));
  assert.equal(onEvents[0]?.reason, 'asked to');
  // #endregion local
}

// #region order
const wrongOrder = (): ComposedCaller => composeToolCallers([dryRun(), auditLog('cloud')]);

assert.throws(wrongOrder, /"auditLog" must stand outside "dryRun"/);
// #endregion order

console.log(JSON.stringify(receipts[0], null, 2));
