/** One layer at work on one call: what goes in, what comes out, and what is written down about it. */

import { pushEntry } from './audit.ts';
import { isOwnCall, SLOT, stateOf, type ToolCall, withCall } from './call.ts';
import { isoTime } from './clock.ts';
import { AlliumError, describeThrown, isAlliumError } from './errors.ts';
import type { Next, ToolLayer } from './layer.ts';
import { BRAND, fail, isResultOf, refuse, stamp, type ToolResult } from './result.ts';
import type { Frame } from './state.ts';
import { strongerExecuted } from './status.ts';

/** A link of the built chain. Never rejects. */
export type Link = (call: ToolCall, parent: Frame | null) => Promise<ToolResult>;

/** Layers of the framework itself write a line only when they answered the call. */
export const silentLayers = new WeakSet<object>();

/** Written without `async`, because a second promise per layer would double what a layer costs. */
export function layerLink(layer: ToolLayer, inner: Link): Link {
  const silent = silentLayers.has(layer.caller);
  return (call, parent) => {
    const frame = openFrame(layer, call, parent);
    const returned = (result: unknown) => leave(frame, result, silent);
    const threw = (thrown: unknown) => leave(frame, layerThrew(frame, thrown), silent);
    try {
      const answered = layer.caller(call, (passed) => descend(frame, inner, passed));
      return answered instanceof Promise ? answered.then(returned, threw) : Promise.resolve(answered).then(returned, threw);
    } catch (thrown) {
      return Promise.resolve(threw(thrown));
    }
  };
}

function openFrame(layer: ToolLayer, call: ToolCall, parent: Frame | null): Frame {
  const { state } = call[SLOT];
  const frame: Frame = { layer, call, parent, startedAt: state.clock.now(), sent: null, answered: null, closed: false, line: null };
  state.frame = frame;
  return frame;
}

/** The way on for a stack that a layer composed inside itself: `next` of that layer, which has its own guard. */
export function joinLink(next: Next): Link {
  return async (call, parent) => {
    const { state } = call[SLOT];
    const answered: unknown = await next(call);
    return answer(
      parent,
      isResultOf(answered, state) ? answered : fail(call, 'tool_middleware_exception', answered, foreignResult('next')),
    );
  };
}

/** The executor with its guard: nothing starts for a caller that has gone, and whatever it does becomes a result. */
export function bottomLink(executor: Next): Link {
  return async (call, parent) => {
    const { state } = call[SLOT];
    if (call.signal.aborted || state.signal?.aborted === true || (state.abandoned && isZombie(parent))) return answer(parent, cancelled(call));
    const startedAt = state.clock.monotonic();
    const before = state.executed;
    state.executed = strongerExecuted(before, 'unknown');
    let result: ToolResult;
    try {
      const answered: unknown = await executor(call);
      result = isResultOf(answered, state) ? answered : fail(call, 'tool_middleware_exception', answered, foreignResult('executor'));
      state.executed = strongerExecuted(before, result[BRAND].claim ?? 'yes');
    } catch (thrown) {
      result = fail(call, 'executor_error', thrown, undefined, { category: 'exception' });
    }
    return answer(parent, stamp(result, state.executed, state.clock.monotonic() - startedAt));
  };
}

/** What a caller gets that took its call back. */
export const cancelled = (call: ToolCall): ToolResult => refuse(call, 'cancelled', 'The call was cancelled before it finished.');

/** `next`, as one layer sees it. One call after another; never after the layer has answered. */
function descend(frame: Frame, inner: Link, passed: ToolCall): Promise<ToolResult> {
  if (frame.closed) return Promise.resolve(blame(frame, 'called next after it had returned'));
  if (frame.sent !== null) return Promise.resolve(blame(frame, 'called next again before the first one had settled'));
  let call = frame.call;
  try {
    if (passed !== call) call = accepted(call, passed);
  } catch (thrown) {
    return Promise.resolve(blame(frame, `passed on a call that cannot be used: ${describeThrown(thrown)}`));
  }
  frame.sent = call;
  return inner(call, frame);
}

