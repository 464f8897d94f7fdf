/** A short, honest tour: three tools, four layers, five calls, and what was really executed. Needs nothing but Node. */

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { defineLayer, defineTool, governTools, refuse, type ToolEvent, type ToolResult } from 'allium';
import { dryRun, summary, timeout } from 'allium/middleware';

const workspace = await mkdtemp(join(tmpdir(), 'allium-demo-'));
await writeFile(join(workspace, 'notes.txt'), 'Peel from the outside in.\n');
const executed: string[] = [];

const readNote = defineTool({
  name: 'read_note',
  description: 'Reads a note of the workspace.',
  inputSchema: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'], additionalProperties: false },
  annotations: { kind: 'read', readOnly: true },
  async execute({ file }) {
    executed.push(`read_note ${file}`);
    return readFile(join(workspace, file), 'utf8');
  },
});

const deleteNote = defineTool({
  name: 'delete_note',
  description: 'Deletes a note of the workspace.',
  inputSchema: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'], additionalProperties: false },
  annotations: { kind: 'delete' },
  async execute({ file }) {
    executed.push(`delete_note ${file}`);
    await rm(join(workspace, file));
    return { deleted: file };
  },
});

const waitForMail = defineTool({
  name: 'wait_for_mail',
  description: 'Waits until a mail arrives.',
  inputSchema: { type: 'object' },
  annotations: { kind: 'fetch', readOnly: true },
  execute(_args, { signal }) {
    executed.push('wait_for_mail (started)');
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('gave up')), { once: true }));
  },
});

// #region stack
/** A layer of one's own: nothing is deleted on this machine. */
const keepEverything = defineLayer({
  name: 'keepEverything',
  caller: (call, next) =>
    call.annotations.destructive ? refuse(call, 'policy_blocked', 'Nothing is deleted here. Move the file instead.') : next(call),
});

const governed = governTools({
  tools: [readNote, deleteNote, waitForMail],
  layers: [
    summary((call, result) => `${call.toolName}: ${result.status}`),
    keepEverything,
    dryRun({ only: ['send_*'] }),
    timeout({ maxMs: 5_000 }),
  ],
});
// #endregion stack

const events: ToolEvent[] = [];
governed.on('*', (event) => events.push(event));

console.log(`The stack\n\n${governed.explain()}\n`);

const hurry = new AbortController();
governed.on('tool_call_update', (event) => {
  if (event.tool_name === 'wait_for_mail' && event.status === 'in_progress') setImmediate(() => hurry.abort());
});

const results = [
  await tell('a call that is fine', governed.call({ name: 'read_note', arguments: { file: 'notes.txt' } })),
  await tell('a call that a layer refuses', governed.call({ name: 'delete_note', arguments: { file: 'notes.txt' } })),
  await tell('a call with malformed arguments', governed.call({ name: 'read_note', arguments: '{"file": ' })),
  await tell('a call to a tool that is not there', governed.call({ name: 'raed_note', arguments: {} })),
  await tell('a call that its caller takes back', governed.call({ name: 'wait_for_mail', arguments: {} }, { signal: hurry.signal })),
];

console.log(`Executed:      ${executed.join(', ')}`);
console.log(
  `Not executed:  ${results
    .filter((result) => result.executed === 'no')
    .map((result) => `${result.toolName} (${result.status})`)
    .join(', ')}`,
);
console.log(`Still there:   ${(await readdir(workspace)).join(', ')}`);

assert.deepEqual(
  results.map((result) => result.status),
  ['ok', 'policy_blocked', 'schema_violation', 'tool_not_found', 'cancelled'],
);
assert.deepEqual(
  results.map((result) => result.executed),
  ['yes', 'no', 'no', 'no', 'unknown'],
);
assert.deepEqual(executed, ['read_note notes.txt', 'wait_for_mail (started)']);
assert.equal(events.filter((event) => event.type === 'tool_call_update' && event.status !== 'in_progress').length, 5);

await governed.close();
await rm(workspace, { recursive: true });

async function tell(title: string, calling: Promise<ToolResult>): Promise<ToolResult> {
  const result = await calling;
  const layers = result.audit?.layers ?? [];
  console.log(`── ${title}`);
  console.log(
    `   onion     ${
      [...layers]
        .reverse()
        .map(({ name, status }) => `${name} (${status})`)
        .join(' → ') || 'stopped before the first layer'
    }`,
  );
  console.log(`   result    ${result.status}, executed: ${result.executed}`);
  console.log(`   model     ${result.renderedResult.trim()}`);
  console.log(`   audit     ${inspect(result.audit, { depth: null, breakLength: 130, compact: 3 }).replaceAll('\n', '\n             ')}\n`);
  return result;
}
