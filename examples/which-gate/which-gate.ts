/** One small stack for each of the gates, so that a reader can tell them apart. */

import assert from 'node:assert/strict';
import { defineTool, governTools } from 'allium';
import { consent, permissions, scopedExecutor } from 'allium/middleware';
import { commandPolicy, networkPolicy, networkRequestOf, pathPolicy } from 'allium/policy';

// #region tools
const text = { type: 'string' } as const;
const deleteFile = defineTool({
  name: 'delete_file',
  description: 'Deletes a file.',
  inputSchema: { type: 'object', properties: { path: text }, required: ['path'] },
  proposedRequests: ({ path }) => [{ kind: 'filesystem.delete', path }],
  execute: ({ path }) => `deleted ${path}`,
});
const run = defineTool({
  name: 'run',
  description: 'Runs a line in a shell.',
  inputSchema: { type: 'object', properties: { line: text }, required: ['line'] },
  proposedRequests: ({ line }) => [{ kind: 'process.command', command: line }],
  execute: ({ line }) => `ran ${line}`,
});
const fetchPage = defineTool({
  name: 'fetch_page',
  description: 'Fetches a page.',
  inputSchema: { type: 'object', properties: { url: text }, required: ['url'] },
  proposedRequests: ({ url }) => [networkRequestOf(url)],
  execute: ({ url }) => `fetched ${url}`,
});
const tools = [deleteFile, run, fetchPage];
// #endregion tools

// #region consent
const asking = governTools({
  tools,
  layers: [consent({ rules: [{ tool: 'delete_*', decision: 'ask' }], default: 'allow' })],
  prompts: [() => ({ decision: 'allow_once', decidedBy: 'ada' })],
});
const deleted = await asking.call({ name: 'delete_file', arguments: { path: '/srv/a.txt' } });
assert.equal(deleted.approval?.decidedBy, 'ada');
// #endregion consent

// #region path
const paths = governTools({
  tools,
  layers: [permissions({ checkers: [pathPolicy({ roots: ['/srv'], protect: ['**/.env'] })] })],
});
const secret = await paths.call({ name: 'delete_file', arguments: { path: '/srv/.env' } });
assert.equal(secret.status, 'permission_denied');
// #endregion path

// #region command
const commands = governTools({
  tools,
  layers: [permissions({ checkers: [commandPolicy({ allow: ['git status'], unknown: 'deny' })] })],
});
const status = await commands.call({ name: 'run', arguments: { line: 'git status' } });
const both = await commands.call({ name: 'run', arguments: { line: 'git status; rm -rf build' } });
assert.deepEqual([status.status, both.status], ['ok', 'permission_denied']);
// #endregion command

// #region network
const hosts = governTools({
  tools,
  layers: [permissions({ checkers: [networkPolicy({ allow: ['example.org'] })] })],
});
const page = await hosts.call({ name: 'fetch_page', arguments: { url: 'https://example.org/a' } });
const inside = await hosts.call({
  name: 'fetch_page',
  arguments: { url: 'http://127.0.0.1/admin' },
});
assert.deepEqual([page.status, inside.status], ['ok', 'permission_denied']);
// #endregion network

// #region scope
const review = governTools({
  tools,
  layers: [scopedExecutor({ stage: 'review', allowedTools: ['fetch_page'] })],
});
const outside = await review.call({ name: 'run', arguments: { line: 'ls' } });
assert.equal(outside.status, 'scope_violation');
// #endregion scope

console.log(
  [deleted, secret, both, inside, outside]
    .map((result) => `${result.toolName}: ${result.status}`)
    .join('\n'),
);
