/**
 * The last checks before the executor: at once by the guards, and where it takes time by the gates.
 */

import { type Check, type Gate, type Refusal, slotOf } from './pass.ts';
import { fail, refuse } from './results.ts';
import { ownCall, stateOf } from './own-call.ts';
import { isResultOf } from './make-result.ts';
import { type ToolCall } from '../contract/call.ts';
import type { ToolResult } from '../contract/result.ts';
import { breachOf, conditionsOf, gatesOf } from './conditions.ts';

/** The call to enter the executor with, or what it came to before that. */
export type Passed = { readonly call: ToolCall } | { readonly result: ToolResult };

/**
 * Asks every guard, then every gate. Only `null` lets in. A gate may once put another call in the
 * place of this one: every guard and gate of the first looks at that one too.
 */
export async function passGates(call: ToolCall, mayReplace = true): Promise<Passed> {
  for (const gate of gatesOf(call)) {
    const said = await verdictOf(gate.run, call);
    if (said === null) continue;
    if (isResultOf(said, slotOf(call).state)) return { result: turnedAway(call, gate, said) };
    const replaced = mayReplace ? replacementOf(call, said) : null;
    if (replaced === null) return { result: undecided(call, said) };
    const breach = breachOf(replaced, conditionsOf(replaced));
    return breach === null ? passGates(replaced, false) : { result: breached(replaced, breach) };
  }
  return { call };
}

/**
 * The layer whose gate it was is to blame, not the innermost one. A gate without an owner has
 * said so itself.
 */
function turnedAway(call: ToolCall, { owner }: Check, said: ToolResult): ToolResult {
  if (owner !== null) slotOf(call).state.blockedBy = owner;
  return said.ok ? undecided(call, said) : said;
}

/** A gate's word, or a result that says it had none. */
async function verdictOf(gate: Gate, call: ToolCall): Promise<unknown> {
  try {
    return await gate(call);
  } catch (thrown) {
    return fail(call, 'permission_denied', thrown, UNDECIDED);
  }
}

/**
 * Another call of the same pass to the same tool, under everything this one is under; anything else
 * is no replacement.
 */
function replacementOf(call: ToolCall, said: unknown): ToolCall | null {
  try {
    const other = ownCall(said as ToolCall); // What is no call throws.
    const { checks } = conditionsOf(other);
    const isHeld = conditionsOf(call).checks.every(
      (check) => check.at === 'ask' || checks.some(({ run }) => run === check.run),
    );
    const isSame =
      stateOf(other) === stateOf(call) &&
      other.callId === call.callId &&
      other.toolName === call.toolName;
    return isSame && isHeld ? other : null;
  } catch {
    return null;
  }
}

/**
 * A refusal from below the innermost layer: the layer whose conditions were broken is to blame, not
 * the innermost one.
 */
export function breached(call: ToolCall, { status, message, blockedBy }: Refusal): ToolResult {
  slotOf(call).state.blockedBy = blockedBy;
  return refuse(call, status, message);
}

const undecided = (call: ToolCall, said: unknown): ToolResult =>
  fail(call, 'permission_denied', said, UNDECIDED);

const UNDECIDED =
  'Whether the call is allowed could not be decided, so it did not run. Do not repeat it unchanged.';
