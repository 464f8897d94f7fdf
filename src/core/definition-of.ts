/** The tool of a call as it was defined. */

import { stateOf, type ToolCall } from './call.ts';
import type { ToolSpec } from './layer.ts';

/**
 * The tool of a call as it was defined, before any layer of the stack described it anew; `call.description` and `call.annotations` are
 * what the model was shown. Where nobody listed tools, it is what the call says. `null` for a call that a layer gave another tool's name:
 * what it carries is not that tool's.
 */
export function definitionOf(call: ToolCall): ToolSpec | null {
  const { definition } = stateOf(call);
  if (definition !== null) return definition.name === call.toolName ? definition : null;
  const { toolName: name, description, schema, annotations } = call;
  return Object.freeze({ name, description, inputSchema: schema ?? NO_SCHEMA, annotations });
}

const NO_SCHEMA = Object.freeze({});
