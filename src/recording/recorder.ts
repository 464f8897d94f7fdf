/** Writes calls to a file: in which order they came, which a tool made itself, and their lines. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { clockOf, createIdOf, type ToolCall, type ToolResult } from '../layer.ts';
import { type LineFile, lineFile } from './line-file.ts';
import { type Begun, lineOf } from './recorded-line.ts';

export interface Recorder extends Pick<LineFile, 'ready' | 'lost' | 'close'> {
  /** A call comes in. */
  begin(call: ToolCall): Begun;
  /** Calls that are made meanwhile are nested. */
  during<T>(run: () => T): T;
  /** Nobody waits for the line: one that cannot be made is counted. */
  write(call: ToolCall, begun: Begun, answer: ToolResult): void;
}

/**
 * The files that calls are being written to where this code runs: a tool that is answered from the
 * file makes no calls of its own, and those must be told from the others. One for all recorders,
 * since every storage makes all that is asynchronous slower.
 */
const recording = new AsyncLocalStorage<readonly object[]>();

/** With `keep`, lines that fail are held and tried again; without, they are counted and let go. */
export function openRecorder(path: string, keep: boolean): Recorder {
  const lines = lineFile(path, keep);
  let writer: string | null = null;
  let count = 0;
  return {
    begin(call) {
      const clock = clockOf(call);
      writer ??= createIdOf(call)();
      const nested = recording.getStore()?.includes(lines) === true;
      const seq = count;
      count += 1;
      return { writer, seq, nested, startedAt: clock.now(), startTick: clock.monotonic() };
    },
    during: (run) => recording.run([...(recording.getStore() ?? []), lines], run),
    write(call, begun, answer) {
      try {
        lines.append(lineOf(call, begun, answer));
      } catch {
        lines.lose();
      }
    },
    ready: lines.ready,
    get lost() {
      return lines.lost;
    },
    close: lines.close,
  };
}
