/** What is known about a call besides its result: for layers that keep records. */

import { linkOf } from './pass.ts';
import type { JsonObject } from '../json/json-value.ts';
import { snapshotObject } from '../json/json.ts';
import { type ToolResult } from '../contract/result.ts';

export interface CallAccount {
  /** What somebody approved; `null` where nobody had to. */
  readonly approvedArgs: JsonObject | null;
  /** What the executor was entered with; `null` where it never was. */
  readonly executedArgs: JsonObject | null;
  /**
   * The layer that turned the call away; `null` where it ran, or where it came to a good end
   * without running.
   */
  readonly blockedBy: string | null;
}

export function accountOf(result: ToolResult): CallAccount {
  const { approvedArgs, executedArgs, blockedBy, executed } = linkOf(result).state;
  return {
    approvedArgs,
    executedArgs,
    blockedBy: result.ok || executed !== 'no' ? null : blockedBy,
  };
}

/** Gives a receipt to whoever listens to the call: it rides on the `tool_call_audit` event. */
export function attachReceipt(result: ToolResult, receipt: object): ToolResult {
  linkOf(result).state.receipt = snapshotObject(receipt);
  return result;
}

export const receiptOf = (result: ToolResult): JsonObject | null => linkOf(result).state.receipt;
