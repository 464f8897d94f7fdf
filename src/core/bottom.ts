/** The bottom of the onion: the executor, and what guards it. */

import { mergeAudit } from './audit.ts';
import { BRAND, isResultOf, stamp } from './build-result.ts';
import { isAbandoned, SLOT, type ToolCall } from './call.ts';
import {
  adopted,
  answer,
  cancelled,
  CANCELLED,
  climb,
  foreignResult,
  isCancelled,
  isPlainPromise,
  layerLink,
  type Link,
} from './frame.ts';
import { breached, passGates } from './gates.ts';
import type { Next, ToolLayer } from './layer.ts';
import { runUnder } from './nested-terms.ts';
import { fail, ok, type ToolResult } from './result.ts';
import { type CallState, depthOf, type Frame } from './state.ts';
import { type Executed, strongerExecuted } from './status.ts';
import { type ApprovedCall, breachOf, type CallTerms } from './terms.ts';

/** A chain of links from the outermost layer to the executor. */
export const chainOf = (layers: readonly ToolLayer[], executor: Next): Link =>
  layers.reduceRight<Link>((inner, layer) => layerLink(layer, inner), bottomLink(executor));

/** The executor with its guard: nothing starts for a caller that has gone, and whatever it does becomes a result. */
function bottomLink(executor: Next): Link {
  return (call, parent) => {
    const { state, terms } = call[SLOT];
    // What has happened cannot be kept from happening.
    if (state.isOver) return enter(executor, call, parent);
    if (isGone(call, parent)) return Promise.resolve(answer(parent, unblamed(call)));
    const breach = terms === null ? null : breachOf(call, terms);
    if (breach !== null) return Promise.resolve(answer(parent, breached(call, breach)));
    return terms === null || terms.gates.length === 0
      ? enter(executor, call, parent)
      : enterPastGates(executor, call, parent);
  };
}

async function enterPastGates(
  executor: Next,
  call: ToolCall,
  parent: Frame | null,
): Promise<ToolResult> {
  const passed = await passGates(call);
  if ('result' in passed) return climb(parent, answer(parent, passed.result));
  // Somebody may have been asked, which takes its time.
  if (isGone(passed.call, parent)) return climb(parent, answer(parent, unblamed(passed.call)));
  return enter(executor, passed.call, parent);
}

const isGone = (call: ToolCall, parent: Frame | null): boolean =>
  isCancelled(call) || (call[SLOT].state.abandoned && isAbandoned(parent));

/** Without `async`, which would cost two promises more. */
function enter(executor: Next, call: ToolCall, parent: Frame | null): Promise<ToolResult> {
  const { state, terms } = call[SLOT];
  if (terms !== null && terms.supplied !== null)
    return Promise.resolve(climb(parent, answer(parent, ok(call, terms.supplied.value))));
  if (terms !== null && terms.approved !== null && terms.approved.rewrites.length > 0)
    tellRewrites(parent, terms.approved);
  state.executedArgs = call.toolArgs;
  const before = state.executed;
  const startedAt = state.clock.monotonic();
  state.executed = strongerExecuted(before, 'unknown');
  state.running = true;
  const come = (result: ToolResult) =>
    climb(parent, answer(parent, measured(comeOut(result, before, parent), state, startedAt)));
  const threw = (thrown: unknown) => come(executorThrew(call, thrown));
  const answered = (value: unknown) =>
    come(
      isResultOf(value, state)
        ? value
        : fail(call, 'tool_middleware_exception', value, foreignResult('executor')),
    );
  try {
    const answering: unknown =
      terms === null || !isHeld(terms) ? executor(call) : runUnder(terms, () => executor(call));
    return (isPlainPromise(answering) ? answering : adopted(answering)).then(answered, threw);
  } catch (thrown) {
    return Promise.resolve(threw(thrown));
  }
}

/** What is known to have run, now that the executor has answered. */
function comeOut(result: ToolResult, before: Executed, parent: Frame | null): ToolResult {
  const { state } = result[BRAND];
  // A run that was abandoned must not take back what a later one has done.
  const abandoned = state.abandoned && isAbandoned(parent);
  state.executed = strongerExecuted(
    abandoned ? state.executed : before,
    result[BRAND].claim ?? 'yes',
  );
  if (!abandoned) state.running = false;
  return result;
}

/** Whether calls that the tool makes itself are held to anything. */
const isHeld = ({ guards, gates, askGuards }: CallTerms): boolean =>
  guards.length + gates.length + askGuards.length > 0;

/** Nobody turned away a call whose caller has gone, whatever happened to an earlier try. */
function unblamed(call: ToolCall): ToolResult {
  call[SLOT].state.blockedBy = null;
  return cancelled(call);
}

function tellRewrites(innermost: Frame | null, { rewrites }: ApprovedCall): void {
  if (innermost !== null)
    mergeAudit(innermost.call[SLOT].state, { rewrites }, depthOf(innermost) + 1);
}

const executorThrew = (call: ToolCall, thrown: unknown): ToolResult =>
  isCancelled(call)
    ? fail(call, 'cancelled', thrown, CANCELLED, { executed: 'unknown' })
    : fail(call, 'executor_error', thrown, undefined, {
        category: 'exception',
        executed: 'unknown',
      });

/**
 * What an executor answers is stamped when it is built. It is built again only where that would be wrong: another word
 * on what ran, or a time of a millisecond and more.
 */
function measured(result: ToolResult, state: CallState, startedAt: number): ToolResult {
  const ms = state.clock.monotonic() - startedAt;
  const isRight = result[BRAND].measured || ms - result.executionDurationMs < 1;
  if (result.executed === state.executed && isRight) return result;
  return stamp(result, state.executed, isRight ? result.executionDurationMs : ms);
}
