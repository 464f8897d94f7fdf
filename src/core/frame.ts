/** One layer at work on one call: what goes in, what comes out, and what is written down about it. */

import { mergeAudit, pushEntry } from './audit.ts';
import { isAbandoned, isSignalAborted, ownCall, SLOT, stateOf, type ToolCall } from './call.ts';
import { isoTime } from './clock.ts';
import { AlliumError, describeThrown } from './errors.ts';
import type { Next, ToolLayer } from './layer.ts';
import { BRAND, isResultOf, stamp } from './build-result.ts';
import { fail, ok, refuse, type ToolResult } from './result.ts';
import { type CallState, depthOf, type Frame } from './state.ts';
import { breached, passGates } from './gates.ts';
import { statusRow, strongerExecuted } from './status.ts';
import { runUnder } from './nested-terms.ts';
import { type ApprovedCall, breachOf, type CallTerms, followApproval } from './terms.ts';

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

/** Leaves every layer outside that handed on the promise now being kept. */
function climb(from: Frame | null, result: ToolResult): ToolResult {
  let left = result;
  for (let frame = from; frame?.handsOn === true; frame = frame.parent) left = leave(frame, left);
  return left;
}

/** A promise with a `then` of its own may answer twice, or not with a promise; `instanceof` alone does not tell. */
const isPlainPromise = (value: unknown): value is Promise<unknown> =>
  value instanceof Promise && value.then === Promise.prototype.then && value.constructor === Promise;

/** Whatever was returned, as a promise that settles once. `Promise.resolve` would hand a tampered promise back as it is. */
const adopted = (value: unknown): Promise<unknown> => new Promise((resolve) => resolve(value));

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
    answered: null,
    closed: false,
    line: null,
  };
  slot.frame = frame;
  return frame;
}

/** The executor with its guard: nothing starts for a caller that has gone, and whatever it does becomes a result. */
export function bottomLink(executor: Next): Link {
  return async (given, parent) => {
    let call = given;
    const { state } = call[SLOT];
    // What has happened cannot be kept from happening.
    const { isOver } = state;
    if (!isOver && (isCancelled(call) || (state.abandoned && isAbandoned(parent)))) return answer(parent, unblamed(call));
    const breach = isOver || call[SLOT].terms === null ? null : breachOf(call, call[SLOT].terms);
    if (breach !== null) return answer(parent, breached(call, breach));
    if (!isOver && call[SLOT].terms !== null && call[SLOT].terms.gates.length > 0) {
      const passed = await passGates(call);
      if ('result' in passed) return climb(parent, answer(parent, passed.result));
      call = passed.call;
      // Somebody may have been asked, which takes its time.
      if (isCancelled(call) || (state.abandoned && isAbandoned(parent))) return climb(parent, answer(parent, unblamed(call)));
    }
    const { terms } = call[SLOT];
    if (terms !== null && terms.supplied !== null) return climb(parent, answer(parent, ok(call, terms.supplied.value)));
    if (terms !== null && terms.approved !== null && terms.approved.rewrites.length > 0) tellRewrites(parent, terms.approved);
    state.executedArgs = call.toolArgs;
    const before = state.executed;
    const startedAt = state.clock.monotonic();
    state.executed = strongerExecuted(before, 'unknown');
    state.running = true;
    let result: ToolResult;
    try {
      const answered: unknown = await (terms === null || !isHeld(terms) ? executor(call) : runUnder(terms, () => executor(call)));
      result = isResultOf(answered, state) ? answered : fail(call, 'tool_middleware_exception', answered, foreignResult('executor'));
    } catch (thrown) {
      result = executorThrew(call, thrown);
    }
    // A run that was abandoned must not take back what a later one has done.
    const abandoned = state.abandoned && isAbandoned(parent);
    state.executed = strongerExecuted(abandoned ? state.executed : before, result[BRAND].claim ?? 'yes');
    if (!abandoned) state.running = false;
    return climb(parent, answer(parent, measured(result, state, startedAt)));
  };
}

/** Whether calls that the tool makes itself are held to anything. */
const isHeld = ({ guards, gates, askGuards }: CallTerms): boolean => guards.length + gates.length + askGuards.length > 0;

/** Nobody turned away a call whose caller has gone, whatever happened to an earlier try. */
function unblamed(call: ToolCall): ToolResult {
  call[SLOT].state.blockedBy = null;
  return cancelled(call);
}

function tellRewrites(innermost: Frame | null, { rewrites }: ApprovedCall): void {
  if (innermost !== null) mergeAudit(innermost.call[SLOT].state, { rewrites }, depthOf(innermost) + 1);
}

const isCancelled = (call: ToolCall): boolean => isSignalAborted(call) || call[SLOT].state.signal?.aborted === true;

