/** What stands for exactly one call, and for exactly one question asked again. Hashes: no argument can be read from them. */

import { hashCanonical, hashOf, type ToolCall } from '../../src/index.ts';

/** Every call of a tool carries the same frozen schema. */
const definitions = new WeakMap<object, { readonly description: string; readonly hash: string }>();

function definitionOf({ schema, description }: ToolCall): string {
  const before = schema === null ? undefined : definitions.get(schema);
  if (before?.description === description) return before.hash;
  const hash = hashCanonical({ schema, description });
  if (schema !== null && isFixed(schema)) definitions.set(schema, { description, hash });
  return hash;
}

/** Frozen in depth: a schema that can still be changed is hashed every time, or a change would not be noticed. */
const isFixed = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFixed));

/** A call is frozen, and so is what it says: one hash is enough. */
const known = new WeakMap<ToolCall, string>();

/**
 * Tool, arguments, call, session and definition, hashed the way the receipts of the call are. Throws `ERR_NOT_JSON` for
 * arguments with text that is not well-formed: what cannot be written down cannot be approved.
 */
export function fingerprintOf(call: ToolCall): string {
  const before = known.get(call);
  if (before !== undefined) return before;
  const { toolName, toolArgs: args, callId, turn } = call;
  const fingerprint = hashOf(call, { toolName, args, callId, sessionId: turn.sessionId, definition: definitionOf(call) });
  known.set(call, fingerprint);
  return fingerprint;
}

/** The same without the call: equal for the same tool with the same definition and arguments in the same session. */
export const standingKeyOf = (call: ToolCall): string =>
  hashCanonical({ toolName: call.toolName, args: call.toolArgs, sessionId: call.turn.sessionId, definition: definitionOf(call) });
