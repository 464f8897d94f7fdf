import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { passThrough } from '../../index.ts';
import { doubtBySchema, refusalOf } from './doubtful-message.ts';
import { scripted } from './scripted.fixture.ts';

const call = (params: JsonObject): JsonObject => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params,
});
const answer = (result: JsonObject): JsonObject => ({ jsonrpc: '2.0', id: 1, result });
const ping = (more: JsonObject): JsonObject => ({ jsonrpc: '2.0', id: 1, method: 'ping', ...more });

describe('messages that two readers take for two', () => {
  it.each([
    ping({ Method: 'tools/call' }),
    ping({ ' method ': 'tools/call' }),
    ping({ '\uff4dethod': 'tools/call' }),
    ping({ Params: {} }),
    ping({ JSONRPC: '1.0' }),
    ping({ x: 1, X: 2 }),
    ping({ result: {} }),
    { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: '' } },
    { jsonrpc: '2.0', id: 1, method: 'Tools/Call', params: {} },
    { jsonrpc: '2.0', id: 1, method: 'tools/call\0', params: {} },
    { jsonrpc: '2.0', id: 1, method: ' tools/call', params: {} },
    call({ name: 'a', Name: 'b' }),
    call({ name: 'a', Arguments: {} }),
    call({ name: 'a', arguments: { path: 1, Path: 2 } }),
    call({ name: 'a', arguments: { deep: [{ k: 1, '\u212a': 2 }] } }),
    answer({ content: [], Content: [] }),
    answer({ isError: true, IsError: false }),
    answer({ Tools: [] }),
    answer({ tools: [{ name: 'a', Description: 'unseen' }] }),
    answer({ content: [{ type: 'text', text: 'a', Text: 'b' }] }),
    { jsonrpc: '2.0', id: 1, error: { code: 1, Code: 2, message: '' } },
  ])('are refused, and the sender is told: %j', (message) => {
    expect(refusalOf(message)).toMatchObject({ id: 1 });
  });

  it('are refused without an id where that is in doubt', () => {
    expect(refusalOf(ping({ ID: 2 }))).toEqual({
      problem: 'a member whose name could be taken for "id"',
      isAnswer: false,
    });
  });

  it.each([
    ping({}),
    ping({ x: 1 }),
    call({
      name: 'a',
      arguments: { A: 1, b: { B: 1 } },
      _meta: { progressToken: 1, 'example.com/Note': 1 },
    }),
    answer({ content: [{ type: 'text', text: 'a' }], structuredContent: { The: 1, the: 2 } }),
    answer({
      tools: [{ name: 'a', inputSchema: { type: 'object', properties: { a: {}, A: {} } } }],
    }),
    { jsonrpc: '2.0', method: 'example.com/Thing', params: { value: 1 } },
  ])('are told from those that mean one thing: %j', (message) => {
    expect(refusalOf(message)).toBeNull();
  });

  it('are found in arguments that nest without end', () => {
    let deep: JsonObject = { a: 1, A: 2 };
    for (let level = 0; level < 100_000; level += 1) deep = { deep };

    expect(refusalOf(call({ name: 'x', arguments: deep }))).not.toBeNull();
  });
});

describe('arguments in another spelling than their tool declares', () => {
  const schema = {
    type: 'object',
    properties: { path: {}, options: { properties: { Deep: {} } }, a: {}, A: {} },
  };

  it.each([{ Path: '/etc' }, { path: 'x', PATH: 'y' }, { options: { deep: 1 } }, { ' path': 1 }])(
    'are refused: %j',
    (args) => {
      expect(doubtBySchema(args, schema)).not.toBeNull();
    },
  );

  it.each([{ path: 'x', options: { Deep: 1 }, other: 1 }, { a: 1 }, { A: 1 }, {}])(
    'are told from those as declared: %j',
    (args) => {
      expect(doubtBySchema(args, schema)).toBeNull();
      expect(doubtBySchema({ Path: 1 }, null)).toBeNull();
    },
  );

  it('reach no server', async () => {
    const tool = {
      name: 'note',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
    };
    const { client, server } = await scripted({ stack: [passThrough], tools: [tool] });

    expect(await client.call('note', { Path: '/etc/passwd' })).toMatchObject({ code: -32_602 });
    expect(await client.call('note', { path: 'a' })).not.toHaveProperty('code');
    expect(server.calls).toHaveLength(1);
  });
});
