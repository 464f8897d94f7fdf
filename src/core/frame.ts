/** One layer at work on one call: what goes in, what comes out, and what is written down about it. */

import { pushEntry } from './audit.ts';
import { isAbandoned, ownCall, SLOT, stateOf, type ToolCall } from './call.ts';
import { isoTime } from './clock.ts';
import { AlliumError, describeThrown } from './errors.ts';
import type { Next, ToolLayer } from './layer.ts';
import { BRAND, claiming, fail, isResultOf, refuse, stamp, type ToolResult } from './result.ts';
import type { Frame } from './state.ts';
import { type Executed, strongerExecuted } from './status.ts';

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
      return (isPlainPromise(answered) ? answered : adopted(answered)).then(returned, threw);
    } catch (thrown) {
      return Promise.resolve(threw(thrown));
    }
  };
}

/** A promise with a `then` of its own may answer twice, or not with a promise; `instanceof` alone does not tell. */
const isPlainPromise = (value: unknown): value is Promise<unknown> =>
  value instanceof Promise && value.then === Promise.prototype.then && value.constructor === Promise;

/** Whatever was returned, as a promise that settles once. `Promise.resolve` would hand a tampered promise back as it is. */
const adopted = (value: unknown): Promise<unknown> => new Promise((resolve) => resolve(value));

function openFrame(layer: ToolLayer, call: ToolCall, parent: Frame | null): Frame {
  const slot = call[SLOT];
  const frame: Frame = { layer, call, parent, startedAt: slot.state.clock.now(), sent: null, answered: null, closed: false, line: null };
  slot.frame = frame;
  return frame;
}

/** The executor with its guard: nothing starts for a caller that has gone, and whatever it does becomes a result. */
export function bottomLink(executor: Next): Link {
  return (call, parent) => {
    if (hasGone(call, parent)) return Promise.resolve(answer(parent, cancelled(call)));
    const { state } = call[SLOT];
    const before = state.executed;
    state.executed = strongerExecuted(before, 'unknown');
    return guard(call, parent, before, executor);
  };
}

const isCancelled = (call: ToolCall): boolean => call.signal.aborted || call[SLOT].state.signal?.aborted === true;

const hasGone = (call: ToolCall, parent: Frame | null): boolean => isCancelled(call) || (call[SLOT].state.abandoned && isAbandoned(parent));

async function guard(call: ToolCall, parent: Frame | null, before: Executed, run: (call: ToolCall) => unknown): Promise<ToolResult> {
  const { state } = call[SLOT];
  const startedAt = state.clock.monotonic();
  let result: ToolResult;
  try {
    const answered = await run(call);
    result = isResultOf(answered, state) ? answered : fail(call, 'tool_middleware_exception', answered, foreignResult('executor'));
    // A run that was abandoned must not take back what a later one has done.
    const known = state.abandoned && isAbandoned(parent) ? state.executed : before;
    state.executed = strongerExecuted(known, result[BRAND].claim ?? 'yes');
  } catch (thrown) {
    result = isCancelled(call)
      ? fail(call, 'cancelled', thrown, CANCELLED, { executed: 'unknown' })
      : fail(call, 'executor_error', thrown, undefined, { category: 'exception', executed: 'unknown' });
  }
  // A result that some layer had in hands already was measured where it was made.
  const ms = result[BRAND].at === null ? state.clock.monotonic() - startedAt : result.executionDurationMs;
  return answer(parent, stamp(result, state.executed, ms));
}

/** A stack that a layer or an executor composed inside itself, at work on the same call. */
interface Joint {
  /** The way on was `next` of the layer that composed it, which has a guard of its own. */
  ledBack: boolean;
  /** What is known to have run below. */
  executed: Executed;
}

const joints = new WeakMap<Frame, Joint>();

/**
 * Runs a stack composed inside a layer or an executor as part of the same call. It hangs on a frame of its own, because
 * whoever composed it may leave without waiting for it.
 */
