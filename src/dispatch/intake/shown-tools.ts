/** The tools as the model sees them, which a host may replace while calls are under way. */

import type { ToolLayer, ToolSpec } from '../../core/contract/layer.ts';
import { createRegistry, type Registry, specOf, transformed } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';

export interface ShownTools {
  readonly names: readonly string[];
  readonly specs: readonly ToolSpec[];
  get(name: string): Tool | undefined;
  /**
   * Shows these instead. Throws where one of them cannot be used, and shows what it showed before.
   */
  replace(tools: Registry | Iterable<Tool>): void;
}

/**
 * `judge` throws for a tool that the host has no means to run, and answers whether the host is who
 * shows it.
 */
export function showTools(
  given: Registry | Iterable<Tool>,
  layers: readonly ToolLayer[],
  judge: (tool: Tool) => boolean,
): ShownTools {
  const show = (
    tools: Registry | Iterable<Tool>,
  ): { registry: Registry; specs: readonly ToolSpec[] } => {
    const registry = createRegistry(
      throughLayers(isRegistry(tools) ? tools : createRegistry(tools), layers),
      { names: 'mcp' },
    );
    return { registry, specs: Object.freeze([...registry].filter(judge).map(specOf)) };
  };
  let shown = show(given);
  return {
    get names() {
      return shown.registry.names;
    },
    get specs() {
      return shown.specs;
    },
    get: (name) => shown.registry.get(name),
    replace(tools) {
      shown = show(tools);
    },
  };
}

/** Every transform of the stack, innermost first, so that the outermost has the last word. */
function throughLayers(registry: Iterable<Tool>, layers: readonly ToolLayer[]): readonly Tool[] {
  const transforms = layers.flatMap((layer) => layer.schemaTransform ?? []).reverse();
  return [...registry].flatMap(
    (tool) =>
      transforms.reduce<Tool | null>(
        (shown, transform) => shown && transformed(shown, transform),
        tool,
      ) ?? [],
  );
}

const isRegistry = (tools: Registry | Iterable<Tool>): tools is Registry =>
  'asCapabilities' in tools;
