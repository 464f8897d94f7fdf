/** What a tool says of itself, kept apart from what it is shown as, and the hash of both. */

import type { JsonObject } from '../core/json/json-value.ts';
import { snapshotObject } from '../core/json/json.ts';
import type { DefinedTool, ToolSpec } from '../core/contract/layer.ts';
import { hashCanonical } from '../core/json/hash-canonical.ts';
import { canonicalJson } from '../core/json/canonical.ts';
import type { Tool } from './tool.ts';

/**
 * By identity: a copy of a tool, with another description perhaps, is a tool of its own, and
 * nothing that was sent as JSON can claim to have been defined otherwise.
 */
const owns = new WeakMap<object, DefinedTool>();

/**
 * A tool as it was defined, under the name it has in its registry, whatever transforms have made of
 * what is shown. For layers: what `schemaTransform` is given holds the fields that layers further
 * in have added, and this does not. A tool that no registry knows is what it looks like.
 */
export const ownDefinition = (tool: DefinedTool): DefinedTool =>
  owns.get(tool) ?? definitionFrom(tool);

/** Whether a tool was marked by `defineOwn` or `keepOwn`. */
export const hasOwnDefinition = (tool: object): boolean => owns.has(tool);

/** Marks a tool as defined like this. */
export function defineOwn<T extends ToolSpec>(tool: T): T {
  owns.set(tool, definitionFrom(tool));
  return tool;
}

/**
 * Marks a tool as another form of one that was defined: what it is shown as may differ, and its
 * name.
 */
export function keepOwn<T extends ToolSpec>(from: ToolSpec, tool: T): T {
  const own = ownDefinition(from);
  owns.set(tool, own.name === tool.name ? own : definitionFrom({ ...own, name: tool.name }));
  return tool;
}

/** The part of a tool that is shown. */
export const specOf = ({
  name,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: ToolSpec): ToolSpec =>
  Object.freeze({
    name,
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations,
  });

function definitionFrom({ metadata, ...tool }: DefinedTool): DefinedTool {
  const own = { ...specOf(tool), ...(metadata === undefined ? {} : { metadata }) };
  try {
    // A copy has the shape of what was copied.
    return snapshotObject(own) as unknown as DefinedTool;
  } catch {
    return Object.freeze(own);
  }
}

/** Tools are frozen. */
const hashes = new WeakMap<Tool, string>();

/**
 * A hash of the whole tool: name, description, schemas, annotations, executor, time, retries,
 * metadata and the names of hidden arguments, as its author defined it, and as registry and layers
 * show it where that differs: rules and people judge by what is shown. Not of what its functions
 * do.
 */
export function wholeDefinitionHash(tool: Tool): string {
  const known = hashes.get(tool);
  if (known !== undefined) return known;
  const { executor, timeoutMs, retry, idempotency, metadata } = tool;
  const injected = tool.injected.map((argument) => [
    argument.name,
    typeof argument.from === 'string' ? argument.from : 'function',
  ]);
  const own = ownDefinition(tool);
  const shown = shownOtherwise(tool, own);
  const hash = hashCanonical(
    snapshotObject({ ...own, executor, timeoutMs, retry, idempotency, metadata, injected, shown }),
  );
  hashes.set(tool, hash);
  return hash;
}

/** What is shown of a tool in another way than it was defined; `undefined` for nothing. */
function shownOtherwise(tool: Tool, own: ToolSpec): JsonObject | undefined {
  const { description, inputSchema, outputSchema, annotations } = tool;
  const isSame =
    description === own.description &&
    inputSchema === own.inputSchema &&
    annotations === own.annotations;
  // Most tools are shown as they were defined, with the very schemas of the definition.
  if (isSame && outputSchema === own.outputSchema) return undefined;
  const shown = snapshotObject({ description, inputSchema, outputSchema, annotations });
  const defined = snapshotObject({
    description: own.description,
    inputSchema: own.inputSchema,
    outputSchema: own.outputSchema,
    annotations: own.annotations,
  });
  return canonicalJson(shown) === canonicalJson(defined) ? undefined : shown;
}
