// Where an error leaves a program: it gets its place and traceback, and open calls are closed.

import { decodeText } from './bytes.ts';
import { StarlarkError, type TracebackEntry } from './errors.ts';
import { columnOf, type Frame, lineOf } from './frame.ts';
import type { Thread } from './thread.ts';

/** The error as the host gets it. Calls above `until` are closed; the thread's own fields are the caller's to restore. */
export function located(thread: Thread, thrown: unknown, until: Frame | null): unknown {
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
