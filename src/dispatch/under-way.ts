/** What executors of this package may do with the call that they run: ask for more, and leave word in its record. */

import { stateOf, type ToolCall } from '../core/call.ts';
import type { JsonObject } from '../core/json.ts';
import { annotate, type ToolResult } from '../core/result.ts';
import { refusalOfLate } from '../policy/permissions/preflight.ts';
import type { ToolContext } from '../tools/tool.ts';

/** By identity: a context that somebody made up stands for no call. */
const calls = new WeakMap<ToolContext, ToolCall>();
const uses = new WeakMap<object, JsonObject[]>();

/** More than a record should hold; the number of those left out is told. */
const MAX_USES = 100;

export function bindContext(context: ToolContext, call: ToolCall): ToolContext {
  calls.set(context, call);
  return context;
}

/** Why a running tool may not do this, or `null` where it may. Outside of a dispatcher nobody can be asked, so nothing may be done. */
export async function refusalWhileRunning(context: ToolContext, proposed: object): Promise<string | null> {
  const call = calls.get(context);
  return call === undefined ? 'only a governed call may do this' : refusalOfLate(call, proposed);
}

/** Leaves word of one thing a running tool did. */
export function noteUse(context: ToolContext, use: JsonObject): void {
  const call = calls.get(context);
  if (call === undefined) return;
  const noted = uses.get(stateOf(call)) ?? [];
  noted.push(use);
  uses.set(stateOf(call), noted);
}

/** The result with what was noted while the tool ran, under `audit.builtins`. */
export function withUses(call: ToolCall, result: ToolResult): ToolResult {
  const noted = uses.get(stateOf(call));
  if (noted === undefined) return result;
  uses.delete(stateOf(call));
  const more = noted.length - MAX_USES;
  return annotate(result, { builtins: [...noted.slice(0, MAX_USES), ...(more > 0 ? [{ more }] : [])] });
}
