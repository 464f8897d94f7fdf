/** The hooks around one call: before it goes on, right before its tool, and about what came of it. */

import {
  annotate,
  clockOf,
  fail,
  type Gate,
  type JsonObject,
  outcomeOf,
  type ToolCall,
  type ToolResult,
  withCall,
} from '../../src/index.ts';
import type { Hook } from './hook.ts';
import type { HookSource } from './hook-source.ts';
import {
  blockedCall,
  blockedText,
  cancelledCall,
  lineOf,
  withheldResult,
  withoutHandoff,
} from './outcomes.ts';
import type { PassedCalls } from './passed-calls.ts';
import { mergePost, mergePre, postPayload, prePayload, replacedResult } from './payloads.ts';
import { type HookChain, type HookRun, runHooks } from './run-hooks.ts';

export interface LetThrough {
  /** As the hooks left it. */
  readonly sent: ToolCall;
  readonly runs: HookRun[];
}

/** Asks the hooks of `tool.pre`, or says what the call came to. */
export async function askBefore(
  call: ToolCall,
  source: HookSource,
): Promise<LetThrough | { readonly ended: ToolResult }> {
  const { blocked, runs, payload } = await chainBefore(call, source);
  if (blocked !== null) return { ended: blockedCall(call, blocked, runs) };
  const args = payload.args as JsonObject; // Merging lets nothing else into a payload.
  return {
    sent: args === call.toolArgs ? call : withCall(call, { toolArgs: args }),
    runs: [...runs],
  };
}

/** Asks the hooks of `tool.pre` about a call. Hooks that cannot be loaded have blocked. */
export async function chainBefore(call: ToolCall, source: HookSource): Promise<HookChain> {
  return chain(call, source, 'tool.pre', prePayload(call), mergePre);
}

async function chain(
  call: ToolCall,
  source: HookSource,
  event: string,
  payload: JsonObject,
  merge: typeof mergePre,
): Promise<HookChain> {
  let asked: readonly Hook[];
  try {
    asked = await source.hooksFor(event);
  } catch (cause) {
    return {
      runs: [],
      payload,
      blocked: { hook: '*', reason: 'the hooks could not be loaded', cause },
    };
  }
  const clock = clockOf(call);
  return runHooks(asked, event, payload, {
    use: source.use,
    merge,
    call,
    signal: call.signal,
    now: () => clock.monotonic(),
  });
}

/**
 * Right before the tool. A call that is what the hooks let through goes on; of any other one, which somebody edited, cleaned or made
 * inside the tool, they are asked again. They cannot change it there: what a person has approved stays what it is.
 */
export function recheck(source: HookSource, passed: PassedCalls): Gate {
  return async (call) => {
    if (passed.has(call)) return null;
    const { blocked, runs, payload } = await chainBefore(call, source);
    passed.runsOf(call).push(...runs);
    if (call.signal.aborted) return cancelledCall(call, runs);
    if (blocked !== null) return fail(call, 'policy_blocked', blocked.cause, blockedText(blocked));
    return payload.args === call.toolArgs
      ? null
      : fail(call, 'policy_blocked', null, CHANGED_TOO_LATE);
  };
}

const CHANGED_TOO_LATE =
  'blocked by hooks: the arguments were changed after the hooks had seen them, and a hook would change them again.';

/** Asks the hooks of `tool.post`, and writes down what all of them said. */
export async function askAfter(
  call: ToolCall,
  result: ToolResult,
  source: HookSource,
  { sent, runs }: LetThrough,
): Promise<ToolResult> {
  if (!isAnswer(result))
    return runs.length === 0 ? result : annotate(result, {}, lineOf(result.status, runs));
  const shown = postPayload(result);
  const after = await chain(call, source, 'tool.post', shown, mergePost);
  const all = [...runs, ...after.runs];
  if (after.blocked !== null) return withheldResult(call, after.blocked, all);
  const replaced = replacedResult(result, shown, after.payload);
  const isReplaced = replaced !== result;
  if (all.length === 0) return result;
  const status = isReplaced ? 'replaced' : sent === call ? 'ok' : 'modified';
  return annotate(isReplaced ? withoutHandoff(replaced) : replaced, {}, lineOf(status, all));
}

/** Whether a tool said it. A layer that turned the call away, a person who is waited for and a caller who left said nothing of a tool's. */
function isAnswer(result: ToolResult): boolean {
  if (outcomeOf(result) === 'interrupted' || result.status === 'cancelled') return false;
  return result.ok || result.executed !== 'no' || result.status === 'executor_error';
}