export async function joinChain(call: ToolCall, chainOn: (bottom: Link) => Link, next: Next): Promise<ToolResult> {
  const slot = call[SLOT];
  const base = slot.frame;
  if (slot.state.abandoned && isAbandoned(base)) return cancelled(call);
  slot.state.abandoned = true;
  const inLayer = base !== null && base.sent === null;
  const joint: Joint = { ledBack: false, executed: 'no' };
  const frame: Frame | null = base === null ? null : { ...base, call, parent: base, sent: null, answered: null, line: null };
  if (frame !== null) joints.set(frame, joint);
  slot.frame = frame;
  const answered = await chainOn(joinLink(next, joint))(call, frame);
  if (frame !== null) frame.closed = true;
  slot.frame = base;
  const result = inLayer ? answered : claiming(answered, joint.executed);
  result[BRAND].at = inLayer ? base : null;
  if (inLayer) base.answered = result;
  return result;
}

function joinLink(next: Next, joint: Joint): Link {
  return async (call, parent) => {
    if (hasGone(call, parent)) return answer(parent, cancelled(call));
    const { state } = call[SLOT];
    const [before, known] = [state.executed, joint.executed];
    joint.ledBack = false;
    const below = new Promise<unknown>((resolve) => resolve(next(call)));
    if (!joint.ledBack) {
      state.executed = strongerExecuted(before, 'unknown');
      joint.executed = strongerExecuted(known, 'unknown');
    }
    const result = await guard(call, parent, before, async () => {
      const answered = await below;
      return joint.ledBack && isResultOf(answered, state) ? claiming(answered, answered.executed) : answered;
    });
    joint.executed = strongerExecuted(isAbandoned(parent) ? joint.executed : known, result[BRAND].claim ?? 'yes');
    return result;
  };
}

/** The joined stack through which a call comes back to the layer that composed it, if it does. */
function jointBetween(inner: Frame | null, base: Frame): Joint | undefined {
  for (let frame = inner; frame !== null; frame = frame.parent) if (frame.parent === base) return joints.get(frame);
  return undefined;
}

const CANCELLED = 'The call was cancelled before it finished.';

/** What a caller gets that took its call back. */
export const cancelled = (call: ToolCall): ToolResult => refuse(call, 'cancelled', CANCELLED);

/** `next`, as one layer sees it. One call after another; never after the layer has answered. */
function descend(frame: Frame, inner: Link, passed: ToolCall): Promise<ToolResult> {
  if (frame.closed) return Promise.resolve(blame(frame, 'called next after it had returned'));
  let call = frame.call;
  try {
    if (passed !== call) call = accepted(call, passed);
  } catch (thrown) {
    return Promise.resolve(blame(frame, `passed on a call that cannot be used: ${describeThrown(thrown)}`));
  }
  const { state, frame: holder } = call[SLOT];
  if (state.abandoned && isAbandoned(frame)) return Promise.resolve(cancelled(call));
  const joint = holder === frame ? undefined : jointBetween(holder, frame);
  if (joint !== undefined) {
    joint.ledBack = true;
    return isAbandoned(holder) ? Promise.resolve(cancelled(call)) : inner(call, holder);
  }
  if (frame.sent !== null) return Promise.resolve(blame(frame, 'called next again before the first one had settled'));
  frame.sent = call;
  return inner(call, frame);
}

/** A copy by spread is taken for what `withCall` would have made of it; anything else must come from `withCall`. */
function accepted(given: ToolCall, passed: ToolCall): ToolCall {
  if (stateOf(passed) !== given[SLOT].state) throw new AlliumError('ERR_INVALID_CALL', 'it belongs to another call; use withCall(call, …)');
  return ownCall(passed);
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

function leave(frame: Frame, answered: unknown, silent: boolean): ToolResult {
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
  if (!silent || (result !== frame.answered && !result.ok)) writeLine(frame, result);
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
  pushEntry(state, line === null ? entry : { ...line, ...entry, status: line.status ?? entry.status });
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
