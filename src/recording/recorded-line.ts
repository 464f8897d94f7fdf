/** What a recording says about one call. */

import {
  clockOf,
  isRendered,
  type JsonObject,
  scrubFor,
  type ToolCall,
  type ToolResult,
  toWire,
} from '../layer.ts';
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

/**
 * One line of JSON. An answer that is too large for a line is left out, and the line says so with
 * `null`.
 */
export function lineOf(call: ToolCall, begun: Begun, answer: ToolResult): string {
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
