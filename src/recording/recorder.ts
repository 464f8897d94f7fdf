/** Writes calls to a file: in which order they came, which a tool made itself, and their lines. */

import { AsyncLocalStorage } from 'node:async_hooks';
import {
  clockOf,
  createIdOf,
  isRendered,
  type JsonObject,
  scrubFor,
  type ToolCall,
  type ToolResult,
  toWire,
} from '../layer.ts';
import { type LineFile, lineFile } from './line-file.ts';
import { MAX_LINE_BYTES } from './recording-schema.ts';

/** What is known when a call comes in. */
export interface Begun {
  /** Tells the lines of one process from those of another one. */
  readonly writer: string;
  /** Lines stand in the order in which calls ended; this is the order in which they came. */
  readonly seq: number;
  /** A tool made this call while it was at work for another one. */
  readonly nested: boolean;
  readonly startedAt: number;
  readonly startTick: number;
}

export interface Recorder extends Pick<LineFile, 'ready' | 'lost' | 'close'> {
  /** A call comes in. */
  begin(call: ToolCall): Begun;
  /** Calls that are made meanwhile are nested. */
  during<T>(run: () => T): T;
  /** No call waits for the line: one that cannot be made is counted. */
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
    ready: () => lines.ready(),
    get lost() {
      return lines.lost;
    },
    close: () => lines.close(),
  };
}

/**
 * One line of JSON. An answer that is too large for a line is left out, and the line says so with
 * `null`.
 */
function lineOf(call: ToolCall, begun: Begun, answer: ToolResult): string {
  const whole = textOf(call, begun, answerOf(call, answer));
  if (Buffer.byteLength(whole) <= MAX_LINE_BYTES) return whole;
  const without = textOf(call, begun, null);
  if (Buffer.byteLength(without) > MAX_LINE_BYTES)
    throw new RangeError('the call is too large for a line');
  return without;
}

function textOf(
  call: ToolCall,
  { writer, seq, nested, startedAt, startTick }: Begun,
  answer: object | null,
): string {
  const clock = clockOf(call);
  const line = {
    schemaVersion: 1,
    record: 'call',
    writer,
    seq,
    nested: nested ? true : undefined,
    toolCallId: scrubFor(call, call.callId),
    toolName: scrubFor(call, call.toolName),
    arguments: scrubFor(call, call.toolArgs),
    turn: cleanMembers(call, call.turn),
    startedAt: new Date(startedAt).toISOString(),
    durationMs: Math.max(0, Math.round((clock.monotonic() - startTick) * 1000) / 1000),
    answer,
  };
  return `${JSON.stringify(toWire(line))}\n`;
}

/**
 * Text that only writes out the value is made of it again. Who approved the call is no part of what
 * the tool said.
 */
function answerOf(call: ToolCall, answer: ToolResult): object {
  const {
    ok,
    status,
    errorCategory,
    errorClass,
    executor,
    executed,
    executionDurationMs,
    interruption,
    metadata,
  } = answer;
  const texts = isRendered(answer)
    ? {}
    : {
        content: answer.content.map((block) => cleanMembers(call, block, 'type')),
        renderedResult: scrubFor(call, answer.renderedResult),
      };
  return {
    ...{
      ok,
      status,
      result: scrubFor(call, answer.result),
      ...texts,
      error: scrubFor(call, answer.error),
    },
    ...{
      errorCategory: scrubFor(call, errorCategory),
      errorClass,
      executor,
      executed,
      executionDurationMs,
    },
    outputFiles: answer.outputFiles.map((file) => cleanMembers(call, file)),
    interruption: interruption === undefined ? undefined : cleanMembers(call, interruption, 'kind'),
    metadata: metadata === undefined ? undefined : wireable(scrubFor(call, metadata)),
  };
}

/**
 * The names are ours and stay; a cleaner that knows one of them as a secret would make the line
 * unreadable.
 */
const cleanMembers = (call: ToolCall, members: object, kept?: string): object =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]: [string, unknown]) => [
      name,
      name === kept ? value : scrubFor(call, value),
    ]),
  );

/** Two names that become one on the wire are no reason to lose the line. */
function wireable(metadata: JsonObject): JsonObject | undefined {
  try {
    toWire({ metadata });
    return metadata;
  } catch {
    return undefined;
  }
}
