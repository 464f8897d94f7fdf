/**
 * What stands for exactly one call, and for exactly one question asked again. Hashes: no argument
 * can be read from them.
 */

import { toolOf } from '../core/onion/own-call.ts';
import { slotOf } from '../core/onion/pass.ts';
import { type ToolCall } from '../core/contract/call.ts';
import { hashCanonical } from '../core/json/hash-canonical.ts';
import { snapshotObject } from '../core/json/json.ts';
import { hashOf } from '../core/onion/conditions.ts';

/** Every call of a tool carries the same frozen schema and annotations. */
const definitions = new WeakMap<
  object,
  { readonly description: string; readonly annotations: object; readonly hash: string }
>();

/**
 * The hash of the definition of a call's tool: all of it that can be written down where the
 * dispatcher knows the tool, otherwise what the call carries of it. What its function does is not
 * part of it.
 */
export function definitionHashOf(call: ToolCall): string {
  const { schema, description, annotations } = call;
  const known = toolOf(call, call.toolName);
  if (known !== null) return known.hash();
  const before = schema === null ? undefined : definitions.get(schema);
  if (before?.description === description && before.annotations === annotations) return before.hash;
  const hash = hashCanonical({ schema, description, annotations });
  if (schema !== null && isFixed(schema) && isFixed(annotations))
    definitions.set(schema, { description, annotations, hash });
  return hash;
}

/**
 * Frozen in depth: what can still be changed is hashed every time, or a change would not be
 * noticed.
 */
const isFixed = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (Object.isFrozen(value) && Object.values(value).every(isFixed));

/**
 * Tool, arguments, call, session and definition, hashed the way the receipts of the call are.
 * Throws `ERR_NOT_JSON` for arguments with text that is not well-formed: what cannot be written
 * down cannot be approved.
 */
export function fingerprintOf(call: ToolCall): string {
  const slot = slotOf(call);
  // A call is frozen, and so is what it says: one hash is enough. A copy by spread shares the slot,
  // and may say something else.
  if (slot.call === call && slot.fingerprint !== null) return slot.fingerprint;
  const { toolName, toolArgs: args, callId, turn } = call;
  // A snapshot is hashed from bytes, without a text in between.
  const asked = snapshotObject({
    toolName,
    args,
    callId,
    sessionId: turn.sessionId,
    definition: definitionHashOf(call),
  });
  const fingerprint = hashOf(call, asked);
  if (slot.call === call) slot.fingerprint = fingerprint;
  return fingerprint;
}

/**
 * The same without the call: equal for the same tool with the same definition and arguments in the
 * same session.
 */
export const standingKeyOf = (call: ToolCall): string =>
  hashCanonical({
    toolName: call.toolName,
    args: call.toolArgs,
    sessionId: call.turn.sessionId,
    definition: definitionHashOf(call),
  });

/**
 * The same for any arguments: equal for the same tool with the same definition in the same session.
 */
export const standingToolKeyOf = (call: ToolCall): string =>
  hashCanonical({
    toolName: call.toolName,
    sessionId: call.turn.sessionId,
    definition: definitionHashOf(call),
  });
