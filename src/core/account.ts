/** What is known about a call besides its result: for layers that keep records. */

import { BRAND } from './build-result.ts';
import { type JsonObject, snapshotObject } from './json.ts';
import type { ToolResult } from './result.ts';

export interface CallAccount {
  /** What somebody approved; `null` where nobody had to. */
  readonly approvedArgs: JsonObject | null;
  /** What the executor was entered with; `null` where it never was. */
  readonly executedArgs: JsonObject | null;
  /** The layer that turned the call away; `null` where it ran, or where it came to a good end without running. */
  readonly blockedBy: string | null;
}

export function accountOf(result: ToolResult): CallAccount {
  const { approvedArgs, executedArgs, blockedBy, executed } = result[BRAND].state;
  return {
    approvedArgs,
    executedArgs,
    blockedBy: result.ok || executed !== 'no' ? null : blockedBy,
  };
}

/** Gives a receipt to whoever listens to the call: it rides on the `tool_call_audit` event. */
export function attachReceipt(result: ToolResult, receipt: object): ToolResult {
  result[BRAND].state.receipt = snapshotObject(receipt);
  return result;
}

export const receiptOf = (result: ToolResult): JsonObject | null => result[BRAND].state.receipt;
