import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../../../conformance/test-kit.ts';
import { composeToolCallers } from '../compose.ts';
import { type ToolLayer, type ToolSpec, when } from '../../contract/layer.ts';
import { tracing } from './layers.fixture.ts';

describe('law 2: one list drives both seams', () => {
  const spec: ToolSpec = { name: 'echo', description: 'd', inputSchema: {}, annotations: {} };

  it('so that a composed stack lists its transforms in the order of its callers', () => {
    const shown = (name: string): ToolLayer => ({
      name,
      caller: (call, next) => next(call),
      schemaTransform: (tool) => ({ ...tool, description: `${name}(${tool.description})` }),
    });
    const { layers } = composeToolCallers([
      shown('a'),
      composeToolCallers([shown('b'), shown('c')]),
    ]);
    const last = layers.reduceRight<ToolSpec>(
      (tool, layer) => layer.schemaTransform?.(tool) ?? tool,
      spec,
    );

    expect(layers.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(last.description).toBe('a(b(c(d)))');
    expect(Object.isFrozen(layers)).toBe(true);
  });

  it.each(['echo', 'other'])('and `when` gates both for %s', async (toolName) => {
    const trace: string[] = [];
    const layer = when((tool) => tool.toolName === 'echo', {
      ...tracing('gated', trace),
      schemaTransform: () => null,
    });
    await composeToolCallers([layer])(makeCall({ toolName }), echoExecutor());

    const applies = toolName === 'echo';
    expect(trace.length > 0).toBe(applies);
    expect(layer.schemaTransform?.({ ...spec, name: toolName }) === null).toBe(applies);
  });
});
