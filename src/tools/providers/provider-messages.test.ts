import { describe, expect, it } from 'vitest';
import { createPass } from '../../core/onion/pass.ts';
import { ok, refuse, withResult } from '../../core/onion/results.ts';
import { createCall } from '../../core/onion/own-call.ts';
import type { ContentBlock } from '../../core/contract/content.ts';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { aliasNames } from './alias.ts';
import { fromProviderArgs, toToolMessage } from './provider-messages.ts';

const call = createCall(
  {
    toolName: 'web.search',
    toolArgs: Object.freeze({}),
    callId: 'call-1',
    declaredExecutor: null,
    schema: null,
    description: '',
    annotations: {},
    turn: { iteration: 0, sessionId: 'session-1' },
    signal: new AbortController().signal,
    report: () => {},
  },
  createPass(),
);
const answer = ok(call, { n: 1 });
const refusal = refuse(call, 'policy_blocked', 'Not today.');
const preview = ok(call, { preview: true }, { status: 'dry_run' });
const image: ContentBlock = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
const mixed = ok(call, null, {
  content: [
    { type: 'text', text: 'see' },
    image,
    { type: 'resource_link', uri: 'x://y', name: 'y' },
  ],
});

describe('toToolMessage for OpenAI', () => {
  it('carries the text of an answer, of blocks, and of a refusal', () => {
    expect(toToolMessage(answer, 'openai')).toEqual({
      role: 'tool',
      tool_call_id: 'call-1',
      content: '{"n":1}',
    });
    expect(toToolMessage(mixed, 'openai')).toMatchObject({
      content: 'see\n[image: image/png]\n[resource: y x://y]',
    });
    expect(toToolMessage(refusal, 'openai')).toMatchObject({ content: 'Not today.' });
  });

  it('speaks the form of Responses', () => {
    expect(toToolMessage(answer, 'openai', { shape: 'responses' })).toEqual({
      type: 'function_call_output',
      call_id: 'call-1',
      output: '{"n":1}',
    });
  });
});

describe('toToolMessage for Anthropic', () => {
  it('carries text and images as blocks, and the rest as text', () => {
    expect(toToolMessage(mixed, 'anthropic')).toEqual({
      type: 'tool_result',
      tool_use_id: 'call-1',
      content: [
        { type: 'text', text: 'see' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'text', text: '[resource: y x://y]' },
      ],
    });
  });

  it('marks a refusal', () => {
    expect(toToolMessage(refusal, 'anthropic')).toMatchObject({
      content: [{ type: 'text', text: 'Not today.' }],
      is_error: true,
    });
  });

  it('names images of other types instead of sending them', () => {
    const drawing = ok(call, null, { content: [{ ...image, mimeType: 'image/svg+xml' }] });

    expect(toToolMessage(drawing, 'anthropic')).toMatchObject({
      content: [{ type: 'text', text: '[image: image/svg+xml]' }],
    });
  });

  it('sends no blank text, and no error without content', () => {
    expect(toToolMessage(ok(call, ''), 'anthropic')).toMatchObject({ content: [] });
    expect(toToolMessage(refuse(call, 'policy_blocked', ' '), 'anthropic')).toMatchObject({
      content: [{ type: 'text', text: 'policy_blocked' }],
    });
  });
});

describe('toToolMessage for Gemini', () => {
  it('carries output or error', () => {
    expect(toToolMessage(answer, 'gemini')).toEqual({
      functionResponse: { id: 'call-1', name: 'web.search', response: { output: '{"n":1}' } },
    });
    expect(toToolMessage(refusal, 'gemini')).toMatchObject({
      functionResponse: { response: { error: 'Not today.' } },
    });
  });

  it('uses the alias, and the name as it is for a tool that was never offered', () => {
    const named = (names: readonly string[]) =>
      toToolMessage(answer, 'gemini', { aliases: aliasNames(names, 'openai') });

    expect(named(['web.search'])).toMatchObject({ functionResponse: { name: 'web_search' } });
    expect(named(['other'])).toMatchObject({ functionResponse: { name: 'web.search' } });
  });
});

describe('toToolMessage for MCP', () => {
  const shown = { outputSchema: { type: 'object', required: ['n'] } };

  it('carries content and structured content', () => {
    expect(toToolMessage(answer, 'mcp')).toEqual({
      content: [{ type: 'text', text: '{"n":1}' }],
      structuredContent: { n: 1 },
    });
    expect(toToolMessage(mixed, 'mcp')).toEqual({ content: mixed.content });
  });

  it.each([[[1]], ['text'], [7], [null]])(
    'has no structured content for %j, which is no object',
    (value) => {
      expect(toToolMessage(ok(call, value), 'mcp')).not.toHaveProperty('structuredContent');
    },
  );

  it('carries a refusal as an error with its text', () => {
    expect(toToolMessage(refusal, 'mcp')).toEqual({
      content: [{ type: 'text', text: 'Not today.' }],
      isError: true,
    });
  });

  it('marks a preview that a strict client would throw away, and only that', () => {
    const content = [{ type: 'text', text: '{"preview":true}' }];

    expect(toToolMessage(preview, 'mcp', { tool: shown })).toEqual({ content, isError: true });
    expect(toToolMessage(preview, 'mcp')).toEqual({ content, isError: true });
    expect(toToolMessage(preview, 'mcp', { tool: {} })).toEqual({ content });
    expect(toToolMessage(preview, 'mcp', { tool: { outputSchema: { type: 'string' } } })).toEqual({
      content,
    });
  });

  it('marks an answer without the object that a shown schema promises', () => {
    expect(toToolMessage(ok(call, 'text'), 'mcp', { tool: shown })).toMatchObject({
      isError: true,
    });
    expect(toToolMessage(answer, 'mcp', { tool: shown })).not.toHaveProperty('isError');
  });
});

