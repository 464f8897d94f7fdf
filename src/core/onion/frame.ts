/**
 * One layer at work on one call: what goes in, what comes out, and what is written down about it.
 */

import { type Frame, type Link, linkOf, slotOf } from './pass.ts';
import { fail, refuse } from './results.ts';
import { isResultOf, stamp } from './make-result.ts';
import { isAbandoned, isAborted, ownCall, stateOf } from './own-call.ts';
import { pushEntry } from './audit.ts';
import { type ToolCall } from '../contract/call.ts';
import { isoTime } from '../time/clock.ts';
import { AlliumError, describeThrown } from '../contract/errors.ts';
import type { Next, ToolLayer } from '../contract/layer.ts';
import { type ToolResult } from '../contract/result.ts';
import { followApproval } from './conditions.ts';

/** Written without `async`, because a second promise per layer would double what a layer costs. */
export function layerLink(layer: ToolLayer, inner: Link): Link {
  return (call, parent) => {
    const slot = slotOf(call);
    const frame: Frame = {
      layer,
      call,
      parent,
      inner,
      depth: parent === null ? 0 : parent.depth + 1,
      startedAt: isoTime(slot.state.clock.now()),
      next: null,
      sent: null,
      answered: null,
      closed: false,
      line: null,
    };
    slot.frame = frame;
    const next: Next = (passed) => descend(frame, passed);
    frame.next = next;
    const returned = (answered: unknown) => leave(frame, answered);
    const threw = (thrown: unknown) => leave(frame, layerThrew(frame, thrown));
    try {
      const answered = layer.caller(call, next);
      return (isPlainPromise(answered) ? answered : adopted(answered)).then(returned, threw);
    } catch (thrown) {
      return Promise.resolve(threw(thrown));
    }
  };
}

/**
 * A promise with a `then` of its own may answer twice, or not with a promise; `instanceof` alone
 * does not tell.
 */
export const isPlainPromise = (value: unknown): value is Promise<unknown> =>
  value instanceof Promise &&
  value.then === Promise.prototype.then &&
  value.constructor === Promise;

/**
 * Whatever was returned, as a promise that settles once. `Promise.resolve` would hand a tampered
 * promise back as it is.
 */
export const adopted = (value: unknown): Promise<unknown> =>
  new Promise((resolve) => resolve(value));

export const CANCELLED = 'The call was cancelled before it finished.';

/** What a caller gets that took its call back. */
export const cancelled = (call: ToolCall): ToolResult => refuse(call, 'cancelled', CANCELLED);

export const isCancelled = (call: ToolCall): boolean =>
  isAborted(call) || slotOf(call).state.abort?.isAborted() === true;

/** `next`, as one layer sees it. */
function descend(frame: Frame, passed: ToolCall): Promise<ToolResult> {
  if (frame.closed) return Promise.resolve(blame(frame, RETURNED));
  let call = frame.call;
  try {
    if (passed !== call) call = accepted(frame, passed);
  } catch (thrown) {
    return Promise.resolve(
      blame(frame, `passed on a call that cannot be used: ${describeThrown(thrown)}`),
    );
  }
  if (slotOf(call).state.abandoned && isAbandoned(frame)) return Promise.resolve(cancelled(call));
  const objection = notNow(frame);
  if (objection !== null) return Promise.resolve(objection);
  frame.sent = call;
  return frame.inner(call, frame);
}

const RETURNED = 'called next after it had returned';

/** Why the layer cannot go on now: one call after another, and never after it has answered. */
export function notNow(frame: Frame): ToolResult | null {
  if (frame.closed) return blame(frame, RETURNED);
  return frame.sent === null
    ? null
    : blame(frame, 'called next again before the first one had settled');
}

/**
 * A copy by spread is taken for what `withCall` would have made of it; anything else must come from
 * `withCall`.
 */
export function accepted(frame: Frame, passed: ToolCall): ToolCall {
  if (stateOf(passed) !== slotOf(frame.call).state)
    throw new AlliumError('ERR_INVALID_CALL', 'it belongs to another call; use withCall(call, …)');
  const own = ownCall(passed);
  return slotOf(own).conditions === null && slotOf(frame.call).conditions === null
    ? own
    : followApproval(frame, own);
}

function blame(frame: Frame, what: string): ToolResult {
  frame.line = { ...frame.line, status: 'exception', error: what };
  const { layer, call } = frame;
  return memberThrew(layer.name, call, new Error(`layer "${layer.name}" ${what}`));
}

export const foreignResult = (who: string): string =>
  `${who} answered with something that is not a result of this call; build results with ok(), refuse(), fail(), withResult()`;

function layerThrew(frame: Frame, thrown: unknown): ToolResult {
  blame(frame, describeThrown(thrown));
  return memberThrew(frame.layer.name, frame.call, thrown);
}

/** What a call comes to when a layer or a stage throws. */
export const memberThrew = (name: string, call: ToolCall, thrown: unknown): ToolResult =>
  fail(
    call,
    'tool_middleware_exception',
    thrown,
    `The layer "${name}" failed, so this call of ${call.toolName} was stopped. Do not repeat it unchanged.`,
  );

function leave(frame: Frame, answered: unknown): ToolResult {
  const { state } = slotOf(frame.call);
  const returned = isResultOf(answered, state)
    ? answered
    : blame(frame, foreignResult(`layer "${frame.layer.name}"`));
  if (state.abandoned && isAbandoned(frame.parent)) {
    frame.closed = true;
    return returned;
  }
  let result = frame.sent === null ? returned : leftEarly(frame, frame.sent, returned);
  frame.closed = true;
  slotOf(frame.call).frame = frame.parent;
  if (result.ok && frame.answered?.ok === false && isCancelled(frame.call))
    result = uncancelled(frame, frame.answered);
  if (result.executed !== state.executed) result = stamp(result, state.executed);
  // A failure from inside was blamed there. This layer is to blame if `next` was not called, or had
  // answered ok.
  if (!result.ok && frame.answered?.ok !== false) state.blockedBy = frame.layer.name;
  const line = {
    name: frame.layer.name,
    status: result.status,
    startedAt: frame.startedAt,
    endedAt: isoTime(state.clock.now()),
  };
  pushEntry(state, line, frame.line);
  // A kept result keeps the frames it came through, but not the other results that did.
  frame.answered = null;
  return answer(frame.parent, result);
}

/** A layer may answer before `next` has settled only if it took the call back first. */
function leftEarly(frame: Frame, sent: ToolCall, returned: ToolResult): ToolResult {
  slotOf(frame.call).state.abandoned = true;
  // A layer that failed is blamed for that, not for leaving.
  if (isAborted(sent) || returned.status === 'tool_middleware_exception') return returned;
  return blame(frame, 'returned before next had settled: an await is missing');
}

function uncancelled(frame: Frame, answered: ToolResult): ToolResult {
  frame.line = {
    ...frame.line,
    status: 'exception',
    error: 'turned a cancelled call into a success',
  };
  return answered.status === 'cancelled' ? answered : cancelled(frame.call);
}

/** Hands a result to the layer outside. */
export function answer(parent: Frame | null, result: ToolResult): ToolResult {
  const link = linkOf(result);
  link.at = parent;
  if (link.state.abandoned && isAbandoned(parent)) return result;
  if (link.raise !== null) link.state.raised ??= result;
  if (parent !== null) {
    parent.sent = null;
    parent.answered = result;
  }
  return result;
}
