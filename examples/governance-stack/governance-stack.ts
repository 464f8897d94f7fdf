/**
 * The captain stack end to end: eight calls, what became of each, its spans, and receipts that are
 * verified at the end.
 */

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApprovalPrompt, defineTool, governTools, type ToolResult, when } from 'allium';
import {
  auditLog,
  consent,
  dryRun,
  handoffArtifact,
  idempotency,
  rateLimit,
  redaction,
  requiredReason,
  type SpanRecord,
  summary,
  telemetry,
  terminalPrompt,
  timeout,
} from 'allium/middleware';
import { queryReceipts, verifyReceipts } from 'allium/receipts';

const state = await mkdtemp(join(tmpdir(), 'allium-governance-'));
process.env.ALLIUM_STATE_DIR = state;

/** Put together here, so that no scanner takes it for a real one. */
const TOKEN = ['gh', 'p_', '0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f'].join('');
const executed: string[] = [];
const objectOf = (...names: readonly string[]) =>
  ({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: names,
    additionalProperties: false,
  }) as const;

const tools = [
  defineTool({
    name: 'read_ticket',
    description: 'Reads a support ticket.',
    inputSchema: objectOf('ticket'),
    annotations: { kind: 'read', readOnly: true },
    execute(args) {
      executed.push('read_ticket');
      return { ...args, text: `The build is broken. My token is ${TOKEN}.` };
    },
  }),
  defineTool({
    name: 'refund',
    description: 'Pays an order back.',
    inputSchema: objectOf('order', 'amount'),
    annotations: { kind: 'execute', destructive: false },
    execute(args) {
      executed.push('refund');
      return { ...args, transaction: `t-${executed.length}` };
    },
  }),
  defineTool({
    name: 'delete_customer',
    description: 'Deletes a customer and all orders.',
    inputSchema: objectOf('customer'),
    annotations: { kind: 'delete' },
    execute: () => executed.push('delete_customer'),
  }),
  defineTool({
    name: 'send_mail',
    description: 'Sends a mail.',
    inputSchema: objectOf('to', 'text'),
    annotations: { kind: 'execute', destructive: false },
    execute: () => executed.push('send_mail'),
  }),
  defineTool({
    name: 'escalate',
    description: 'Hands the ticket to the engineers.',
    inputSchema: objectOf('ticket'),
    annotations: { kind: 'other', destructive: false },
    execute(args) {
      executed.push('escalate');
      const task = `Fix the build of ticket ${String((args as { ticket?: string }).ticket)}`;
      return {
        handoff: {
          targetPersonaOrHuman: { id: 'engineering' },
          task,
          reason: 'needs a code change',
        },
      };
    },
  }),
];

const spans: SpanRecord[] = [];
/** Says yes; with `--ask` on a terminal you are asked yourself. */
const supervisor: ApprovalPrompt = () => ({ decision: 'allow_once', decidedBy: 'supervisor' });

// #region stack
const governed = governTools({
  tools,
  layers: [
    auditLog('local'),
    telemetry((span) => spans.push(span)),
    summary((call, result) => `${call.toolName}: ${result.status}`),
    consent({
      rules: [
        { tool: 'delete_*', decision: 'deny' },
        { tool: 'refund', decision: 'ask' },
        { tool: '*', decision: 'allow' },
      ],
    }),
    requiredReason(),
    when(
      (tool) => tool.toolName === 'refund',
      idempotency({ mode: 'effect', key: (call) => JSON.stringify(call.toolArgs.order) }),
    ),
    redaction(),
    handoffArtifact({ source: 'support' }),
    when((tool) => tool.annotations.readOnly === true, idempotency()),
    rateLimit({ maxCalls: 20, windowMs: 60_000, per: 'session' }),
    dryRun({ only: ['send_*'] }),
    timeout({ maxMs: 5_000 }),
  ],
  prompts: [process.argv.includes('--ask') ? terminalPrompt() : supervisor],
});
// #endregion stack

console.log(`The stack, outermost first\n\n${governed.explain()}\n`);

