/** What a person answered, read strictly: what is not exactly an answer approves nothing. */

import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { APPROVAL_ANSWERS, type ApprovalAnswer } from './question.ts';
import { isObject, snapshot } from '../core/json/json.ts';

/** An answer whose every member was read once. */
export interface ReadAnswer extends Omit<ApprovalAnswer, 'result'> {
  readonly supplied?: { readonly value: JsonValue };
}

const MEMBERS = ['decision', 'decidedBy', 'reason', 'args', 'result', 'anyArguments'];

/**
 * The members of an answer, or `null` for what is none. An unknown member may be a misspelt `args`:
 * the call would run with the arguments that the person meant to change. A result in the place of a
 * call that is rejected, or beside other arguments, makes no sense; nor do arguments left open for
 * a single call, or beside an edit. Arguments and results that are not JSON cannot be run or shown.
 */
export function readAnswer(value: unknown): ReadAnswer | null {
  try {
    return read(value);
  } catch {
    return null;
  }
}

function read(value: unknown): ReadAnswer | null {
  if (!isObject(value)) return null;
  // A map, so that what was added to `Object.prototype` is no answer.
  const members = new Map<string, unknown>(Object.entries(value));
  if ([...members.keys()].some((name) => !MEMBERS.includes(name))) return null;
  const [said, decidedBy, reason, args, result, anyArguments] = MEMBERS.map((name) =>
    members.get(name),
  );
  const decision = APPROVAL_ANSWERS.find((known) => known === said);
  if (decision === undefined || !isText(decidedBy) || !isText(reason)) return null;
  if (!(args === undefined || isObject(args))) return null;
  if (result !== undefined && (args !== undefined || !isYes(decision))) return null;
  const isOpen = anyArguments === true;
  if (
    anyArguments !== undefined &&
    !(isOpen && isForAlways(decision) && args === undefined && result === undefined)
  )
    return null;
  return {
    decision,
    ...(decidedBy === undefined || decidedBy === '' ? {} : { decidedBy }),
    ...(reason === undefined || reason === '' ? {} : { reason }),
    // A snapshot has the shape of what was copied.
    ...(args === undefined ? {} : { args: snapshot(args) as JsonObject }),
    ...(result === undefined ? {} : { supplied: { value: snapshot(result) } }),
    ...(isOpen ? { anyArguments: true } : {}),
  };
}

/** Whether a decision lets the call run. */
export const isYes = (decision: string): boolean =>
  decision === 'allow_once' || decision === 'allow_always';

/** Whether a decision also holds for later calls. */
export const isForAlways = (decision: string): boolean =>
  decision === 'allow_always' || decision === 'reject_always';

const isText = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string';
