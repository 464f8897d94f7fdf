/** What a tool's definition is, to the byte. */

import { hashCanonical } from '../../core/hash-canonical.ts';
import { isSnapshot, snapshotObject } from '../../core/json.ts';
import type { ToolSpec } from '../../core/layer.ts';

/** Hashes of definitions that cannot change any more. */
const known = new WeakMap<object, string>();

/**
 * The hash of a definition: name, description, input and output schema, annotations, as canonical JSON, so that the order of members
 * makes no difference. Give it what `ownDefinition` or `definitionOf` answers, not what the model was shown. Throws `ERR_NOT_JSON` for a
 * definition that has no canonical form, such as one with half a surrogate pair.
 */
export function hashDefinition(tool: ToolSpec): string {
  const before = known.get(tool);
  if (before !== undefined) return before;
  const hash = hashCanonical(pinnable(tool));
  if (isSnapshot(tool)) known.set(tool, hash);
  return hash;
}

/** The five parts and nothing else, frozen in depth. */
export function pinnable(tool: ToolSpec): ToolSpec {
  if (isSnapshot(tool) && Object.keys(tool).every((key) => PARTS.includes(key))) return tool;
  const { name, description, inputSchema, outputSchema, annotations } = tool;
  // A copy has the shape of what was copied.
  return snapshotObject({
    name,
    description,
    inputSchema,
    outputSchema,
    annotations,
  }) as unknown as ToolSpec;
}

export const PARTS: readonly string[] = [
  'name',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
] satisfies (keyof ToolSpec)[];
