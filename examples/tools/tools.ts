/**
 * Tools: types from schemas, hidden arguments, answers and failures, registries, and what providers
 * are sent.
 */

import assert from 'node:assert/strict';
import {
  createRegistry,
  defineTool,
  exportTools,
  governTools,
  injectParameter,
  isAlliumError,
  localExecutor,
  type Tool,
  type ToolExecutor,
  toolFailure,
  toolOutput,
  toToolMessage,
} from 'allium';
import { z } from 'zod';

// #region define
const bookRoom = defineTool({
  name: 'book_room',
  description: 'Books a meeting room.',
  inputSchema: {
    type: 'object',
    properties: {
      room: { type: 'string' },
      seats: { type: 'integer', minimum: 1 },
      kind: { enum: ['meeting', 'call'] },
    },
    required: ['room'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: { booked: { type: 'string' } },
    required: ['booked'],
  },
  annotations: { kind: 'edit', idempotent: true, openWorld: false },
  timeoutMs: 2_000,
  // room: string, seats?: number, kind?: 'meeting' | 'call'
  execute({ room, seats = 1, kind = 'meeting' }) {
    return { booked: `${room} for ${seats} (${kind})` };
  },
});
// #endregion define

// #region zod
const addDays = defineTool({
  name: 'add_days',
  description: 'Adds days to a date.',
  inputSchema: z.object({
    date: z.iso.date().transform((text) => new Date(`${text}T00:00:00Z`)),
    days: z.number().int().default(1),
  }),
  execute: ({ date, days }) =>
    new Date(date.getTime() + days * 86_400_000).toISOString().slice(0, 10),
});
// #endregion zod

// #region hidden
const postMessage = defineTool({
  name: 'post_message',
  description: 'Posts a message.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' }, token: { type: 'string' }, user: { type: 'string' } },
    required: ['text', 'token', 'user'],
    additionalProperties: false,
  },
  injected: [
    { name: 'token', from: 'secret:chat' },
    { name: 'user', from: ({ turn }) => `user of ${turn.sessionId}` },
  ],
  execute: ({ text, token, user }) =>
    `${user} posted ${text.length} characters with a token of ${token.length}`,
});

const governed = governTools({
  tools: [bookRoom, addDays, postMessage],
  layers: [],
  secrets: { chat: () => 'T0KEN' },
});
const posted = await governed.call(
  { name: 'post_message', arguments: { text: 'hello', token: 'made up by the model' } },
  { turn: { sessionId: 's1' } },
);

assert.equal(posted.result, 'user of s1 posted 5 characters with a token of 5');
assert.deepEqual(posted.arguments, { text: 'hello' });
assert.deepEqual(posted.audit?.metadata, { hiddenArgumentsStripped: 1 });
assert.doesNotMatch(JSON.stringify(governed.tools), /token|user/);
// #endregion hidden

assert.deepEqual((await governed.call({ name: 'book_room', arguments: { room: 'Oak' } })).result, {
  booked: 'Oak for 1 (meeting)',
});
assert.equal(
  (await governed.call({ name: 'add_days', arguments: { date: '2026-01-31' } })).result,
  '2026-02-01',
);
assert.equal(
  (await governed.call({ name: 'add_days', arguments: { date: 'soon' } })).status,
  'schema_violation',
);

// #region answers
const openFile = defineTool({
  name: 'open_file',
  description: 'Opens a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  execute({ path }) {
    if (path === 'locked')
      throw toolFailure('The file is locked. Try again.', {
        category: 'locked',
        errorClass: 'retryable',
        executed: 'no',
      });
    if (path === 'missing')
      return toolOutput({
        content: [{ type: 'text', text: 'There is no such file.' }],
        isError: true,
      });
    return toolOutput({
      content: [{ type: 'text', text: 'one line' }],
      structuredContent: { lines: 1 },
    });
  },
});
// #endregion answers
const files = governTools({ tools: [openFile], layers: [] });
const endings = [];
for (const path of ['notes', 'missing', 'locked'])
  endings.push(await files.call({ name: 'open_file', arguments: { path } }));
