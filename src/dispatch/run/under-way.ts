/**
 * What executors of this package may do with the call that they run: ask for more, and leave word
 * in its record.
 */

import type { Refusal } from '../../core/onion/pass.ts';
import { annotate } from '../../core/onion/results.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { stateOf } from '../../core/onion/own-call.ts';
import type { ToolCall } from '../../core/contract/call.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import { type AbortSource, sourceOf } from '../../core/time/abort.ts';
import { refusalOfLate } from '../../permissions/preflight.ts';
import type { ToolContext } from '../../tools/tool.ts';

interface Running {
  readonly call: ToolCall;
  readonly abort: AbortSource;
  /** Why the tool may not be entered any more. */
  readonly objection: () => Refusal | null;
}

/**
 * Under this symbol a context holds its call. It is not enumerable, so that a copy of a context
 * stands for no call. In a weak map the collector would look at the entry of every call.
 */
const RUNNING: unique symbol = Symbol('allium.running');

const runningOf = (context: ToolContext): Running | undefined =>
  (context as { readonly [RUNNING]?: Running })[RUNNING]; // Put there by `bindContext`.

const uses = new WeakMap<object, JsonObject[]>();

/** More than a record should hold; the number of those left out is told. */
const MAX_USES = 100;

/** Completes the context of a call. Its signal is made when a tool reads it. */
export function bindContext(fields: Omit<ToolContext, 'signal'>, running: Running): ToolContext {
  const { abort } = running;
  // The one member that is missing comes with the getter.
  return Object.freeze(
    Object.defineProperties(fields, {
      signal: { enumerable: true, get: () => abort.read() },
      [RUNNING]: { value: running },
    }) as unknown as ToolContext,
  );
}

/** What takes back the call that a tool runs for. Does not make a signal that nobody has read. */
export const abortOfRunning = (context: ToolContext): AbortSource =>
  runningOf(context)?.abort ?? sourceOf(context.signal);

/**
 * For an executor that waits before it sends a call on: why the call must not be sent, because its
 * tool is not any more what it was when the call was decided about. To be asked in the same step as
 * the sending.
 */
export const changeWhileRunning = (context: ToolContext): Refusal | null =>
  runningOf(context)?.objection() ?? null;

/**
 * Why a running tool may not do this, or `null` where it may. Outside of a dispatcher nobody can be
 * asked, so nothing may be done.
 */
export async function refusalWhileRunning(
  context: ToolContext,
  proposed: object,
): Promise<string | null> {
  const running = runningOf(context);
  return running === undefined
    ? 'only a governed call may do this'
    : refusalOfLate(running.call, proposed);
}

/** Leaves word of one thing a running tool did. */
export function noteUse(context: ToolContext, use: JsonObject): void {
  const running = runningOf(context);
  if (running === undefined) return;
  const state = stateOf(running.call);
  const noted = uses.get(state) ?? [];
  noted.push(use);
  uses.set(state, noted);
}

/** The result with what was noted while the tool ran, under `audit.builtins`. */
export function withUses(call: ToolCall, result: ToolResult): ToolResult {
  const noted = uses.get(stateOf(call));
  if (noted === undefined) return result;
  uses.delete(stateOf(call));
  const more = noted.length - MAX_USES;
  return annotate(result, {
    builtins: [...noted.slice(0, MAX_USES), ...(more > 0 ? [{ more }] : [])],
  });
}
