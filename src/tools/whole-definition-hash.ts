/** What stands for everything about a tool that can be written down. */

import { hashCanonical } from '../core/hash-canonical.ts';
import { canonicalJson } from '../core/canonical.ts';
import { type JsonObject, snapshotObject } from '../core/json.ts';
import type { ToolSpec } from '../core/layer.ts';
import { ownDefinition } from './own-definition.ts';
import type { Tool } from './tool.ts';

/** Tools are frozen. */
const hashes = new WeakMap<Tool, string>();

/**
 * A hash of the whole tool: name, description, schemas, annotations, executor, time, retries, metadata and the names of hidden arguments, as
 * its author defined it, and as registry and layers show it where that differs: rules and people judge by what is shown. Not of what its
 * functions do.
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
