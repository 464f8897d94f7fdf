/** A model that has to say why: what it is shown, what it is told, and what the record keeps. */

import assert from 'node:assert/strict';
import { composeToolCallers, defineTool, exportTools, governTools } from 'allium';
import { echoExecutor, makeCall } from 'allium/conformance';
import { declaresParameter } from 'allium/layer';
import { requiredReason } from 'allium/middleware';

// #region use
const entered: object[] = [];
const deleteFile = defineTool({
  name: 'delete_file',
  description: 'Deletes a file.',
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string' } },
    required: ['path'],
    additionalProperties: false,
  },
  execute: (args) => entered.push(args),
});
const governed = governTools({ tools: [deleteFile], layers: [requiredReason({ minLength: 8 })] });

const done = await governed.call({
  name: 'delete_file',
  arguments: { path: 'a.txt', reason: 'a duplicate of b.txt' },
});
const told = await governed.call({
  name: 'delete_file',
  arguments: { path: 'a.txt', reason: 'why not' },
});

assert.equal(done.audit?.reason, 'a duplicate of b.txt');
assert.deepEqual(entered, [{ path: 'a.txt' }]);
assert.equal(told.status, 'schema_violation');
// #endregion use

// #region shown
const [shown] = governed.tools;

assert.deepEqual(shown?.inputSchema.required, ['path', 'reason']);
assert.equal(declaresParameter(deleteFile.inputSchema, 'reason'), false);
assert.equal(shown && exportTools([shown], 'openai', { strict: true }).length, 1);
// #endregion shown

// #region blank
const lenient = composeToolCallers([requiredReason({ onMissing: 'fill_blank' })]);
const unsaid = await lenient(makeCall({ toolArgs: { path: 'a.txt' } }), echoExecutor());

assert.equal(unsaid.status, 'ok');
assert.equal(unsaid.audit?.summary, '(no reason given)');
assert.equal(unsaid.audit.reasonMissing, true);
// #endregion blank

// #region owned
const schema = { type: 'object', properties: { reason: { type: 'string' } } };
const refund = await composeToolCallers([requiredReason()])(
  makeCall({ schema, toolArgs: { reason: 'damaged' } }),
  echoExecutor(),
);

assert.deepEqual(refund.result, { reason: 'damaged' });
assert.equal(refund.audit?.reason, 'damaged');
// #endregion owned

console.log(told.error);
console.log(
  JSON.stringify({
    summary: unsaid.audit.summary,
    reason: unsaid.audit.reason,
    reasonMissing: unsaid.audit.reasonMissing,
  }),
);