const executorThrew = (call: ToolCall, thrown: unknown): ToolResult =>
  isCancelled(call)
    ? fail(call, 'cancelled', thrown, CANCELLED, { executed: 'unknown' })
    : fail(call, 'executor_error', thrown, undefined, { category: 'exception', executed: 'unknown' });

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

const CANCELLED = 'The call was cancelled before it finished.';

/** What a caller gets that took its call back. */
export const cancelled = (call: ToolCall): ToolResult => refuse(call, 'cancelled', CANCELLED);

/** `next`, as one layer sees it. One call after another; never after the layer has answered. */
function descend(frame: Frame, inner: Link, passed: ToolCall): Promise<ToolResult> {
  if (frame.closed) return Promise.resolve(blame(frame, 'called next after it had returned'));
  let call = frame.call;
  try {
    if (passed !== call) call = accepted(frame, passed);
  } catch (thrown) {
    return Promise.resolve(blame(frame, `passed on a call that cannot be used: ${describeThrown(thrown)}`));
  }
  if (call[SLOT].state.abandoned && isAbandoned(frame)) return Promise.resolve(cancelled(call));
  if (frame.sent !== null) return Promise.resolve(blame(frame, 'called next again before the first one had settled'));
  frame.sent = call;
  frame.promise = inner(call, frame);
  return frame.promise;
}

/** A copy by spread is taken for what `withCall` would have made of it; anything else must come from `withCall`. */
function accepted(frame: Frame, passed: ToolCall): ToolCall {
  if (stateOf(passed) !== frame.call[SLOT].state)
    throw new AlliumError('ERR_INVALID_CALL', 'it belongs to another call; use withCall(call, …)');
  const own = ownCall(passed);
  return own[SLOT].terms === null && frame.call[SLOT].terms === null ? own : followApproval(frame, own);
}

function blame(frame: Frame, what: string): ToolResult {
  frame.line = { ...frame.line, status: 'exception', error: what };
  return fail(frame.call, 'tool_middleware_exception', new Error(`layer "${frame.layer.name}" ${what}`), stopped(frame));
}

const foreignResult = (who: string): string =>
  `${who} answered with something that is not a result of this call; build results with ok(), refuse(), fail(), withResult()`;

function layerThrew(frame: Frame, thrown: unknown): ToolResult {
  blame(frame, describeThrown(thrown));
  return fail(frame.call, 'tool_middleware_exception', thrown, stopped(frame));
}

const stopped = ({ layer, call }: Frame): string =>
  `The layer "${layer.name}" failed, so this call of ${call.toolName} was stopped. Do not repeat it unchanged.`;

function leave(frame: Frame, answered: unknown): ToolResult {
  const { state } = frame.call[SLOT];
  const returned = isResultOf(answered, state) ? answered : blame(frame, foreignResult(`layer "${frame.layer.name}"`));
  if (state.abandoned && isAbandoned(frame.parent)) {
    frame.closed = true;
    return returned;
  }
  let result = frame.sent === null ? returned : leftEarly(frame, frame.sent, returned);
  frame.closed = true;
  frame.call[SLOT].frame = frame.parent;
  if (result.ok && frame.answered?.ok === false && isCancelled(frame.call)) result = uncancelled(frame, frame.answered);
  if (result.executed !== state.executed) result = stamp(result, state.executed);
  // Whoever answers well without running has turned nobody away; a refusal on top of that is its own.
  if (!result.ok && frame.answered?.ok !== false) state.blockedBy = frame.layer.name;
  if (!frame.silent || frame.line !== null || (result !== frame.answered && !result.ok)) writeLine(frame, result);
  // Whoever keeps the result keeps the frames it came through, but not what else went through them.
  frame.promise = null;
  frame.answered = null;
  return answer(frame.parent, result);
}

/** A layer may answer before `next` has settled only if it took the call back first. */
function leftEarly(frame: Frame, sent: ToolCall, returned: ToolResult): ToolResult {
  frame.call[SLOT].state.abandoned = true;
  // A layer that failed is blamed for that, not for leaving.
  if (sent.signal.aborted || returned.status === 'tool_middleware_exception') return returned;
  return blame(frame, 'returned before next had settled: an await is missing');
}

function uncancelled(frame: Frame, answered: ToolResult): ToolResult {
  frame.line = { ...frame.line, status: 'exception', error: 'turned a cancelled call into a success' };
  return answered.status === 'cancelled' ? answered : cancelled(frame.call);
}

function writeLine({ layer, call, startedAt, line }: Frame, result: ToolResult): void {
  const { state } = call[SLOT];
  const entry = { name: layer.name, status: result.status, startedAt: isoTime(startedAt), endedAt: isoTime(state.clock.now()) };
  pushEntry(state, entry, line, statusRow(result.status) !== undefined);
}

/** Hands a result to the layer outside. */
function answer(parent: Frame | null, result: ToolResult): ToolResult {
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
