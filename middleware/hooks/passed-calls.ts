/** Which calls the hooks have let through, so that nothing else gets to the tool. */

import {
  changedPaths,
  declaresParameter,
  type JsonObject,
  type ToolCall,
} from '../../src/index.ts';
import type { HookRun } from './run-hooks.ts';

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
