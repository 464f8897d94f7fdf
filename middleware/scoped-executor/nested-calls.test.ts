import { describe, expect, it } from 'vitest';
import { settle } from '../../conformance/index.ts';
import {
  defineTool,
  type GovernedTools,
  governTools,
  type ToolContext,
  type ToolLayer,
  type ToolRequest,
} from '../../src/index.ts';
import { scopedExecutor } from './scoped-executor.ts';

/**
 * Two tools: one that makes the call it is given, in the way it is told, and one it should not
 * reach.
 */
function dispatchers(
  layers: readonly ToolLayer[],
  call: (request: ToolRequest, context: GovernedTools['call']) => unknown,
) {
  const ran: string[] = [];
  const rm = defineTool({
    name: 'rm',
    description: 'd',
    inputSchema: { type: 'object' },
    execute: () => void ran.push('rm'),
  });
  const helper = defineTool({
    ...{ name: 'helper', description: 'd', inputSchema: { type: 'object' } },
    async execute(_args, context) {
      ran.push('helper');
      return call({ name: 'rm', arguments: {} }, context.call);
    },
  });
  return { tools: governTools({ tools: [rm, helper], layers }), ran, rm };
}

const statusOf = async (calling: Promise<{ readonly status: string }>) => (await calling).status;

describe('calls that a tool makes', () => {
  const scope = scopedExecutor({ allowedTools: ['helper'] });

  it('through its context are held to the scope', async () => {
    const { tools, ran } = dispatchers([scope], (request, call) => statusOf(call(request)));

    expect((await tools.call({ name: 'helper', arguments: {} })).result).toBe('scope_violation');
    expect(ran).toEqual(['helper']);
  });

  it('on the dispatcher itself are held to the scope', async () => {
    const { tools, ran } = dispatchers([scope], (request) => statusOf(tools.call(request)));

    expect((await tools.call({ name: 'helper', arguments: {} })).result).toBe('scope_violation');
    expect(ran).toEqual(['helper']);
  });

  it('on another dispatcher that has no scope are held to it all the same', async () => {
    const free = dispatchers([], () => null);
    const { tools } = dispatchers([scope], (request) => statusOf(free.tools.call(request)));

    expect((await tools.call({ name: 'helper', arguments: {} })).result).toBe('permission_denied');
    expect(free.ran).toEqual([]);
    expect(await statusOf(free.tools.call({ name: 'rm', arguments: {} }))).toBe('ok');
  });

  it('may reach another tool that keeps to the scope by what it says about itself', async () => {
    const read = (name: string, execute: (args: unknown, context: ToolContext) => unknown) =>
      defineTool({
        name,
        description: 'd',
        inputSchema: { type: 'object' },
        annotations: { readOnly: true },
        execute,
      });
    const inner = read('inner', () => 'ran');
    const outer = read('outer', (_args, context) =>
      statusOf(context.call({ name: 'inner', arguments: {} })),
    );
    const tools = governTools({
      tools: [inner, outer],
      layers: [scopedExecutor({ sideEffectLevel: 'read_only' })],
    });

    expect((await tools.call({ name: 'outer', arguments: {} })).result).toBe('ok');
  });

  it('are held to their own scope while others run beside them', async () => {
    const free = dispatchers([], () => null);
    const scoped = dispatchers([scope], async (request) => {
      await settle();
      return statusOf(free.tools.call(request));
    });
    const open = dispatchers(
      [scopedExecutor({ allowedTools: ['helper', 'rm'] })],
      async (request) => {
        await settle();
        return statusOf(free.tools.call(request));
      },
    );
    const callers = Array.from(
      { length: 50 },
      (_, index) => (index % 2 === 0 ? scoped : open).tools,
    );
    const results = await Promise.all(
      callers.map((tools) => tools.call({ name: 'helper', arguments: {} })),
    );

    expect(results.map(({ result }) => result)).toEqual(
      callers.map((_, index) => (index % 2 === 0 ? 'permission_denied' : 'ok')),
    );
    expect(free.ran).toHaveLength(25);
  });
});
