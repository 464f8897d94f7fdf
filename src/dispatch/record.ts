/** What the dispatcher keeps with a call while it is under way. */

import { stateOf, type ToolCall, type ToolProgress } from '../core/call.ts';
import type { JsonObject } from '../core/json.ts';
import type { Tool } from '../tools/tool.ts';
import type { Seat } from './limits.ts';

export interface DispatchRecord {
  /** The tool that was asked for, or `null` when this turn has none of that name. */
  readonly tool: Tool | null;
  /** What is wrong with the arguments before any schema is asked. */
  readonly problem: string | null;
  readonly hiddenStripped: number;
  /** Tells the host of progress, past every layer. */
  readonly report: (progress: ToolProgress) => void;
  /** What a tool that ran elsewhere answered. */
  readonly output?: unknown;
  /** The places it takes among others. */
  readonly seats: Seat[];
  /** The arguments that fitted the advertised schema. */
  admitted: JsonObject | null;
  /** The call has been answered; whatever a tool still reports is too late. */
  done: boolean;
  /** How often the host was told, to notice a layer that swallows progress. */
  reported: number;
}

/** Every call the dispatcher makes carries one. */
export const recordOf = (call: ToolCall): DispatchRecord => stateOf(call).host as DispatchRecord;
