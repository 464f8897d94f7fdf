/** The bottom of the onion: the executor, and what guards it. */

import { type ApprovedCall, type Frame, type Link, linkOf, slotOf } from './pass.ts';
import { fail, ok } from './results.ts';
import { isAbandoned } from './own-call.ts';
import { isResultOf, runningMs, stamp } from './make-result.ts';
import { mergeAudit } from './audit.ts';
import { type ToolCall } from '../contract/call.ts';
import {
  adopted,
  answer,
  cancelled,
  CANCELLED,
  foreignResult,
  isCancelled,
  isPlainPromise,
} from './frame.ts';
import { breached, passGates } from './gates.ts';
import type { Next } from '../contract/layer.ts';
import { type ToolResult } from '../contract/result.ts';
import { type Executed, strongerExecuted } from '../contract/status.ts';
import { breachOf, runUnder } from './conditions.ts';

/**
 * The executor with its guard: nothing starts for a caller that has gone, and whatever it does
 * becomes a result.
 */
export function bottomLink(executor: Next): Link {
  return (call, parent) => {
    const { state, conditions } = slotOf(call);
    // What has happened cannot be kept from happening.
    if (state.ranElsewhere) return enter(executor, call, parent);
    if (isGone(call, parent)) return Promise.resolve(answer(parent, unblamed(call)));
    const breach = conditions === null ? null : breachOf(call, conditions);
    if (breach !== null) return Promise.resolve(answer(parent, breached(call, breach)));
    return conditions === null || !conditions.checks.some(({ at }) => at === 'gate')
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
  if ('result' in passed) return answer(parent, passed.result);
  // A gate may have asked a person, who takes their time.
  if (isGone(passed.call, parent)) return answer(parent, unblamed(passed.call));
  return enter(executor, passed.call, parent);
}

const isGone = (call: ToolCall, parent: Frame | null): boolean =>
  isCancelled(call) || (slotOf(call).state.abandoned && isAbandoned(parent));

/** Without `async`, which would cost two promises more. */
function enter(executor: Next, call: ToolCall, parent: Frame | null): Promise<ToolResult> {
  const { state, conditions } = slotOf(call);
  if (conditions !== null && conditions.supplied !== null)
    return Promise.resolve(answer(parent, ok(call, conditions.supplied.value)));
  if (
    conditions !== null &&
    conditions.approved !== null &&
    conditions.approved.rewrites.length > 0
  )
    tellRewrites(parent, conditions.approved);
  state.executedArgs = call.toolArgs;
  const before = state.executed;
  state.enteredAt = state.clock.monotonic();
  state.executed = strongerExecuted(before, 'unknown');
  state.running = true;
  const answered = (value: unknown) =>
    comeOut(
      parent,
      before,
      isResultOf(value, state)
        ? value
        : fail(call, 'tool_middleware_exception', value, foreignResult('executor')),
    );
  const threw = (thrown: unknown) => comeOut(parent, before, executorThrew(call, thrown));
  try {
    const answering: unknown =
      conditions === null || conditions.checks.length === 0
        ? executor(call)
        : runUnder(conditions, () => executor(call));
    return (isPlainPromise(answering) ? answering : adopted(answering)).then(answered, threw);
  } catch (thrown) {
    return Promise.resolve(threw(thrown));
  }
}

/**
 * What is known to have run, now that the executor has answered. A result is stamped when it is
 * built; it is built again only where that would be wrong: another word on what ran, or a time of a
 * millisecond and more.
 */
function comeOut(parent: Frame | null, before: Executed, result: ToolResult): ToolResult {
  const { state, claim } = linkOf(result);
  // A run that was abandoned must not take back what a later one has done.
  const abandoned = state.abandoned && isAbandoned(parent);
  state.executed = strongerExecuted(abandoned ? state.executed : before, claim ?? 'yes');
  if (!abandoned) state.running = false;
  const ms = runningMs(state);
  const isRight = ms - result.executionDurationMs < 1;
  return answer(
    parent,
    result.executed === state.executed && isRight
      ? result
      : stamp(result, state.executed, isRight ? result.executionDurationMs : ms),
  );
}

/** No layer turned this call away, whatever became of an earlier try: its caller has gone. */
function unblamed(call: ToolCall): ToolResult {
  slotOf(call).state.blockedBy = null;
  return cancelled(call);
}

function tellRewrites(innermost: Frame | null, { rewrites }: ApprovedCall): void {
  if (innermost !== null)
    mergeAudit(slotOf(innermost.call).state, { rewrites }, innermost.depth + 1);
}

const executorThrew = (call: ToolCall, thrown: unknown): ToolResult =>
  isCancelled(call)
    ? fail(call, 'cancelled', thrown, CANCELLED, { executed: 'unknown' })
    : fail(call, 'executor_error', thrown, undefined, {
        category: 'exception',
        executed: 'unknown',
      });
