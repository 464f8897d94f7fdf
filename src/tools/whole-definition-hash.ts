/** What stands for everything about a tool that can be written down. */

import { hashCanonical } from '../core/hash-canonical.ts';
import { snapshotObject } from '../core/json.ts';
import { ownDefinition } from './own-definition.ts';
import type { Tool } from './tool.ts';

/** Tools are frozen. */
const hashes = new WeakMap<Tool, string>();

/**
 * A hash of the tool as its author defined it: name, description, schemas, annotations, executor, time, retries, metadata and the names of
 * hidden arguments. Not of how a stack shows it, and not of what its functions do.
 */
export function wholeDefinitionHash(tool: Tool): string {
  const known = hashes.get(tool);
  if (known !== undefined) return known;
  const { executor, timeoutMs, retry, idempotency, metadata } = tool;
  const injected = tool.injected.map((argument) => [argument.name, typeof argument.from === 'string' ? argument.from : 'function']);
  const hash = hashCanonical(snapshotObject({ ...ownDefinition(tool), executor, timeoutMs, retry, idempotency, metadata, injected }));
  hashes.set(tool, hash);
  return hash;
}
