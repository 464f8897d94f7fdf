/** What a tool says of itself, kept apart from what it is shown as. */

import { snapshotObject } from '../core/json.ts';
import type { DefinedTool, ToolSpec } from '../core/layer.ts';

/**
 * By identity: a copy that somebody made of a tool, with another description perhaps, is a tool of its own, and nothing that was sent
 * as JSON can claim to have been defined otherwise.
 */
const owns = new WeakMap<object, DefinedTool>();

/**
 * A tool as it was defined, under the name it has in its registry, whatever transforms have made of what is shown. For layers: what
 * `schemaTransform` is given holds the fields that layers further in have added, and this does not. A tool that no registry knows is
 * what it looks like.
 */
export const ownDefinition = (tool: DefinedTool): DefinedTool =>
  owns.get(tool) ?? definitionFrom(tool);

export const hasOwnDefinition = (tool: object): boolean => owns.has(tool);

/** Marks a tool as defined like this. */
export function defineOwn<T extends ToolSpec>(tool: T): T {
  owns.set(tool, definitionFrom(tool));
  return tool;
}

/** Marks a tool as another form of one that was defined: what it is shown as may differ, and its name. */
export function keepOwn<T extends ToolSpec>(from: ToolSpec, tool: T): T {
  const own = ownDefinition(from);
  owns.set(tool, own.name === tool.name ? own : definitionFrom({ ...own, name: tool.name }));
  return tool;
}

function definitionFrom({
  name,
  description,
  inputSchema,
  outputSchema,
  annotations,
  metadata,
}: DefinedTool): DefinedTool {
  const own = {
    ...{ name, description, inputSchema, annotations },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  try {
    // A copy has the shape of what was copied.
    return snapshotObject(own) as unknown as DefinedTool;
  } catch {
    return Object.freeze(own);
  }
}
