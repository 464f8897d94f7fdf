/**
 * What executors of this package may do with the call that they run: ask for more, and leave word
 * in its record.
 */

import type { Refusal } from '../../core/onion/pass.ts';
import { annotate } from '../../core/onion/results.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { ToolCall } from '../../core/contract/call.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import { type AbortSource, sourceOf } from '../../core/time/abort.ts';
import { refusalOfLate } from '../../permissions/preflight.ts';
import type { ToolContext } from '../../tools/tool.ts';
import { recordOf } from '../record.ts';

interface Running {
  readonly call: ToolCall;
  readonly abort: AbortSource;
  /** Why the tool of a call may not be entered any more. */
  readonly objectionTo: (call: ToolCall) => Refusal | null;
}

const HANDLE: unique symbol = Symbol('allium.running');

/** What a context carries for this file alone: a tool that finds it can read nothing from it. */
class Handle {
  readonly #running: Running;

  constructor(running: Running) {
    this.#running = running;
  }

  static runningOf(context: ToolContext): Running | null {
    const { [HANDLE]: handle } = context as { readonly [HANDLE]?: unknown }; // Or made by a host.
    return typeof handle === 'object' && handle !== null && #running in handle
      ? handle.#running
      : null;
  }
}

/** More than a record should hold; the number of those left out is told. */
const MAX_USES = 100;

/** One getter for all contexts: with one each, every context would be laid out by itself. */
const LAZY_SIGNAL = {
  enumerable: true,
  get(this: ToolContext): AbortSignal | undefined {
    return Handle.runningOf(this)?.abort.read();
  },
};

type ContextFields = Omit<ToolContext, 'signal'> & { [HANDLE]?: Handle };

/** Completes the context of a call. Its signal is made when a tool reads it. */
export function bindContext(context: ContextFields, running: Running): ToolContext {
  context[HANDLE] = new Handle(running);
  // The one member that is missing comes with the getter.
  return Object.freeze(Object.defineProperty(context, 'signal', LAZY_SIGNAL) as ToolContext);
}

/** What takes back the call that a tool runs for. Does not make a signal that was not read yet. */
export const abortOfRunning = (context: ToolContext): AbortSource =>
  Handle.runningOf(context)?.abort ?? sourceOf(context.signal);

/**
 * For an executor that waits before it sends a call on: why the call must not be sent, because its
 * tool is not any more what it was when the call was decided about. To be asked in the same step as
 * the sending.
 */
export function changeWhileRunning(context: ToolContext): Refusal | null {
  const running = Handle.runningOf(context);
  return running === null ? null : running.objectionTo(running.call);
}

/**
 * Why a running tool may not do this, or `null` where it may. Outside of a dispatcher no policy can
 * be asked, so nothing may be done.
 */
export async function refusalWhileRunning(
  context: ToolContext,
  proposed: object,
): Promise<string | null> {
  const running = Handle.runningOf(context);
  return running === null
    ? 'only a governed call may do this'
    : refusalOfLate(running.call, proposed);
}

/** Leaves word of one thing a running tool did. */
export function noteUse(context: ToolContext, use: JsonObject): void {
  const running = Handle.runningOf(context);
  if (running === null) return;
  const record = recordOf(running.call);
  (record.uses ??= []).push(use);
}

/** The result with what was noted while the tool ran, under `audit.builtins`. */
export function withUses(call: ToolCall, result: ToolResult): ToolResult {
  const record = recordOf(call);
  const noted = record.uses;
  if (noted === null) return result;
  record.uses = null;
  const more = noted.length - MAX_USES;
  return annotate(result, {
    builtins: [...noted.slice(0, MAX_USES), ...(more > 0 ? [{ more }] : [])],
  });
}
