/**
 * From one tool to a governed set of tools: a call, a preview, a refusal, a batch, and what a
 * listener hears of them.
 */

import assert from 'node:assert/strict';
import { defineTool, governTools, toToolMessage } from 'allium';
import { dryRun, summary, timeout } from 'allium/middleware';

// #region first-tool
const orders = new Map([['A-1', { id: 'A-1', total: 40, state: 'shipped' }]]);

const findOrder = defineTool({
  name: 'find_order',
  description: 'Finds an order by its number.',
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string' } },
    required: ['id'],
    additionalProperties: false,
  },
  annotations: { kind: 'read', readOnly: true },
  execute({ id }) {
    const order = orders.get(id);
    if (order === undefined) throw new Error(`There is no order ${id}.`);
    return order;
  },
});
// #endregion first-tool

const refunds: string[] = [];

// #region stack
const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Pays an order back.',
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string' }, amount: { type: 'number', exclusiveMinimum: 0 } },
    required: ['id', 'amount'],
    additionalProperties: false,
  },
  annotations: { kind: 'edit', destructive: true },
  execute({ id, amount }) {
    refunds.push(id);
    return { id, refunded: amount };
  },
});

const governed = governTools({
  tools: [findOrder, refundOrder],
  layers: [
    summary((call, result) => `${call.toolName} ended ${result.status}`),
    dryRun({ only: ['refund_*'] }),
    timeout({ maxMs: 5_000 }),
  ],
});
// #endregion stack

// #region events
const heard: string[] = [];
const stopListening = governed.on('*', (event) => {
  heard.push(event.type === 'tool_call_update' ? `${event.type} ${event.status}` : event.type);
});
// #endregion events

// #region call
const found = await governed.call({ name: 'find_order', arguments: { id: 'A-1' } });

assert.equal(found.status, 'ok');
assert.equal(found.executed, 'yes');
assert.deepEqual(found.result, { id: 'A-1', total: 40, state: 'shipped' });
assert.equal(found.audit?.summary, 'find_order ended ok');
// #endregion call

assert.deepEqual(heard, [
  'tool_call',
  'tool_call_update in_progress',
  'tool_call_audit',
  'tool_call_update completed',
]);
stopListening();

// #region preview
const previewed = await governed.call({
  name: 'refund_order',
  arguments: '{"id": "A-1", "amount": 40}',
});

assert.equal(previewed.status, 'dry_run');
assert.equal(previewed.executed, 'no');
assert.deepEqual(refunds, []);
// #endregion preview

// #region refused
const written: string = 'find_ordre'; // A name in code would not compile; a model's is any text.
const misspelt = await governed.call({ name: written, arguments: { id: 'A-1' } });
const malformed = await governed.call({ name: 'find_order', arguments: '{"id": ' });
const failed = await governed.call({ name: 'find_order', arguments: { id: 'B-2' } });

assert.equal(misspelt.error, 'There is no tool "find_ordre". Did you mean "find_order"?');
assert.equal(malformed.status, 'schema_violation');
assert.equal(failed.status, 'executor_error');
assert.equal(failed.error, 'There is no order B-2.');
// #endregion refused

// #region batch
const results = await governed.batch(
  [
    { name: 'find_order', arguments: { id: 'A-1' }, id: 'call_1' },
    { name: 'refund_order', arguments: { id: 'A-1', amount: 40 }, id: 'call_2' },
  ],
  { maxConcurrent: 2, turn: { sessionId: 'support-7' } },
);
const messages = results.map((result) => toToolMessage(result, 'openai'));

assert.deepEqual(
  results.map((result) => result.toolCallId),
  ['call_1', 'call_2'],
);
// #endregion batch

// #region close
await governed.close();
// #endregion close

console.log(governed.explain());
console.log(`\n${JSON.stringify(messages, null, 2)}`);
