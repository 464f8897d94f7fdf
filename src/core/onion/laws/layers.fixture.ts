/** What the tests of the laws share: small layers, and what a record says of them. */

import type { ToolCaller, ToolLayer } from '../../contract/layer.ts';
import type { ToolResult } from '../../contract/result.ts';

export const pass: ToolCaller = (call, next) => next(call);

export const layer = (name: string, caller: ToolCaller = pass): ToolLayer => ({ name, caller });

export const lineOf = (result: ToolResult, name: string) =>
  result.audit?.layers.find((line) => line.name === name);

/** A layer that writes down when it is entered and left. */
export const tracing = (name: string, trace: string[]): ToolLayer => ({
  name,
  async caller(call, next) {
    trace.push(`${name} in`);
    const result = await next(call);
    trace.push(`${name} out`);
    return result;
  },
});
