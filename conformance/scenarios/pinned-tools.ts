/** A store in which tools are pinned that a scenario had before. */

import { AlliumError, type Clock } from '../../src/index.ts';
import { isObject } from '../../src/core/json/json.ts';
import { ownDefinition } from '../../src/layer.ts';
import { memoryPins, type PinStore, reconcilePins } from '../../src/policy/index.ts';
import type { ScenarioTool } from './scenario.ts';
import { scenarioTools } from './scenario-tools.ts';

/**
 * From a list of tools, or from `{ source, tools }`. They are the tools that the scenario itself
 * would make of them.
 */
export function pinnedTools(argument: unknown, clock: Clock): PinStore {
  const { source, tools } = partsOf(argument);
  const store = memoryPins();
  if (tools.length === 0) return store;
  const definitions = [
    ...scenarioTools(tools, clock, { unused: [], unexpected: [] }, []).tools,
  ].map(ownDefinition);
  // In memory it is done at once.
  void store.update(source, (book) =>
    reconcilePins(book, {
      source,
      tools: definitions,
      pinsNew: true,
      listed: null,
      now: clock.now(),
    }),
  );
  return store;
}

function partsOf(argument: unknown): {
  readonly source: string;
  readonly tools: readonly ScenarioTool[];
} {
  const given: unknown = Array.isArray(argument) ? { tools: argument } : argument;
  const { source = 'tools', tools }: Record<string, unknown> = isObject(given) ? given : {};
  // What is no tool is refused when it is made.
  if (typeof source === 'string' && Array.isArray(tools))
    return { source, tools: tools as readonly ScenarioTool[] };
  throw new AlliumError(
    'ERR_INVALID_SCENARIO',
    '"$pins" must be a list of tools, or { source, tools }',
  );
}
