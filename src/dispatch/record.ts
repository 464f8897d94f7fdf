/** What the dispatcher keeps with a call while it is under way, and which tool the call enters. */

import type { JsonObject } from '../core/json/json-value.ts';
import type { EarlierDecision } from '../approvals/consultation.ts';
import type { Refusal } from '../core/onion/pass.ts';
import { stateOf } from '../core/onion/own-call.ts';
import { oneLine } from '../core/contract/errors.ts';
import { wholeDefinitionHash } from '../tools/own-definition.ts';
import type { ToolCall, ToolProgress, Turn } from '../core/contract/call.ts';
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

/** The tool of a name in a turn as the host has it now. */
export type FindTool = (name: string, turn: Turn) => Tool | null;

/** Why a tool that was found for this call may not be entered any more, or `null`. */
export type ObjectToChange = (call: ToolCall, tool: Tool) => Refusal | null;

/**
 * The tool that a call of this name enters: the one that was found first, for as long as the call
 * is under way. Rules, fingerprints, grants, proposals and the executor all read this one, so that
 * none of them can speak of another tool than the others.
 */
export function toolFor(call: ToolCall, name: string, find: FindTool): Tool | null {
  const record = recordOf(call);
  if (record.tool?.name === name) return record.tool;
  const others = (record.others ??= new Map<string, Tool | null>());
  const known = others.get(name);
  if (known !== undefined) return known;
  const found = find(name, call.turn);
  others.set(name, found);
  return found;
}

/**
 * Compares with what the host has now: a tool that is gone, or has another definition, is not what
 * layers judged and people approved.
 */
export const objectToChange =
  (find: FindTool): ObjectToChange =>
  (call, tool) => {
    const now = find(tool.name, call.turn);
    if (now === tool || (now !== null && isSameDefinition(now, tool))) return null;
    const name = oneLine(tool.name);
    const message =
      now === null
        ? `${name} was taken away after it was called, so it did not run. Use another tool.`
        : `The definition of ${name} changed after it was called, so it did not run. Read the new definition, and call it again if it still fits.`;
    return {
      status: now === null ? 'tool_not_found' : 'definition_changed',
      message,
      blockedBy: 'entry',
    };
  };

/** A definition without a canonical form equals no other. */
function isSameDefinition(one: Tool, other: Tool): boolean {
  try {
    return wholeDefinitionHash(one) === wholeDefinitionHash(other);
  } catch {
    return false;
  }
}
