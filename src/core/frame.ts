/** One layer at work on one call: what goes in, what comes out, and what is written down about it. */

import { pushEntry } from './audit.ts';
import { isAbandoned, isSignalAborted, ownCall, SLOT, stateOf, type ToolCall } from './call.ts';
import { isoTime } from './clock.ts';
import { AlliumError, describeThrown } from './errors.ts';
import type { ToolLayer } from './layer.ts';
import { BRAND, isResultOf, stamp } from './build-result.ts';
import { fail, refuse, type ToolResult } from './result.ts';
import { isOnward, type Onward, type Step, stepOf } from './steps.ts';
import type { Frame } from './state.ts';
import { statusRow } from './status.ts';
import { followApproval } from './terms.ts';

/** A link of the built chain. Never rejects. */
export type Link = (call: ToolCall, parent: Frame | null) => Promise<ToolResult>;

/** Layers of the framework itself write a line only when they answered the call, or have something to say on it. */
export const silentLayers = new WeakSet<object>();

/**
 * Written without `async`, because a second promise per layer would double what a layer costs. A layer that hands on
 * what `next` gave it costs none at all: it is left together with the layer inside it.
 */
export function layerLink(layer: ToolLayer, inner: Link): Link {
  const silent = silentLayers.has(layer.caller);
  const step = stepOf(layer.caller);
  if (step !== null) return stepLink(layer, silent, step, inner);
  return (call, parent) => {
    const frame = openFrame(layer, silent, call, parent);
    try {
      const answered = layer.caller(call, (passed) => descend(frame, inner, passed));
      const isPlain = isPlainPromise(answered);
      if (isPlain && answered === frame.promise && frame.sent !== null) {
        frame.handsOn = true;
        return frame.promise;
      }
      const returned = (result: unknown) => climb(parent, leave(frame, result));
      const threw = (thrown: unknown) => climb(parent, leave(frame, layerThrew(frame, thrown)));
      return (isPlain ? answered : adopted(answered)).then(returned, threw);
    } catch (thrown) {
      return Promise.resolve(leave(frame, layerThrew(frame, thrown)));
    }
  };
}

/** A layer in two steps. Between them the promise of the layer inside it is handed on. */
function stepLink(layer: ToolLayer, silent: boolean, step: Step, inner: Link): Link {
  return (call, parent) => {
    const frame = openFrame(layer, silent, call, parent);
    const threw = (thrown: unknown) => climb(parent, leave(frame, layerThrew(frame, thrown)));
    try {
      const stepped = step(call);
      if (isOnward(stepped)) return goOn(frame, inner, stepped);
      if (isResultOf(stepped, call[SLOT].state)) return Promise.resolve(leave(frame, stepped));
      const answered = (later: unknown) =>
        isOnward(later) ? goOn(frame, inner, later) : climb(parent, leave(frame, later));
      return adopted(stepped).then(answered).catch(threw);
    } catch (thrown) {
      return Promise.resolve(threw(thrown));
    }
  };
}

function goOn(frame: Frame, inner: Link, { call, leave: finish }: Onward): Promise<ToolResult> {
  frame.finish = finish;
  const promise = descend(frame, inner, call);
  frame.handsOn = true;
  // What has answered already climbed no further than this layer, which was not yet waiting for it.
  return frame.sent === null ? promise.then((result) => climb(frame, result)) : promise;
}

/** Leaves every layer outside that handed on the promise now being kept. */
export function climb(from: Frame | null, result: ToolResult): ToolResult | Promise<ToolResult> {
  let left = result;
  for (let frame = from; frame?.handsOn === true; frame = frame.parent) {
    const finished = frame.finish === null ? left : finish(frame, frame.finish, left);
    if (finished instanceof Promise) return finished;
    left = leave(frame, finished);
  }
  return left;
}

/** The second step of a layer; where it has to be waited for, the way out from there on. */
function finish(
  frame: Frame,
  step: Onward['leave'],
  result: ToolResult,
): ToolResult | Promise<ToolResult> {
  frame.finish = null;
  try {
    const finished: unknown = step(result);
    return isResultOf(finished, frame.call[SLOT].state) ? finished : finishLater(frame, finished);
  } catch (thrown) {
    return layerThrew(frame, thrown);
  }
}

function finishLater(frame: Frame, finished: unknown): Promise<ToolResult> {
  const left = (later: unknown) => climb(frame.parent, leave(frame, later));
  return adopted(finished).then(left, (thrown: unknown) => left(layerThrew(frame, thrown)));
}

/** A promise with a `then` of its own may answer twice, or not with a promise; `instanceof` alone does not tell. */
export const isPlainPromise = (value: unknown): value is Promise<unknown> =>
  value instanceof Promise &&
  value.then === Promise.prototype.then &&
  value.constructor === Promise;

/** Whatever was returned, as a promise that settles once. `Promise.resolve` would hand a tampered promise back as it is. */
export const adopted = (value: unknown): Promise<unknown> =>
  new Promise((resolve) => resolve(value));

