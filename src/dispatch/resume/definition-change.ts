/** Whether the tool that a call was decided about is still the tool that is there. */

import type { Refusal } from '../../core/onion/pass.ts';
import { oneLine } from '../../core/contract/errors.ts';
import type { ToolCall, Turn } from '../../core/contract/call.ts';
import { wholeDefinitionHash } from '../../tools/own-definition.ts';
import type { Tool } from '../../tools/tool.ts';
import { recordOf } from '../record.ts';

/** The tool of a name in a turn as the host has it now. */
export type FindTool = (name: string, turn: Turn) => Tool | null;

/** Why a tool that was found for this call may not be entered any more, or `null`. */
export type ObjectToChange = (call: ToolCall, tool: Tool) => Refusal | null;

/**
 * The tool that a call of this name enters: the one that was found first, for as long as the call
 * is under way. Rules, fingerprints, grants, proposals and the executor all read this one, so that
 * none of them can speak of another tool than the others.
 */
export function toolFor(call: ToolCall, name: string, find: FindTool): Tool | null {
  const record = recordOf(call);
  if (record.tool?.name === name) return record.tool;
  const others = (record.others ??= new Map<string, Tool | null>());
  const known = others.get(name);
  if (known !== undefined) return known;
  const found = find(name, call.turn);
  others.set(name, found);
  return found;
}

/**
 * Compares with what the host has now: a tool that is gone, or has another definition, is not what
 * layers judged and people approved.
 */
export const objectToChange =
  (find: FindTool): ObjectToChange =>
  (call, tool) => {
    const now = find(tool.name, call.turn);
    if (now === tool || (now !== null && isSameDefinition(now, tool))) return null;
    const name = oneLine(tool.name);
    const message =
      now === null
        ? `${name} was taken away after it was called, so it did not run. Use another tool.`
        : `The definition of ${name} changed after it was called, so it did not run. Read the new definition, and call it again if it still fits.`;
    return {
      status: now === null ? 'tool_not_found' : 'definition_changed',
      message,
      blockedBy: 'entry',
    };
  };

/** A definition without a canonical form equals no other. */
function isSameDefinition(one: Tool, other: Tool): boolean {
  try {
    return wholeDefinitionHash(one) === wholeDefinitionHash(other);
  } catch {
    return false;
  }
}