/** A copy by spread is taken for what `withCall` would have made of it; anything else must come from `withCall`. */
function accepted(given: ToolCall, passed: ToolCall): ToolCall {
  if (stateOf(passed) !== given[SLOT].state) throw new AlliumError('ERR_INVALID_CALL', 'it belongs to another call; use withCall(call, …)');
  return isOwnCall(passed) ? passed : withCall(given, passed);
}

function blame(frame: Frame, what: string): ToolResult {
  frame.line = { ...frame.line, status: 'exception', error: what };
  return fail(frame.call, 'tool_middleware_exception', new Error(`layer "${frame.layer.name}" ${what}`), stopped(frame));
}

const foreignResult = (who: string): string =>
  `${who} answered with something that is not a result of this call; build results with ok(), refuse(), fail(), withResult()`;

function layerThrew(frame: Frame, thrown: unknown): ToolResult {
  // A stack composed inside this layer raised: the mark goes on outwards, it is no accident.
  if (isAlliumError(thrown) && isResultOf(thrown.result, frame.call[SLOT].state)) return thrown.result;
  const result = blame(frame, describeThrown(thrown));
  return fail(frame.call, result.status, thrown, stopped(frame));
}

const stopped = ({ layer, call }: Frame): string =>
  `The layer "${layer.name}" failed, so this call of ${call.toolName} was stopped. Do not repeat it unchanged.`;

function leave(frame: Frame, answered: unknown, silent: boolean): ToolResult {
  const { state } = frame.call[SLOT];
  const returned = isResultOf(answered, state) ? answered : blame(frame, foreignResult(`layer "${frame.layer.name}"`));
  if (state.abandoned && isZombie(frame.parent)) {
    frame.closed = true;
    return returned;
  }
  let result = frame.sent === null ? returned : leftEarly(frame, frame.sent, returned);
  frame.closed = true;
  if (result.ok && frame.answered?.status === 'cancelled' && frame.call.signal.aborted) result = uncancelled(frame, frame.answered);
  if (result.executed !== state.executed) result = stamp(result, state.executed);
  if (result[BRAND].raise !== null) state.raised ??= result;
  if (!silent || (result !== frame.answered && !result.ok)) writeLine(frame, result);
  return answer(frame.parent, result);
}

/** A layer may answer before `next` has settled only if it took the call back first. */
function leftEarly(frame: Frame, sent: ToolCall, returned: ToolResult): ToolResult {
  frame.call[SLOT].state.abandoned = true;
  frame.call[SLOT].state.frame = frame;
  return sent.signal.aborted ? returned : blame(frame, 'returned before next had settled: an await is missing');
}

function uncancelled(frame: Frame, answered: ToolResult): ToolResult {
  frame.line = { ...frame.line, status: 'exception', error: 'turned a cancelled call into a success' };
  return answered;
}

function writeLine({ layer, call, startedAt, line }: Frame, result: ToolResult): void {
  const { state } = call[SLOT];
  const entry = { name: layer.name, status: result.status, startedAt: isoTime(startedAt), endedAt: isoTime(state.clock.now()) };
  pushEntry(state, line === null ? entry : { ...line, ...entry, status: line.status ?? entry.status });
}

/** Hands a result to the layer outside. */
function answer(parent: Frame | null, result: ToolResult): ToolResult {
  const { state } = result[BRAND];
  if (state.abandoned && isZombie(parent)) return result;
  state.frame = parent;
  if (parent !== null) {
    parent.sent = null;
    parent.answered = result;
  }
  return result;
}

/** Whether a layer further out has answered already, so that nobody listens here. */
function isZombie(frame: Frame | null): boolean {
  for (let outer = frame; outer !== null; outer = outer.parent) if (outer.closed) return true;
  return false;
}
