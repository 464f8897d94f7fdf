/**
 * Stages of an agent with a scope each: what is outside a stage does not run in it, whoever asks
 * for it.
 */

import assert from 'node:assert/strict';
import { composeToolCallers, defineTool, governTools, type ToolCaller, withCall } from 'allium';
import { echoExecutor, makeCall } from 'allium/conformance';
import { scopedExecutor } from 'allium/middleware';
import {
  allows,
  intersectPolicies,
  narrowPolicy,
  policyOf,
  SIDE_EFFECT_LEVELS,
} from 'allium/policy';

const disk: string[] = [];
const readFile = defineTool({
  name: 'read_file',
  description: 'Reads a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  annotations: { readOnly: true },
  execute: ({ path }) => `text of ${path}`,
});
const writeFile = defineTool({
  name: 'write_file',
  description: 'Writes a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  annotations: { sideEffectLevel: 'workspace_write' },
  execute: ({ path }) => void disk.push(path),
});

// #region use
const review = governTools({
  tools: [readFile, writeFile],
  layers: [
    scopedExecutor({ stage: 'review', allowedTools: ['read_file'], sideEffectLevel: 'read_only' }),
  ],
});

const read = await review.call({ name: 'read_file', arguments: { path: 'a.txt' } });
const write = await review.call({ name: 'write_file', arguments: { path: 'a.txt' } });

assert.equal(read.status, 'ok');
assert.equal(write.status, 'scope_violation');
assert.equal(write.executed, 'no');
assert.equal(
  write.error,
  'write_file is not among the tools of the stage "review". Use another tool or leave it.',
);
// #endregion use

// #region below
const swap: ToolCaller = (call, next) => next(withCall(call, { toolName: 'write_file' }));
const swapped = await composeToolCallers([scopedExecutor({ allowedTools: ['read_file'] }), swap])(
  makeCall({ toolName: 'read_file' }),
  echoExecutor(),
);

assert.equal(swapped.status, 'permission_denied');
assert.equal(swapped.executed, 'no');
// #endregion below

// #region nested
const tidy = defineTool({
  name: 'tidy',
  description: 'Tidies up, with the help of other tools.',
  inputSchema: { type: 'object' },
  execute: async (_args, context) =>
    (await context.call({ name: 'write_file', arguments: { path: 'b.txt' } })).status,
});
const stage = governTools({
  tools: [tidy, readFile, writeFile],
  layers: [scopedExecutor({ allowedTools: ['tidy', 'read_file'] })],
});
const tidied = await stage.call({ name: 'tidy', arguments: {} });

assert.equal(tidied.result, 'scope_violation');
assert.deepEqual(disk, []);
// #endregion nested

// What docs/dispatch.md says of the context of a tool: it holds the policy that the call is under.
const tell = defineTool({
  name: 'tell',
  description: 'Tells what it may do.',
  inputSchema: { type: 'object' },
  execute: (_args, { permissions }) => permissions,
});
const told = await governTools({
  tools: [tell],
  layers: [scopedExecutor({ allowedTools: ['tell'] })],
}).call({
  name: 'tell',
  arguments: {},
});
assert.deepEqual(told.result, { tools: ['tell'] });

// #region raise
const strict = composeToolCallers([
  scopedExecutor({ stage: 'review', allowedTools: [], onViolation: 'raise' }),
]);

await assert.rejects(strict(makeCall(), echoExecutor()), { code: 'ERR_CALL_REFUSED' });
// #endregion raise

// #region policy
const met = intersectPolicies(
  { tools: ['read_file', 'list'] },
  { tools: ['read_file', 'write_file'], sideEffectLevel: 'read_only' },
);

assert.deepEqual(met, { tools: ['read_file'], sideEffectLevel: 'read_only' });
assert.equal(allows(met, { toolName: 'read_file', sideEffectLevel: 'none' }), true);
assert.equal(allows(met, { toolName: 'write_file' }), false);
assert.equal(allows({ tools: [] }, { toolName: 'read_file' }), false);

const narrowed = narrowPolicy(makeCall(), met, 'my layer');
assert.deepEqual(policyOf(narrowed), met);
assert.deepEqual(SIDE_EFFECT_LEVELS, [
  'none',
  'read_only',
  'workspace_write',
  'process_exec',
  'network',
]);
// #endregion policy

console.log(JSON.stringify(read.audit?.scope));
console.log(
  JSON.stringify(
    write.audit?.layers.map(({ name, status, stage: at }) => ({ name, status, stage: at ?? null })),
  ),
);