assert.deepEqual(
  endings.map(({ status, errorCategory, executed }) => [status, errorCategory, executed]),
  [
    ['ok', null, 'yes'],
    ['executor_error', 'tool_error', 'yes'],
    ['executor_error', 'locked', 'no'],
  ],
);
assert.deepEqual(endings[0]?.result, { lines: 1 });

// #region registry
const rooms = createRegistry([bookRoom, addDays]);
const chat = createRegistry([postMessage]).prefix('chat');
const all = rooms
  .merge(chat)
  .rename('add_days', 'shift_date')
  .filter((tool) => tool.annotations.kind !== 'delete')
  .transform((tool) =>
    tool.name === 'book_room' ? { ...tool, description: 'Books a room in this building.' } : tool,
  );

assert.deepEqual(all.names, ['book_room', 'shift_date', 'chat_post_message']);
assert.deepEqual(rooms.names, ['book_room', 'add_days']);
assert.equal(all.get('book_room')?.description, 'Books a room in this building.');
assert.throws(
  () => all.with(bookRoom),
  (error) => isAlliumError(error, 'ERR_DUPLICATE_TOOL'),
);
// #endregion registry

// #region capabilities
const office = governTools({ tools: all, layers: [], secrets: { chat: 'T0KEN' } });
const capabilities = all.asCapabilities((request) => office.call(request));

assert.equal(
  (await capabilities.invoke('shift_date', { date: '2026-01-01', days: 7 })).result,
  '2026-01-08',
);
// #endregion capabilities

// #region inject
const withReason = injectParameter(bookRoom, 'reason', { type: 'string', description: 'Why?' });

assert.deepEqual(withReason.inputSchema.required, ['room', 'reason']);
assert.deepEqual(bookRoom.inputSchema.required, ['room']);
// #endregion inject

// #region export
const forOpenAi = exportTools(governed.tools, 'openai', { strict: true });
const forAnthropic = exportTools(governed.tools, 'anthropic');
const forGemini = exportTools(governed.tools, 'gemini');
const forMcp = exportTools(governed.tools, 'mcp');
// #endregion export
assert.deepEqual(
  [forOpenAi, forAnthropic, forGemini, forMcp].map((tools) => tools.length),
  [3, 3, 3, 3],
);

// #region alias
const remote = createRegistry(
  [
    defineTool({
      name: 'files.read',
      description: 'Reads.',
      inputSchema: { type: 'object' },
      execute: () => 'text',
    }),
  ],
  {
    names: 'mcp',
  },
);
const aliases = remote.alias('openai');
const [exported] = exportTools([...remote], 'openai', { aliases });

assert.equal(aliases.toProvider('files.read'), 'files_read');
assert.equal(aliases.fromProvider('files_read'), 'files.read');
// #endregion alias
assert.match(JSON.stringify(exported), /files_read/);

// #region messages
const result = await governed.call({ name: 'book_room', arguments: { room: 'Oak' }, id: 'call_1' });
const messages = {
  openai: toToolMessage(result, 'openai'),
  anthropic: toToolMessage(result, 'anthropic'),
  gemini: toToolMessage(result, 'gemini'),
  mcp: toToolMessage(result, 'mcp', { tool: bookRoom }),
};
// #endregion messages

// #region executor
const bridge: ToolExecutor = {
  kind: 'host_bridge',
  execute: ({ tool, args, context }) =>
    `host ran ${tool.name} for ${context.callId} with ${JSON.stringify(args)}`,
};
const openTab: Tool = defineTool({
  name: 'open_tab',
  description: 'Opens a tab.',
  inputSchema: { type: 'object' },
  executor: 'host_bridge',
});
const host = governTools({ tools: [openTab, bookRoom], layers: [], executor: bridge });

assert.equal(
  (await host.call({ name: 'open_tab', arguments: {}, id: 'c1' })).result,
  'host ran open_tab for c1 with {}',
);
// #endregion executor
assert.equal(localExecutor().kind, 'local');

console.log(JSON.stringify(forOpenAi[0], null, 2));
for (const [provider, message] of Object.entries(messages))
  console.log(`${provider.padEnd(9)} ${JSON.stringify(message)}`);
