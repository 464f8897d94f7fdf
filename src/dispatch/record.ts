/** What the dispatcher keeps with a call while it is under way. */

import type { JsonObject } from '../core/json/json-value.ts';
import { stateOf } from '../core/onion/own-call.ts';
import type { EarlierDecision } from '../core/contract/approval.ts';
import type { ToolCall, ToolProgress } from '../core/contract/call.ts';
import type { Tool } from '../tools/tool.ts';
import type { Seat } from './intake/limits.ts';

export interface DispatchRecord {
  /** The tool that was asked for, or `null` when this turn has none of that name. */
  readonly tool: Tool | null;
  /**
   * The tools of other names that layers gave the call, as they were found first; `null` for names
   * that nothing has.
   */
  others: Map<string, Tool | null> | null;
  /** What is wrong with the arguments before any schema is asked. */
  readonly problem: string | null;
  readonly hiddenStripped: number;
  /** What was asked for, before any layer. */
  readonly opened: JsonObject;
  /** What was decided in earlier passes, whatever of it layers have used in this one. */
  readonly decisions: readonly EarlierDecision[];
  /**
   * It was started by another call that has been answered: it takes no place from calls
   * whose caller waits.
   */
  readonly isBackground: boolean;
  /** Tells the host of progress, past every layer. */
  readonly report: (progress: ToolProgress) => void;
  /** What a tool that ran elsewhere answered. */
  readonly output?: unknown;
  /** The places it takes among others. */
  readonly seats: Seat[];
  /** It has given them up while a person is asked. */
  isAside: boolean;
  /** The arguments that fitted the advertised schema. */
  admitted: JsonObject | null;
  /** The call has been answered; whatever a tool still reports is too late. */
  done: boolean;
  /** How often the host was told, to notice a layer that swallows progress. */
  reported: number;
  /** What the tool did while it ran, for `audit.builtins`; `null` for nothing. */
  uses: JsonObject[] | null;
}

/** Every call the dispatcher makes carries one. */
export const recordOf = (call: ToolCall): DispatchRecord => stateOf(call).host as DispatchRecord;

/** Also of a call that no dispatcher made, which does not run in the background. */
export const isBackground = (call: ToolCall): boolean =>
  (stateOf(call).host as DispatchRecord | null)?.isBackground === true;

/** Waits for the places a call has given up. Without them when its caller leaves first. */
export async function comeBack(call: ToolCall): Promise<void> {
  const record = recordOf(call);
  if (!record.isAside) return;
  // Always in the same order, or two calls could each hold what the other one waits for.
  for (const seat of record.seats) await seat.retake(call.signal);
  record.isAside = false;
}