const turn = { sessionId: 'support-42' };
const ask = async (title: string, name: string, args: object): Promise<ToolResult> => {
  const result = await governed.call({ name, arguments: args }, { turn });
  console.log(`── ${title}`);
  console.log(`   result    ${result.status}, executed: ${result.executed}`);
  console.log(`   model     ${result.renderedResult}`);
  const { consent: decision, handoff, layers = [] } = result.audit ?? {};
  console.log(
    `   onion     ${[...layers]
      .reverse()
      .map((line) => `${line.name} (${line.status})`)
      .join(' → ')}`,
  );
  if (decision !== undefined)
    console.log(`   consent   ${decision.decision} by ${decision.decidedBy}`);
  if (handoff !== undefined)
    console.log(
      `   handoff   to ${JSON.stringify(handoff.targetPersonaOrHuman)}: ${JSON.stringify(handoff.task)}`,
    );
  console.log();
  return result;
};

const results = [
  await ask('a read: the token in the ticket never comes out', 'read_ticket', {
    ticket: '7',
    reason: 'the customer asked',
  }),
  await ask('the same read again: answered from the cache', 'read_ticket', {
    ticket: '7',
    reason: 'the customer asked',
  }),
  await ask('a refund: somebody is asked', 'refund', {
    order: 'o-1',
    amount: '20',
    reason: 'broken on arrival',
  }),
  await ask('the same refund again: answered, not paid twice', 'refund', {
    order: 'o-1',
    amount: '20',
    reason: 'broken on arrival',
  }),
  await ask('a call without a reason', 'send_mail', { to: 'ada@example.org', text: 'Hello' }),
  await ask('a call that a rule denies', 'delete_customer', {
    customer: 'c-1',
    reason: 'wants to leave',
  }),
  await ask('a call that is only previewed', 'send_mail', {
    to: 'ada@example.org',
    text: 'Hello',
    reason: 'to confirm',
  }),
  await ask('a handoff', 'escalate', { ticket: '7', reason: 'I cannot fix it' }),
];
await governed.close();

console.log('── spans');
for (const { name, status, duration_ms: ms, child_spans: children } of spans) {
  console.log(
    `   ${name.padEnd(26)} ${status.padEnd(18)} ${children.length} layers, ${ms < 1_000 ? 'under a second' : 'slow'}`,
  );
}

// #region verify
const publicKey = await readFile(join(state, 'keys', 'receipts-ed25519.pub.pem'), 'utf8');
const folder = join(state, 'receipts');
const report = await verifyReceipts(folder, { publicKey });

assert.deepEqual(report.problems, []);
assert.equal(report.ok, true);
assert.equal(report.count, results.length);
// #endregion verify

console.log('\n── receipts');
for await (const receipt of queryReceipts(folder, {})) {
  const { tool_name: tool, status, blocked_by: blocker } = receipt;
  console.log(
    `   ${tool.padEnd(16)} ${String(status).padEnd(18)} ${blocker === null ? '' : `blocked by ${blocker}`}`.trimEnd(),
  );
}
console.log(
  `\n   ${report.count} receipts, chained and signed: ${report.ok ? 'unchanged' : 'CHANGED'}`,
);

// Whoever edits a receipt afterwards is found out.
const file = (await readdir(folder)).find((name) => name.endsWith('.jsonl')) ?? '';
await writeFile(
  join(folder, file),
  (await readFile(join(folder, file), 'utf8')).replace('consent_denied', 'ok'),
);
const edited = await verifyReceipts(folder, { publicKey });
console.log(
  `   after one receipt was edited: ${edited.ok ? 'unchanged' : `found in line ${edited.problems[0]?.line ?? '?'}`}`,
);

assert.equal(edited.ok, false);
assert.deepEqual(
  results.map((result) => [result.status, result.executed]),
  [
    ['ok', 'yes'],
    ['ok', 'no'],
    ['ok', 'yes'],
    ['ok', 'no'],
    ['schema_violation', 'no'],
    ['consent_denied', 'no'],
    ['dry_run', 'no'],
    ['ok', 'yes'],
  ],
);
assert.deepEqual(executed, ['read_ticket', 'refund', 'escalate']);
assert.equal(spans.length, results.length);
assert.ok(!JSON.stringify([results, spans]).includes(TOKEN));
await rm(state, { recursive: true });
