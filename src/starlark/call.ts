// Calls: open a frame, run the body, close it; and the edge where errors leave a program.

import { bindArguments } from './bind-arguments.ts';
import { StarlarkError, type TracebackEntry } from './errors.ts';
import type { OpenCall, Thread } from './thread.ts';
import { Builtin, Cell, Frame, type Kwargs, StarlarkFunction, type Value } from './values.ts';
import { typeName } from './kinds.ts';
import { decodeText } from './bytes.ts';
import { columnOf, lineOf } from './position.ts';

/**
 * Open calls inside one another. There is no recursion, so that only a chain of as many functions
 * gets here.
 */
const MAX_DEPTH = 250;

/**
 * Calls a value from outside the program's own code: from the host, or from a built-in. An error
 * comes out with its place and traceback, and leaves nothing open: the thread can be used again.
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

/**
 * The error as the host gets it. Calls above `until` are closed; the thread's own fields are the
 * caller's to restore.
 */
function located(thread: Thread, thrown: unknown, until: OpenCall | null): unknown {
  const error = asStarlarkError(thrown);
  if (error instanceof StarlarkError && error.traceback.length === 0) locate(thread, error);
  for (let frame = thread.frame; frame !== null && frame !== until; frame = frame.caller) {
    frame.active = false;
    frame.slots.fill(undefined);
  }
  return error;
}

/** JavaScript's own limits, where they are reached before ours, are not a program's way out. */
function asStarlarkError(thrown: unknown): unknown {
  if (!(thrown instanceof RangeError)) return thrown;
  if (/call stack/i.test(thrown.message)) return new StarlarkError('nested too deeply');
  return /invalid (?:string|array) length|bigint/i.test(thrown.message)
    ? new StarlarkError('value is too large', { kind: 'memory' })
    : thrown;
}

function locate(thread: Thread, error: StarlarkError): void {
  error.traceback = tracebackOf(thread);
  error.message = decodeText(error.message);
  const { frame } = thread;
  if (frame === null) return;
  error.line = lineOf(frame.position);
  error.column = columnOf(frame.position);
}

function tracebackOf({ frame, calling }: Thread): readonly TracebackEntry[] {
  const entries: TracebackEntry[] = calling === null ? [] : [builtinEntry(calling.name)];
  for (let open = frame; open !== null; open = open.caller) {
    const { name, file } = open.code.signature;
    entries.push({ name, file, line: lineOf(open.position), column: columnOf(open.position) });
    if (open.via !== null) entries.push(builtinEntry(open.via.name));
  }
  return entries.reverse();
}

function builtinEntry(name: string): TracebackEntry {
  return { name, file: '<builtin>', line: 0, column: 0 };
}
