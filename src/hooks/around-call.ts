/**
 * The hooks around one call: before it goes on, right before its tool, and about what came of it.
 */

import type { ToolCall } from '../core/contract/call.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { outcomeOf } from '../core/contract/status.ts';
import { changedPaths } from '../core/json/changed-paths.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import { withCall } from '../core/onion/own-call.ts';
import type { Gate } from '../core/onion/pass.ts';
import { annotate, fail } from '../core/onion/results.ts';
import { declaresParameter } from '../tools/parameters/inject-parameter.ts';
import type { HookSource } from './hook-source.ts';
import {
  blockedCall,
  cancelledCall,
  hooksLine,
  withheldResult,
  withoutHandoff,
} from './refusals.ts';
import { blockedText, type HookRun, hooksAfter, hooksBefore } from './run-hooks.ts';

/** A call that no hook blocked. */
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
  const { blocked, runs, payload } = await hooksBefore(call, source);
  if (blocked !== null) return { ended: blockedCall(call, blocked, runs) };
  const args = payload.args as JsonObject; // Merging lets nothing else into a payload.
  return {
    sent: args === call.toolArgs ? call : withCall(call, { toolArgs: args }),
    runs: [...runs],
  };
}

/**
 * Right before the tool. A call that is what the hooks let through goes on. About any other call,
 * which a layer further in has edited or cleaned, or a tool has made, the hooks are asked again.
 * They cannot change it there: what a person has approved stays what it is.
 */
export function recheck(source: HookSource, passed: PassedCalls): Gate {
  return async (call) => {
    if (passed.has(call)) return null;
    const { blocked, runs, payload } = await hooksBefore(call, source);
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
    return runs.length === 0 ? result : annotate(result, {}, hooksLine(result.status, runs));
  const after = await hooksAfter(call, result, source);
  const all = [...runs, ...after.runs];
  if (after.blocked !== null) return withheldResult(call, after.blocked, all);
  const { replaced } = after;
  const isReplaced = replaced !== result;
  if (all.length === 0) return result;
  const status = isReplaced ? 'replaced' : sent === call ? 'ok' : 'modified';
  return annotate(isReplaced ? withoutHandoff(replaced) : replaced, {}, hooksLine(status, all));
}

/**
 * Whether the result is a tool's. It is not where a layer turned the call away, a person is waited
 * for, or the caller left.
 */
function isAnswer(result: ToolResult): boolean {
  if (outcomeOf(result) === 'interrupted' || result.status === 'cancelled') return false;
  return result.ok || result.executed !== 'no' || result.status === 'executor_error';
}

interface Passed extends Pick<ToolCall, 'callId' | 'toolName' | 'toolArgs'> {
  /** What the record of the call says about its hooks, to be added to. */
  readonly runs: HookRun[];
}

export interface PassedCalls {
  /** Let through until the returned function is called. */
  add(call: ToolCall, runs: HookRun[]): () => void;
  /** Whether this call, as the executor would be entered with it, is one of them. */
  has(call: ToolCall): boolean;
  /** The record of a call of that id and name, whatever its arguments have become. */
  runsOf(call: ToolCall): HookRun[];
}

/** None so far. */
export function passedCalls(): PassedCalls {
  const passed = new Set<Passed>();
  const named = ({ callId, toolName }: ToolCall) =>
    [...passed].filter((one) => one.callId === callId && one.toolName === toolName);
  return {
    add({ callId, toolName, toolArgs }, runs) {
      const one = { callId, toolName, toolArgs, runs };
      passed.add(one);
      return () => void passed.delete(one);
    },
    has: (call) => named(call).some((one) => isCovered(one.toolArgs, call)),
    runsOf: (call) => named(call)[0]?.runs ?? [],
  };
}

/** What a layer further in takes off again, such as a reason, is none of the tool's arguments. */
function isCovered(seen: JsonObject, { schema, toolArgs }: ToolCall): boolean {
  if (seen === toolArgs) return true;
  const isKept = (name: string) =>
    Object.hasOwn(toolArgs, name) || schema === null || declaresParameter(schema, name);
  return (
    changedPaths(
      Object.fromEntries(Object.entries(seen).filter(([name]) => isKept(name))),
      toolArgs,
    ).length === 0
  );
}