describe('toToolMessage', () => {
  it.each(['openai', 'anthropic', 'gemini', 'mcp'] as const)(
    'carries no block to %s that a layer withheld',
    (provider) => {
      const secret = ok(call, null, {
        content: [
          { type: 'text', text: 'secret' },
          { ...image, data: 'secret' },
        ],
      });
      const withheld = withResult(secret, { ok: false, status: 'redacted', error: 'Withheld.' });
      const replaced = withResult(secret, { renderedResult: 'Cut.' });

      for (const result of [withheld, replaced])
        expect(JSON.stringify(toToolMessage(result, provider))).not.toContain('secret');
      expect(JSON.stringify(toToolMessage(replaced, provider))).toContain('Cut.');
    },
  );

  it('freezes the message', () => {
    expect(Object.isFrozen(toToolMessage(mixed, 'anthropic').content)).toBe(true);
  });

  it('refuses an unknown provider or option', () => {
    const attempts = [
      () => toToolMessage(answer, 'constructor' as 'mcp'),
      () => toToolMessage(answer, 'mcp', { alias: 1 } as object),
    ];

    for (const attempt of attempts) expect(attempt).toThrow(/toToolMessage/);
  });
});

const back = (inputSchema: JsonSchema, args: JsonObject): JsonObject =>
  fromProviderArgs({ name: 'subject', description: '', inputSchema, annotations: {} }, args);

describe('fromProviderArgs', () => {
  const text = { type: 'string' };

  it('drops null where the property is optional and not nullable', () => {
    expect(
      back({ properties: { a: text, b: text }, required: ['b'] }, { a: null, b: 'x' }),
    ).toEqual({ b: 'x' });
  });

  it.each<[string, JsonSchema]>([
    ['the property is required', { properties: { a: text }, required: ['a'] }],
    ['the property is nullable', { properties: { a: { type: ['string', 'null'] } } }],
    ['the property may be anything', { properties: { a: {} } }],
    ['an enum lists null', { properties: { a: { enum: ['x', null] } } }],
    ['one alternative is null', { properties: { a: { anyOf: [text, { type: 'null' }] } } }],
    [
      'a reference leads to a nullable type',
      { properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: ['string', 'null'] } } },
    ],
    ['nobody declares the property', { properties: { b: text } }],
    [
      'a referenced part requires it',
      {
        properties: { a: text },
        allOf: [{ $ref: '#/$defs/r' }],
        $defs: { r: { required: ['a'] } },
      },
    ],
  ])('keeps null where %s', (_, schema) => {
    const args = { a: null };

    expect(back(schema, args)).toBe(args);
  });

  it.each<[string, JsonValue]>([
    ['an enum', { enum: ['x'] }],
    ['a const', { const: 'x' }],
    ['alternatives', { oneOf: [text, { type: 'number' }] }],
    ['a reference', { $ref: '#/$defs/text' }],
    ['the same reference twice', { anyOf: [{ $ref: '#/$defs/text' }, { $ref: '#/$defs/text' }] }],
  ])('sees that null does not fit %s', (_, a) => {
    expect(back({ properties: { a }, $defs: { text } }, { a: null })).toEqual({});
  });

  it('goes into objects, lists, references, branches and tuples', () => {
    const inner = { type: 'object', properties: { a: text } };
    const schema = {
      allOf: [{ properties: { one: inner } }],
      properties: {
        two: { type: 'array', items: { $ref: '#/$defs/inner' } },
        three: { anyOf: [text, inner] },
        four: { prefixItems: [text, inner] },
      },
      $defs: { inner },
    };

    expect(
      back(schema, {
        one: { a: null },
        two: [{ a: null }, { a: 'x' }],
        three: { a: null },
        four: ['x', { a: null }],
      }),
    ).toEqual({
      one: {},
      two: [{}, { a: 'x' }],
      three: {},
      four: ['x', {}],
    });
  });

  it('does not change the arguments it got, and freezes what it makes', () => {
    const args = { a: null, b: { c: 1 } };
    const result = back({ properties: { a: text } }, args);

    expect(args).toEqual({ a: null, b: { c: 1 } });
    expect(Object.isFrozen(result)).toBe(true);
  });

  it('is not confused by inherited names', () => {
    const args = JSON.parse('{"constructor":null,"__proto__":null,"toString":null}') as JsonObject;

    expect(back({ properties: { a: text } }, args)).toBe(args);
  });

  it('comes to an end with schemas that contain themselves or double at every step', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [
        `d${index}`,
        { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
      ]),
    );

    expect(back({ allOf: [{ $ref: '#' }], properties: { a: text } }, { a: null })).toEqual({});
    expect(
      back(
        { properties: { a: { $ref: '#/$defs/d0' } }, $defs: { ...$defs, d60: text } },
        { a: null },
      ),
    ).toEqual({});
  });
});
