/** Tools that the stack has itself: nobody lists them, and what is shown of them is what the stack shows. */

import { hintsOf } from '../core/annotations.ts';
import type { JsonObject } from '../core/json.ts';
import type { GovernedTools, ToolSpec } from '../index.ts';
import type { Catalog } from './catalog.ts';

export function ownCatalog(governed: Pick<GovernedTools, 'tools'>): Catalog {
  return {
    take() {},
    shown: () => governed.tools.map(asMcp),
    get: (name) => governed.tools.find((tool) => tool.name === name),
    expire() {},
    isCurrent: true,
    expiries: 0,
  };
}

/** Safety notes and whatever else a tool is annotated with are for the stack, not for clients. */
function asMcp({
  name,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: ToolSpec): JsonObject {
  const { readOnly, destructive, idempotent, openWorld } = hintsOf(annotations);
  return {
    name,
    description,
    // MCP wants the root to say that it is an object.
    inputSchema: { ...inputSchema, type: 'object' },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: {
      ...(annotations.title === undefined ? {} : { title: annotations.title }),
      ...{
        readOnlyHint: readOnly,
        destructiveHint: destructive,
        idempotentHint: idempotent,
        openWorldHint: openWorld,
      },
    },
  };
}
