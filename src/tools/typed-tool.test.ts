import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { defineLayer } from '../core/contract/layer.ts';
import type { JsonValue } from '../core/json/json-value.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { type GovernedTools, governTools } from '../dispatch/govern-tools.ts';
import { defineTool } from './define-tool.ts';
import { injectParameter } from './parameters/inject-parameter.ts';
import { createRegistry } from './registry.ts';
import { toolOutput } from './tool.ts';

const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back.',
  inputSchema: {
    type: 'object',
    properties: { order: { type: 'string' }, amount: { type: 'number' } },
    required: ['order'],
  },
  execute: ({ order, amount }) => ({ order, paid: amount ?? 0 }),
});
const find = defineTool({
  name: 'find',
  description: 'Finds orders.',
  inputSchema: z.object({ limit: z.number().transform(String) }),
  execute: async ({ limit }) => [limit],
});
const send = defineTool({
  name: 'send',
  description: 'Sends.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' }, key: { type: 'string' } },
    required: ['text', 'key'],
  },
  injected: [{ name: 'key', from: 'secret:api' }],
  execute: ({ text }) => toolOutput({ content: [{ type: 'text', text }] }),
});

describe('calls of tools that are listed in code', () => {
  const governed = governTools({
    tools: [refund, find, send],
    layers: [],
    secrets: { api: 'a-key' },
  });

  it('know what the tool answers with', async () => {
    const refunded = await governed.call({ name: 'refund', arguments: { order: 'A-1' } });
    const found = await governed.call({ name: 'find', arguments: { limit: 3 } });
    const sent = await governed.call({ name: 'send', arguments: { text: 'a' } });

    expectTypeOf(refunded.result?.paid).toEqualTypeOf<number | undefined>();
    expectTypeOf(found.result?.[0]).toExtend<string | undefined>();
    expectTypeOf(sent.result).toEqualTypeOf<JsonValue>();
    expectTypeOf(refunded).toExtend<ToolResult>();
    expect([refunded.result, found.result, sent.status]).toEqual([
      { order: 'A-1', paid: 0 },
      ['3'],
      'ok',
    ]);
  });

  it('are refused by the compiler under a name that no tool has, and at run time', async () => {
    // @ts-expect-error no tool is called so
    const result = await governed.call({ name: 'refnud', arguments: { order: 'A-1' } });

    expect(result.status).toBe('tool_not_found');
  });

  it.each([
    // @ts-expect-error a number is no order
    () => governed.call({ name: 'refund', arguments: { order: 1 } }),
    // @ts-expect-error the order is missing
    () => governed.call({ name: 'refund', arguments: {} }),
    // @ts-expect-error the schema takes a number, its output is a text
    () => governed.call({ name: 'find', arguments: { limit: '3' } }),
  ])('are refused by the compiler with other arguments, and at run time', async (call) => {
    expect((await call()).status).toBe('schema_violation');
  });

  it('take the text of a model, and what layers ask for', async () => {
    const reasoned = governTools({
      tools: [refund],
      layers: [
        defineLayer({
          name: 'why',
          rewrites: true,
          schemaTransform: (tool) => injectParameter(tool, 'why', { type: 'string' }),
          caller: (call, next) => next(call),
        }),
      ],
    });

    const written = await governed.call({ name: 'refund', arguments: '{"order":"A-1"}' });
    const asked = await reasoned.call({ name: 'refund', arguments: { order: 'A', why: 'late' } });

    expect([written.status, asked.status]).toEqual(['ok', 'ok']);
  });

  it('are open where names come from a model, and where tools are in a registry', async () => {
    const request: { name: string; arguments: object } = { name: 'refund', arguments: {} };
    const registered: GovernedTools = governTools({ tools: createRegistry([refund]), layers: [] });

    const result = await governed.call(request);
    const other = await registered.call({ name: 'anything', arguments: { any: 1 } });

    expectTypeOf(result).toEqualTypeOf<ToolResult>();
    expect([result.status, other.status]).toEqual(['schema_violation', 'tool_not_found']);
  });

  it('are those of governed tools whatever their types', () => {
    const plain: GovernedTools = governed;

    expect(plain.tools).toHaveLength(3);
  });
});
