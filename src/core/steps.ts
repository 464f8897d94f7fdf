/** Callers in two steps, in and out, for layers that wait for nothing themselves: the chain then waits once for all of them. */

import type { ToolCall } from './call.ts';
import type { Next, ToolCaller } from './layer.ts';
import type { ToolResult } from './result.ts';

/** Goes on with `call`, and answers with what `leave` makes of the result. `leave` is run once, also when nobody listens any more. */
export interface Onward {
  readonly call: ToolCall;
  readonly leave: (result: ToolResult) => ToolResult | Promise<ToolResult>;
}

/** The way in: answers the call, or says how to go on. */
export type Step = (call: ToolCall) => Stepped | Promise<Stepped>;
export type Stepped = ToolResult | Onward;

/** By caller, not by layer: whoever puts another caller into a copy of a layer gets the caller they put there. */
const steps = new WeakMap<ToolCaller, Step>();

/**
 * A caller for a layer that passes each call on at most once. The same as awaiting `next` in between, without the promises this
 * costs. Not for a layer that answers before `next` has, tries again, or does something around it.
 */
export function inSteps(step: Step): ToolCaller {
  const caller = async (call: ToolCall, next: Next): Promise<ToolResult> => {
    const stepped = await step(call);
    return isOnward(stepped) ? stepped.leave(await next(stepped.call)) : stepped;
  };
  steps.set(caller, step);
  return caller;
}

export const stepOf = (caller: ToolCaller): Step | null => steps.get(caller) ?? null;

/** Anything else is taken for an answer, and checked like one. */
export function isOnward(stepped: unknown): stepped is Onward {
  return (
    typeof stepped === 'object' &&
    stepped !== null &&
    'leave' in stepped &&
    typeof stepped.leave === 'function'
  );
}
