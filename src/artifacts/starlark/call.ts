// Calls: open a frame, run the body, close it; and the edge where errors leave a program.

import { bindArguments } from './bind-arguments.ts';
import { located } from './edge.ts';
import { StarlarkError } from './errors.ts';
import { Cell, Frame } from './frame.ts';
import type { Thread } from './thread.ts';
import { Builtin, type Kwargs, StarlarkFunction, typeName, type Value } from './values.ts';

/** Open calls inside one another. There is no recursion, so that only a chain of as many functions gets here. */
const MAX_DEPTH = 250;

/**
 * Calls a value from outside the program's own code: from the host, or from a built-in. An error comes out with its
 * place and traceback, and leaves nothing open: the thread can be used again.
 */
export function callValue(
  thread: Thread,
  callee: Value,
  args: readonly Value[],
  kwargs: Kwargs,
): Value {
  const { frame, depth, calling } = thread;
  try {
    return invoke(thread, callee, args, kwargs);
  } catch (error) {
    throw located(thread, error, frame);
  } finally {
    thread.frame = frame;
    thread.depth = depth;
    thread.calling = calling;
  }
}

/** Calls a value from compiled code. */
export function invoke(
  thread: Thread,
  callee: Value,
  args: readonly Value[],
  kwargs: Kwargs,
): Value {
  if (callee instanceof StarlarkFunction) return callFunction(thread, callee, args, kwargs);
  if (callee instanceof Builtin) {
    if (++thread.steps > thread.maxSteps) thread.outOfSteps();
    thread.calling = callee;
    const result = callee.call(thread, args, kwargs);
    thread.calling = null;
    return result;
  }
  throw new StarlarkError(`invalid call of non-function (${typeName(callee)})`);
}

function callFunction(
  thread: Thread,
  callee: StarlarkFunction,
  args: readonly Value[],
  kwargs: Kwargs,
): Value {
  const frame = enter(thread, callee);
  bindArguments(thread, frame, callee, args, kwargs);
  const { slots } = frame;
  for (const slot of callee.code.signature.cellSlots) {
    const value = slots[slot];
    slots[slot] = new Cell(value instanceof Cell ? value.value : value);
  }
  return finish(thread, frame);
}

/** Opens a call. The caller puts the arguments into the slots and then calls `finish`. */
export function enter(thread: Thread, callee: StarlarkFunction): Frame {
  if (++thread.steps > thread.maxSteps) thread.outOfSteps();
  const { code } = callee;
  const frame = code.frame.active ? anotherFrame(thread, callee) : code.frame;
  if (++thread.depth > MAX_DEPTH) throw new StarlarkError('too many calls inside one another');
  frame.active = true;
  frame.thread = thread;
  frame.globals = callee.globals;
  frame.cells = callee.cells;
  frame.position = code.signature.position;
  frame.via = thread.calling;
  thread.calling = null;
  frame.caller = thread.frame;
  thread.frame = frame;
  return frame;
}

/** The code is running already: recursion, unless another thread runs it. */
function anotherFrame(thread: Thread, { code }: StarlarkFunction): Frame {
  const frame = new Frame(code);
  if (code.frame.thread !== thread) return frame;
  frame.position = code.signature.position;
  frame.caller = thread.frame;
  thread.frame = frame;
  throw new StarlarkError(`function ${code.signature.name} called recursively`);
}

/** Runs an open call and closes it. An error leaves it open: the edge closes all that are. */
export function finish(thread: Thread, frame: Frame): Value {
  const result = frame.code.body(frame);
  const { slots } = frame;
  for (let slot = 0; slot < slots.length; slot++) slots[slot] = undefined;
  thread.frame = frame.caller;
  thread.depth--;
  frame.active = false;
  return result;
}
