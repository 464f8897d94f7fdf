/**
 * Tools and hooks from Markdown files under the captain stack: a model makes a dozen calls, hooks
 * turn some away, receipts tell.
 */

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { governTools } from 'allium';
import { createScriptPool, loadArtifacts } from 'allium/artifacts';
import {
  auditLog,
  consent,
  dryRun,
  handoffArtifact,
  hooks,
  idempotency,
  rateLimit,
  redaction,
  requiredReason,
  summary,
  telemetry,
  timeout,
} from 'allium/middleware';
import { verifyReceipts } from 'allium/receipts';

const state = await mkdtemp(join(tmpdir(), 'allium-agent-'));
process.env.ALLIUM_STATE_DIR = state;
const project = 'examples/governed-agent/project';

// #region stack
const pool = createScriptPool();
const loaded = await loadArtifacts(project, { pool });

const governed = governTools({
  tools: loaded.tools,
  layers: [
    auditLog('local'),
    telemetry('noop'),
    summary((call, result) => `${call.toolName}: ${result.status}`),
    hooks({ hooks: loaded.hooks, pool }),
    consent({ rules: [{ tool: '*', decision: 'allow' }] }),
    requiredReason(),
    redaction(),
    handoffArtifact(),
    idempotency({ key: () => '' }),
    rateLimit({ maxCalls: 50 }),
    dryRun({ only: ['http_get'] }),
    timeout({ maxMs: 10_000 }),
  ],
});
// #endregion stack

/** What the model does, and what is to become of it. */
const script: readonly (readonly [string, object, string])[] = [
  ['read_file', { path: 'src/answer.js.txt' }, 'ok'],
  ['search_code', { pattern: 'TODO', path: 'src/answer.js.txt' }, 'ok'],
  ['run_command', { command: 'node', args: ['-e', 'console.log(6 * 7)'] }, 'ok'],
  ['read_file', { path: '../../../package.json' }, 'policy_blocked'],
  ['read_file', { path: '/etc/passwd' }, 'policy_blocked'],
  ['run_command', { command: 'rm', args: ['-rf', '/'] }, 'policy_blocked'],
  ['run_command', { command: '/bin/rm', args: ['-rf', '.'] }, 'policy_blocked'],
  ['run_command', { command: 'cat', args: ['src/answer.js.txt'] }, 'policy_blocked'],
  ['run_command', { command: '/usr/bin/curl', args: ['http://example.org'] }, 'policy_blocked'],
  ['http_get', { url: 'https://example.org/' }, 'dry_run'],
  ['read_file', { path: 'src/missing.txt' }, 'executor_error'],
  ['read_file', { file: 'src/answer.js.txt' }, 'schema_violation'],
];

const turn = { sessionId: 'agent-7' };
let count = 0;
for (const [name, args, expected] of script) {
  count += 1;
  const { status, executed, renderedResult } = await governed.call(
    { name, arguments: { ...args, reason: 'to do the task' } },
    { turn },
  );
  console.log(
    `${String(count).padStart(2)} ${name.padEnd(12)} ${status.padEnd(17)} ${renderedResult.split('\n')[0]?.slice(0, 90) ?? ''}`,
  );
  assert.equal(status, expected, `${name} ${JSON.stringify(args)}: ${renderedResult}`);
  if (expected === 'policy_blocked') assert.equal(executed, 'no');
}
await governed.close();
await loaded.close();
await pool.close();

const publicKey = await readFile(join(state, 'keys', 'receipts-ed25519.pub.pem'), 'utf8');
const report = await verifyReceipts(join(state, 'receipts'), { publicKey });
console.log(
  `\n${report.count} receipts, chained and signed: ${report.ok ? 'unchanged' : 'CHANGED'}`,
);

assert.deepEqual(report.problems, []);
assert.equal(report.count, script.length);
assert.equal(loaded.hooks.length, 3);
await rm(state, { recursive: true });