function openFrame(layer: ToolLayer, silent: boolean, call: ToolCall, parent: Frame | null): Frame {
  const slot = call[SLOT];
  const frame: Frame = {
    layer,
    silent,
    call,
    parent,
    startedAt: slot.state.clock.now(),
    sent: null,
    promise: null,
    handsOn: false,
    finish: null,
    answered: null,
    closed: false,
    line: null,
  };
  slot.frame = frame;
  return frame;
}

export const CANCELLED = 'The call was cancelled before it finished.';

/** What a caller gets that took its call back. */
export const cancelled = (call: ToolCall): ToolResult => refuse(call, 'cancelled', CANCELLED);

export const isCancelled = (call: ToolCall): boolean =>
  isSignalAborted(call) || call[SLOT].state.abort?.isAborted() === true;

/** `next`, as one layer sees it. One call after another; never after the layer has answered. */
function descend(frame: Frame, inner: Link, passed: ToolCall): Promise<ToolResult> {
  if (frame.closed) return Promise.resolve(blame(frame, 'called next after it had returned'));
  let call = frame.call;
  try {
    if (passed !== call) call = accepted(frame, passed);
  } catch (thrown) {
    return Promise.resolve(
      blame(frame, `passed on a call that cannot be used: ${describeThrown(thrown)}`),
    );
  }
  if (call[SLOT].state.abandoned && isAbandoned(frame)) return Promise.resolve(cancelled(call));
  if (frame.sent !== null)
    return Promise.resolve(blame(frame, 'called next again before the first one had settled'));
  frame.sent = call;
  frame.promise = inner(call, frame);
  return frame.promise;
}

/** A copy by spread is taken for what `withCall` would have made of it; anything else must come from `withCall`. */
function accepted(frame: Frame, passed: ToolCall): ToolCall {
  if (stateOf(passed) !== frame.call[SLOT].state)
    throw new AlliumError('ERR_INVALID_CALL', 'it belongs to another call; use withCall(call, …)');
  const own = ownCall(passed);
  return own[SLOT].terms === null && frame.call[SLOT].terms === null
    ? own
    : followApproval(frame, own);
}

function blame(frame: Frame, what: string): ToolResult {
  frame.line = { ...frame.line, status: 'exception', error: what };
  return fail(
    frame.call,
    'tool_middleware_exception',
    new Error(`layer "${frame.layer.name}" ${what}`),
    stopped(frame),
  );
}

export const foreignResult = (who: string): string =>
  `${who} answered with something that is not a result of this call; build results with ok(), refuse(), fail(), withResult()`;

function layerThrew(frame: Frame, thrown: unknown): ToolResult {
  blame(frame, describeThrown(thrown));
  return fail(frame.call, 'tool_middleware_exception', thrown, stopped(frame));
}

const stopped = ({ layer, call }: Frame): string =>
  `The layer "${layer.name}" failed, so this call of ${call.toolName} was stopped. Do not repeat it unchanged.`;

function leave(frame: Frame, answered: unknown): ToolResult {
  const { state } = frame.call[SLOT];
  const returned = isResultOf(answered, state)
    ? answered
    : blame(frame, foreignResult(`layer "${frame.layer.name}"`));
  if (state.abandoned && isAbandoned(frame.parent)) {
    frame.closed = true;
    return returned;
  }
  let result = frame.sent === null ? returned : leftEarly(frame, frame.sent, returned);
  frame.closed = true;
  frame.call[SLOT].frame = frame.parent;
  if (result.ok && frame.answered?.ok === false && isCancelled(frame.call))
    result = uncancelled(frame, frame.answered);
  if (result.executed !== state.executed) result = stamp(result, state.executed);
  // Whoever answers well without running has turned nobody away; a refusal on top of that is its own.
  if (!result.ok && frame.answered?.ok !== false) state.blockedBy = frame.layer.name;
  if (!frame.silent || frame.line !== null || (result !== frame.answered && !result.ok))
    writeLine(frame, result);
  // Whoever keeps the result keeps the frames it came through, but not what else went through them.
  frame.promise = null;
  frame.answered = null;
  return answer(frame.parent, result);
}

/** A layer may answer before `next` has settled only if it took the call back first. */
function leftEarly(frame: Frame, sent: ToolCall, returned: ToolResult): ToolResult {
  frame.call[SLOT].state.abandoned = true;
  // A layer that failed is blamed for that, not for leaving.
  if (isSignalAborted(sent) || returned.status === 'tool_middleware_exception') return returned;
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

function writeLine({ layer, call, startedAt, line }: Frame, result: ToolResult): void {
  const { state } = call[SLOT];
  const entry = {
    name: layer.name,
    status: result.status,
    startedAt: isoTime(startedAt),
    endedAt: isoTime(state.clock.now()),
  };
  pushEntry(state, entry, line, statusRow(result.status) !== undefined);
}

/** Hands a result to the layer outside. */
export function answer(parent: Frame | null, result: ToolResult): ToolResult {
  const link = result[BRAND];
  link.at = parent;
  if (link.state.abandoned && isAbandoned(parent)) return result;
  if (link.raise !== null) link.state.raised ??= result;
  if (parent !== null) {
    parent.sent = null;
    parent.answered = result;
  }
  return result;
}
