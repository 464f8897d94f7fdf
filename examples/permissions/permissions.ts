/**
 * Tools that say what they are about to do, and policies that decide about it right before they do.
 */

import assert from 'node:assert/strict';
import { type ApprovalPrompt, defineTool, governTools } from 'allium';
import { consent, permissions, requiredReason } from 'allium/middleware';
import { commandPolicy, pathPolicy, rulesPolicy } from 'allium/policy';

const done: string[] = [];
const text = { type: 'string' } as const;

// #region tools
const writeFile = defineTool({
  name: 'write_file',
  description: 'Writes a file.',
  inputSchema: { type: 'object', properties: { path: text, text }, required: ['path'] },
  proposedRequests: ({ path }) => [{ kind: 'filesystem.write', path }],
  execute: ({ path }) => void done.push(`wrote ${path}`),
});
const run = defineTool({
  name: 'run',
  description: 'Runs a line in a shell.',
  inputSchema: { type: 'object', properties: { line: text }, required: ['line'] },
  proposedRequests: ({ line }) => [{ kind: 'process.command', command: line }],
  execute: ({ line }) => void done.push(`ran ${line}`),
});
const dropTable = defineTool({
  name: 'drop_table',
  description: 'Drops a table.',
  inputSchema: { type: 'object', properties: { table: text }, required: ['table'] },
  execute: ({ table }) => void done.push(`dropped ${table}`),
});
// #endregion tools

// #region use
const guarded = permissions({
  checkers: [
    pathPolicy({ roots: [process.cwd()], protect: ['**/.env'] }),
    commandPolicy({ allow: ['git status'], deny: ['rm'] }),
    rulesPolicy({
      rules: [
        { id: 'no_drops', decision: 'deny', tool: 'drop_*', reason: 'tables are dropped by hand' },
      ],
    }),
  ],
  fallback: 'ask',
});
const governed = governTools({ tools: [writeFile, run, dropTable], layers: [guarded] });
const call = (name: string, args: object) => governed.call({ name, arguments: args });

const allowed = await call('write_file', { path: `${process.cwd()}/notes.md` });
assert.equal(allowed.status, 'ok');
assert.deepEqual(allowed.audit?.permissions, {
  decision: 'allow',
  by: 'pathPolicy',
  code: 'path_inside',
  requests: ['tool.call', 'filesystem.write'],
});

const outside = await call('write_file', { path: '/etc/passwd' });
assert.equal(outside.status, 'permission_denied');

const dropped = await call('drop_table', { table: 'users' });
assert.equal(
  dropped.error,
  'drop_table is not allowed: tables are dropped by hand. Change the call or leave it.',
);

const waiting = await call('run', { line: 'npm publish' });
assert.equal(waiting.status, 'approval_required');
const resumed = await governed.resume(waiting.interruption?.id ?? '', {
  decision: 'allow_once',
  decidedBy: 'ada',
});
assert.equal(resumed.approval?.decidedBy, 'ada');
// #endregion use
assert.deepEqual(done.splice(0), [`wrote ${process.cwd()}/notes.md`, 'ran npm publish']);

// #region edited
const edit: ApprovalPrompt = ({ shown }) => {
  assert.deepEqual(shown.requests, [{ kind: 'process.command', command: 'npm publish' }]);
  return { decision: 'allow_once', decidedBy: 'ada', args: { line: 'rm -rf build' } };
};
const edited = governTools({ tools: [run], layers: [guarded], prompts: [edit] });
const refused = await edited.call({ name: 'run', arguments: { line: 'npm publish' } });
assert.equal(refused.status, 'permission_denied');
// #endregion edited

// #region shadow
const wouldRefuse: string[] = [];
const trial = permissions({
  checkers: [commandPolicy({ allow: ['git status'] })],
  shadow: ({ shadow = [] }) =>
    wouldRefuse.push(...shadow.map(({ decision, by }) => `${by}: ${decision}`)),
});
const tried = await governTools({ tools: [run], layers: [trial] }).call({
  name: 'run',
  arguments: { line: 'npm test' },
});
assert.equal(tried.status, 'ok');
assert.deepEqual(wouldRefuse, ['commandPolicy: require_approval']);
// #endregion shadow

// #region hide
const hiding = permissions({
  checkers: [rulesPolicy({ rules: [{ decision: 'deny', tool: 'drop_*' }] })],
  hide: true,
});
const shown = governTools({ tools: [writeFile, run, dropTable], layers: [hiding] }).tools.map(
  ({ name }) => name,
);
assert.deepEqual(shown, ['write_file', 'run']);
// #endregion hide

// #region ordering
const seen: unknown[] = [];
const looking = permissions({
  checkers: [({ call: { toolArgs } }) => (seen.push(toolArgs), 'allow')],
});
const asked: unknown[] = [];
const asking = consent(({ toolArgs }) => (asked.push(toolArgs), true));
for (const layers of [
  [asking, looking, requiredReason()],
  [asking, requiredReason(), looking],
])
  await governTools({ tools: [dropTable], layers }).call({
    name: 'drop_table',
    arguments: { table: 'a', reason: 'asked to' },
  });

// Consent sees the call where it stands; permissions see it as the tool gets it, wherever they
// stand.
assert.deepEqual(asked, Array(2).fill({ table: 'a', reason: 'asked to' }));
assert.deepEqual(seen, Array(2).fill({ table: 'a' }));
// #endregion ordering

console.log(
  `allowed: ${allowed.status}; outside: ${outside.status}; dropped: ${dropped.status}; asked: ${waiting.status}, then ${resumed.status}`,
);
